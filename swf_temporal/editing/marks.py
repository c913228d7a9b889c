"""Names in a text: where states, functions, events and the like are defined, and where they are referred to.

Names are found by the keys under which they stand, which all languages and versions share or have as synonyms. So they
are found, too, in a definition that cannot run yet.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from swf_temporal.errors import Position
from swf_temporal.text.located import Array, Object


class Kind(StrEnum):
    """What has a name."""

    STATE = "state"
    FUNCTION = "function"
    EVENT = "event"
    ERROR = "error"
    RETRY = "retry"
    AUTH = "auth"


DEFINING: Final = {
    "states": Kind.STATE, "tasks": Kind.STATE,
    "functions": Kind.FUNCTION,
    "events": Kind.EVENT, "triggerDefs": Kind.EVENT,
    "errors": Kind.ERROR, "retries": Kind.RETRY, "auth": Kind.AUTH,
}  # fmt: skip
"""Keys of lists whose elements have names."""

REFERRING: Final = {
    **dict.fromkeys(
        ("transition", "nextState", "nextTask", "next-state", "stateName", "startsAt", "compensatedBy", "runBefore",
         "defaultTransition"), Kind.STATE,
    ),
    **dict.fromkeys(("functionRef", "refName", "function"), Kind.FUNCTION),
    **dict.fromkeys(
        ("eventRef", "eventRefs", "triggerEventRef", "resultEventRef", "produceEventRef", "consumeEventRef"),
        Kind.EVENT,
    ),
    **dict.fromkeys(("errorRef", "errorRefs", "retryableErrors", "nonRetryableErrors"), Kind.ERROR),
    "retryRef": Kind.RETRY,
    "authRef": Kind.AUTH,
}  # fmt: skip
"""Keys whose value is a name, or a list of names."""

_FREE: Final = frozenset({"data", "metadata", "arguments", "parameters", "input", "constants", "extensions", "log"})
"""Keys of what an author may write as he likes."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A name in a text."""

    kind: Kind
    name: str
    position: Position
    """Where it is written, with its quotes."""
    defines: bool = False
    """Whether what it names is defined there."""


def marks_in(root: Any) -> list[Mark]:
    """Return the names in a document that `text.parsing` has read, in the order of the text."""
    found = list(_in(root))
    if isinstance(root, Object):
        found += _start(root)
    return sorted(set(found), key=lambda mark: (mark.position.line, mark.position.column))


def _in(node: Any) -> Iterator[Mark]:
    if isinstance(node, Object):
        for key, value in node.items():
            if key in DEFINING and isinstance(value, Array):
                yield from _defined(DEFINING[key], value)
            elif key in REFERRING:
                yield from _referred(REFERRING[key], node, key)
            if key not in _FREE:
                yield from _in(value)
    elif isinstance(node, Array):
        for one in node:
            yield from _in(one)


def _defined(kind: Kind, elements: Array) -> Iterator[Mark]:
    for one in elements:
        if isinstance(one, Object):
            key = "name" if "name" in one else "id"
            if isinstance(one.get(key), str):
                yield Mark(kind, one[key], one.where.value(key), defines=True)


def _referred(kind: Kind, node: Object, key: str) -> Iterator[Mark]:
    value = node[key]
    if isinstance(value, str):
        yield Mark(kind, value, node.where.value(key))
    elif isinstance(value, Array):
        yield from (
            Mark(kind, name, place)
            for name, place in zip(value, value.positions, strict=False)
            if isinstance(name, str)
        )


def _start(root: Object) -> Iterator[Mark]:
    """Yield what the start of the workflow refers to: the value itself or, in Direktiv, one in it."""
    start = root.get("start")
    if isinstance(start, str):
        yield Mark(Kind.STATE, start, root.where.value("start"))
    elif isinstance(start, Object) and isinstance(start.get("state"), str):
        yield Mark(Kind.STATE, start["state"], start.where.value("state"))
