"""Payloads on their way to a Temporal server and back: external storage of large ones, compression, encryption."""
