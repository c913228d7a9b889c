"""Routing of events, clients of brokers, consumers and sinks."""
