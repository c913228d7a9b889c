"""Clients of message brokers, one module for each protocol, behind one port."""
