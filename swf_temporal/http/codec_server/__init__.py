"""The codec server: decrypts payloads for the Temporal UI and the `temporal` program."""
