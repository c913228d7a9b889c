"""The gateway: events and instances over HTTP."""
