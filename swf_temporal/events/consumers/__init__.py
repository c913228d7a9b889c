"""Consumers: events that come from brokers, one file for each protocol."""
