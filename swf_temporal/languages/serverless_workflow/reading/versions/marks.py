"""Keys and words by which the shape of a document shows which versions it can be written in."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from swf_temporal.errors import Position
from swf_temporal.text.located import Object


@dataclass(frozen=True, slots=True)
class Giveaway:
    """A key that shows which version a document is written in, and where it stands."""

    key: str
    position: Position


@dataclass(frozen=True, slots=True)
class Mark:
    """A key, or a word under it, that only some versions have: those up to one, or since one."""

    path: str
    """The keys that lead to the object with the key, with dots between; lists on the way are gone through."""
    key: str
    until: str | None = None
    """The last version that has it."""
    since: str | None = None
    """The first version that has it."""
    holds: Callable[[Any], bool] = lambda _: True
    """Tells whether the value is one that only these versions have."""
    is_decisive: bool = False
    """Whether a document with it is of these versions whatever it says, since no other can take it."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A mark that was found in a document, and where."""

    mark: Mark
    giveaway: Giveaway


def word(*words: str) -> Callable[[Any], bool]:
    """Return what tells whether a value is one of *words*."""
    return lambda value: isinstance(value, str) and value in words


def having(*keys: str) -> Callable[[Any], bool]:
    """Return what tells whether a value is an object with one of *keys*."""
    return lambda value: isinstance(value, dict) and any(key in value for key in keys)


_ACTIONS = ("states.actions", "states.onEvents.actions", "states.branches.actions", "states.action")
_LEAVING = ("states", "states.onErrors", "states.dataConditions", "states.eventConditions", "states.default")


def _each(paths: Iterable[str], keys: Iterable[str], **fields: Any) -> Iterator[Mark]:
    for path in paths:
        for key in keys:
            yield Mark(path, key, **fields)


MARKS: Final[tuple[Mark, ...]] = (
    Mark("states", "start", until="0.5", holds=having("kind"), is_decisive=True),
    *_each(_LEAVING, ["end"], until="0.5", holds=having("kind")),
    *_each(_LEAVING, ["transition"], until="0.5", holds=having("expression")),
    *_each(["states.stateDataFilter", "states.eventDataFilter", "states.onEvents.eventDataFilter"],
           ["dataInputPath", "dataOutputPath"], until="0.5"),
    *_each([f"{path}.actionDataFilter" for path in _ACTIONS], ["dataInputPath", "dataResultsPath"], until="0.5"),
    Mark("events", "names", until="0.5"),
    Mark("retries", "multiplier", until="0.5", holds=lambda value: isinstance(value, str) and value.startswith("P")),
    Mark("", "execTimeout", until="0.6"),
    Mark("states", "type", until="0.6", holds=word("delay", "subflow")),
    *_each(["states"], ["default", "timeDelay", "eventTimeout", "timeout", "waitForCompletion", "repeat"], until="0.6"),
    *_each(["states", "states.branches"], ["workflowId"], until="0.6"),
    Mark("states", "completionType", until="0.6", holds=word("and", "xor", "n_of_m")),
    *_each(["states"], ["n", "max"], until="0.6"),
    *_each(["states.onErrors"], ["error", "code", "retryRef"], until="0.6"),
    *_each(_ACTIONS, ["timeout"], until="0.6"),
    Mark("", "start", since="0.6"),
    *_each([""], ["timeouts", "errors", "auth", "secrets", "constants", "annotations", "autoRetries", "key"],
           since="0.7"),
    Mark("states", "type", since="0.7", holds=word("sleep")),
    *_each(["states"], ["defaultCondition", "timeouts", "numCompleted", "batchSize", "mode"], since="0.7"),
    Mark("states", "completionType", since="0.7", holds=word("allOf", "atLeast")),
    *_each(["states.onErrors"], ["errorRef", "errorRefs"], since="0.7"),
    *_each(_ACTIONS, ["sleep", "subFlowRef", "retryRef", "retryableErrors", "nonRetryableErrors"], since="0.7"),
    *_each(["events"], ["dataOnly"], since="0.7"),
    *_each(_ACTIONS, ["condition"], since="0.8"),
    *_each([f"{path}.actionDataFilter" for path in _ACTIONS], ["useResults"], since="0.8"),
    *_each([f"{path}.{ref}" for path in _ACTIONS for ref in ("functionRef", "eventRef", "subFlowRef")],
           ["invoke"], since="0.8"),
    Mark("functions", "type", since="0.8", holds=word("custom")),
    *_each([""], ["dataOutputSchema", "extensions"], since="0.8-next"),
    *_each(["functions.authRef"], ["resource", "invocation"], since="0.8-next"),
    *_each([f"{path}.eventRef" for path in _ACTIONS], ["produceEventRef", "consumeEventRef"], since="0.8-next"),
)  # fmt: skip
"""The keys that a version alone had, or introduced. A key that has the same form in all of them is not a mark."""


def marked(root: Object) -> list[Marked]:
    """Return the marks that *root* has, in the order of `MARKS`, each with the first place where it stands."""
    found: dict[int, Marked] = {}
    _look(root, _PLACES, found)
    return [found[index] for index in sorted(found)]


def objects(root: Object, path: Sequence[str]) -> Iterator[Object]:
    """Yield the objects that the keys of *path* lead to, through lists if there are some."""
    if not path:
        yield root
        return
    for one in _objects_under(root, path[0]):
        yield from objects(one, path[1:])


def _objects_under(node: Object, key: str) -> list[Object]:
    value = node.get(key)
    if isinstance(value, Object):
        return [value]
    return [one for one in value if isinstance(one, Object)] if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class _Place:
    """Objects at one path: the marks that they may have, each with its number, and the keys of further objects."""

    marks: dict[str, list[tuple[int, Mark]]] = field(default_factory=dict)
    inside: "dict[str, _Place]" = field(default_factory=dict)


def _look(node: Object, place: _Place, found: dict[int, Marked]) -> None:
    """Add the marks that *node* and the objects in it have to *found*, by their numbers."""
    for key in node:
        for number, mark in place.marks.get(key, ()):
            if number not in found and mark.holds(node[key]):
                found[number] = Marked(mark, Giveaway(key, node.where.key(key)))
        inside = place.inside.get(key)
        if inside is not None:
            for one in _objects_under(node, key):
                _look(one, inside, found)


def _places() -> _Place:
    root = _Place()
    for number, mark in enumerate(MARKS):
        place = root
        for key in mark.path.split(".") if mark.path else ():
            place = place.inside.setdefault(key, _Place())
        place.marks.setdefault(mark.key, []).append((number, mark))
    return root


_PLACES: Final = _places()
