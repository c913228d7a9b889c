"""The model of a definition: frozen pydantic models without behaviour, with positions."""
