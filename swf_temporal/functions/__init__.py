"""Performs the functions of workflows: calls services and Python, independently of the engine."""
