"""Describing a workflow to people and programs."""
