"""The addresses of variable stores, as an operator writes them. No library of a database is imported."""

from typing import Final

TEMPORAL: Final = "temporal"
"""The address that stands for workflows on Temporal, which is the default."""

_FORMS: Final = "it must be 'temporal', 'sqlite:///FILE' or 'postgresql://USER@HOST/DATABASE'"
_SQLITE: Final = "sqlite:///"
_POSTGRESQL: Final = ("postgresql://", "postgres://")


def as_store(value: object) -> str:
    """Return *value* if it says where variables are held. Raises ValueError, whose text has no password."""
    text = value.strip() if isinstance(value, str) else ""
    is_file = text.startswith(_SQLITE) and len(text) > len(_SQLITE)
    if text != TEMPORAL and not is_file and not text.startswith(_POSTGRESQL):
        raise ValueError(_FORMS)
    return text
