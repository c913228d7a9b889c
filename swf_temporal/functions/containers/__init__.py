"""Functions in containers, by the contract of Direktiv: one request for each call, errors in headers."""
