"""Consumers: receive events from brokers, with one module for each protocol."""
