"""The codec server: decodes payloads for the Temporal UI and the `temporal` command."""
