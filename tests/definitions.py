"""Texts of definitions, without the two lines that all of them have."""


def definition(text: str, version: str = "1.0") -> str:
    """Return the definition in *text*, which begins with its id, as one of Serverless Workflow 0.8."""
    first, rest = text.split("\n", 1)
    return f'{first}\nspecVersion: "0.8"\nversion: "{version}"\n{rest}'
