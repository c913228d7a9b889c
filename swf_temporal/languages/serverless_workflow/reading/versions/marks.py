"""Keys and words by which the shape of a document shows which versions it can be written in."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from swf_temporal.base.errors import Position
from swf_temporal.text.located import Object

ACTIONS: Final = ("states.actions", "states.onEvents.actions", "states.branches.actions", "states.action")
"""Where actions stand."""
LEAVING: Final = ("states", "states.onErrors", "states.dataConditions", "states.eventConditions", "states.default")
"""Where transitions and ends stand."""


@dataclass(frozen=True, slots=True)
class VersionEvidence:
    """A key that shows which version a document is written in, and where it stands."""

    key: str
    position: Position


def anything(_value: Any) -> bool:
    """Return True: the key alone is the mark."""
    return True


@dataclass(frozen=True, slots=True)
class VersionMarker:
    """A key, or a word under it, that only some versions have: see `Version.last_keys` and `Version.first_keys`."""

    path: str
    """The keys that lead to the object with the key, with dots between; lists on the way are gone through."""
    key: str
    holds: Callable[[Any], bool] = anything
    """Tells whether the value is one that only these versions have."""
    is_decisive: bool = False
    """Whether a document with it is of these versions whatever it says, since no other can take it."""


def each(paths: Iterable[str], *keys: str, holds: Callable[[Any], bool] = anything) -> Iterator[VersionMarker]:
    """Yield a mark for each of *keys* in the objects at each of *paths*."""
    for path in paths:
        for key in keys:
            yield VersionMarker(path, key, holds)


def word(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


def having(*keys: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and any(key in value for key in keys)


def objects(root: Object, path: Sequence[str]) -> Iterator[Object]:
    """Yield the objects that the keys of *path* lead to, through lists if there are some."""
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
