"""JSON Pointers of the parts of a definition in its text."""

from collections.abc import Mapping
from types import MappingProxyType

from swf_temporal.base.data import JSON
from swf_temporal.text.parsing import read_data


def pointers_in(text: str, key: str, name: str) -> Mapping[str, str]:
    """Return the pointers of the objects in the list under *key*, by the value of their property *name*."""
    try:
        whole: JSON = read_data(text)
    except ValueError:
        return {}
    parts = whole.get(key) if isinstance(whole, dict) else None
    listed = enumerate(parts) if isinstance(parts, list) else ()
    return MappingProxyType(
        {str(part.get(name)): f"/{key}/{index}" for index, part in listed if isinstance(part, dict)}
    )
