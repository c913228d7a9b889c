"""The model of a definition, without behaviour."""
