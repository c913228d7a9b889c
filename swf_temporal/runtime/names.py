"""The names that are possible for workflow types and activity types, and so for definitions and functions."""

from typing import Final

from swf_temporal.runtime.ids import MAX_ID_BYTES

WORKFLOW_TYPES: Final = frozenset({"swf variables", "swf delayed event", "swf events", "swf places"})
"""The types of workflows that are ours."""
ACTIVITY_TYPES: Final = frozenset(
    {
        "ending of workflow", "find instance", "instance has ended", "look definitions up", "look limits up",
        "look for ended holders", "look search attributes up", "publish event", "read variable", "resolve definitions",
        "tell places", "write variable",
    }
)  # fmt: skip
"""The types of activities that are ours."""
STORED_CHARACTERS: Final = 255
"""How many characters of a workflow type servers on MySQL and PostgreSQL store."""

_RESERVED: Final = "__temporal_"
_UNSEARCHABLE: Final = frozenset('"\\')
"""Characters that no list filter of a server can have, however they are written."""
_SHOWN: Final = 40


def taken(name: str, types: frozenset[str]) -> str | None:
    """Return why *name* is not free among *types*, or None if it is."""
    if name in types:
        return "is one of swf-temporal's own"
    if types is WORKFLOW_TYPES and not _UNSEARCHABLE.isdisjoint(name):
        return "has a quotation mark or a backslash, and servers find no instances by such an id"
    return f"begins with {_RESERVED}, which Temporal reserves" if name.startswith(_RESERVED) else None


def too_long(name: str) -> str | None:
    """Return what is told of a name that no server takes; None for any other."""
    size = len(name.encode(errors="replace"))
    if size <= MAX_ID_BYTES:
        return None
    return f"the name {name[:_SHOWN] + '…'!r} has {size:,} bytes, and a server takes no more than {MAX_ID_BYTES:,}"
