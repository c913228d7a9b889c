"""The model of a definition: frozen nodes without behaviour, each with its position in the text."""
