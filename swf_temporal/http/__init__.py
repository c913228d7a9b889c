"""HTTP servers: the gateway with its console, the codec server, the development server, functions in containers."""
