"""The console: pages of the gateway on which people see definitions and instances, start these and answer them."""
