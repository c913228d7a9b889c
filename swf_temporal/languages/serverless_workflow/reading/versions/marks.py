"""Version markers: keys and words that exist only in some versions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from swf_temporal.base.errors import Position
from swf_temporal.text.origin import Object

ACTIONS: Final = ("states.actions", "states.onEvents.actions", "states.branches.actions", "states.action")
"""The paths of actions."""
LEAVING: Final = ("states", "states.onErrors", "states.dataConditions", "states.eventConditions", "states.default")
"""The paths of objects with transitions and ends."""


@dataclass(frozen=True, slots=True)
class VersionEvidence:
    """A key that shows the version of a document, with its position."""

    key: str
    position: Position


def anything(_value: Any) -> bool:
    """Return True: the key alone is the marker."""
    return True


@dataclass(frozen=True, slots=True)
class VersionMarker:
    """A key, or a word as its value, of some versions only: see `Version.last_keys` and `Version.first_keys`."""

    path: str
    """The path to the object with the key: keys with dots between; lists are traversed."""
    key: str
    holds: Callable[[Any], bool] = anything
    """Returns True if only these versions have such a value."""
    is_decisive: bool = False
    """Whether a document with it is of these versions whatever it states, since no other accepts it."""


def each(paths: Iterable[str], *keys: str, holds: Callable[[Any], bool] = anything) -> Iterator[VersionMarker]:
    """Yield a marker for each of *keys* in the objects at each of *paths*."""
    for path in paths:
        for key in keys:
            yield VersionMarker(path, key, holds)


def word(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


def having(*keys: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and any(key in value for key in keys)


def objects(root: Object, path: Sequence[str]) -> Iterator[Object]:
    """Yield the objects at *path*, traversing lists."""
    if not path:
        yield root
        return
    for one in objects_under(root, path[0]):
        yield from objects(one, path[1:])


def objects_under(node: Object, key: str) -> list[Object]:
    value = node.get(key)
    if isinstance(value, Object):
        return [value]
    return [one for one in value if isinstance(one, Object)] if isinstance(value, list) else []
