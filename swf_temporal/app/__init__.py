"""Hosts, functions and events put together, as a library: workers, the development server, runs, scenarios."""
