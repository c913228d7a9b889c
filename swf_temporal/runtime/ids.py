"""Ids of what an instance starts: readable if they are short, and never longer than the server accepts.

An id contains the path to what it belongs to, so it grows with every level of nesting and with every long name. One
that would be too long is cut, and ends with a digest of the whole, which is the same on every host and replay.
"""

import re
from hashlib import sha256
from typing import Final

MAX_ID_BYTES: Final = 1000
"""The length limit of an id, and of the type of a workflow or an activity, in bytes: the server's."""

MAX_INSTANCE_ID_BYTES: Final = 255
"""The length limit of a generated instance id, in bytes: servers on MySQL and PostgreSQL store no more."""

DIGITS: Final = 24
"""The number of hexadecimal digits of the digest in an id that follows from an event or a key: 96 bits."""

_FRONT: Final = 120
"""The number of bytes kept of an id that is too long: ids derived from the result have room to grow."""
_DIGEST: Final = 32
"""The number of hexadecimal digits that stand for the rest."""


_RESERVED: Final = {
    "begins with `swf-`, as those of mailboxes do": re.compile(r"swf-"),
    "begins with `variables:`, as those of variables do": re.compile(r"variables:"),
    "has a slash, as those of sub-workflows do": re.compile(r".*/", re.DOTALL),
    "ends with a digest, as those that follow from an event or a key do": re.compile(
        rf".*(:[0-9a-f]{{{DIGITS}}}|~[0-9a-f]{{{_DIGEST}}})\Z", re.DOTALL
    ),
}
"""Reserved forms of ids, which callers cannot choose, by the reason that messages give."""


FREE_ID_PATTERN: Final = rf"(?!swf-|variables:)(?!.*(?::[0-9a-f]{{{DIGITS}}}|~[0-9a-f]{{{_DIGEST}}})$)[^/]+"
"""The pattern of ids that callers can choose, for API descriptions."""


def why_reserved(chosen: str) -> str | None:
    """Return why a caller cannot choose this id for an instance, or None if it is free.

    An instance with a reserved id would get the events of another, or keep a sub-workflow from being started.
    """
    return next((why for why, form in _RESERVED.items() if form.match(chosen)), None)


def shortened_id(own: str, most: int = MAX_ID_BYTES) -> str:
    """Return *own* or, if it has more than *most* bytes, its beginning, `~` and a digest of the whole."""
    written = own.encode()
    if len(written) <= most:
        return own
    return f"{written[:_FRONT].decode(errors='ignore')}~{sha256(written).hexdigest()[:_DIGEST]}"


def id_of_child(parent: str, run: str, child: str) -> str:
    """Return the id of what the instance *parent* starts as its *child* in the run with the id *run*.

    It contains the last, random part of the run id: children of earlier runs of the instance may still be running.
    """
    return shortened_id(f"{parent}/{run.rpartition('-')[2]}/{child}", MAX_INSTANCE_ID_BYTES)


WORKFLOW_TYPES: Final = frozenset({"swf variables", "swf delayed event", "swf events", "swf places"})
"""The workflow types of this package."""
ACTIVITY_TYPES: Final = frozenset(
    {
        "ending of workflow", "find instance", "instance has ended", "look definitions up", "look limits up",
        "look for ended holders", "look search attributes up", "publish event", "read variable", "resolve definitions",
        "tell places", "write variable",
    }
)  # fmt: skip
"""The activity types of this package."""
STORED_CHARACTERS: Final = 255
"""The number of characters of a workflow type that servers on MySQL and PostgreSQL store."""

_RESERVED_NAMES: Final = "__temporal_"
_UNSEARCHABLE: Final = frozenset('"\\')
"""Characters that a server's list filter cannot contain, even escaped."""
_SHOWN: Final = 40


def taken(name: str, types: frozenset[str]) -> str | None:
    """Return why *name* is not free among *types*, or None if it is."""
    if name in types:
        return "is one of swf-temporal's own"
    if types is WORKFLOW_TYPES and not _UNSEARCHABLE.isdisjoint(name):
        return "has a quotation mark or a backslash, and servers find no instances by such an id"
    return f"begins with {_RESERVED_NAMES}, which Temporal reserves" if name.startswith(_RESERVED_NAMES) else None


def too_long(name: str) -> str | None:
    """Return the message about a name that is too long for a server, or None."""
    size = len(name.encode(errors="replace"))
    if size <= MAX_ID_BYTES:
        return None
    return f"the name {name[:_SHOWN] + '…'!r} has {size:,} bytes, and a server takes no more than {MAX_ID_BYTES:,}"
