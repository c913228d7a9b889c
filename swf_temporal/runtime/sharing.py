"""Progress records that hold each value once, however many of their places have it.

Data move through an instance without being copied: what a run was started with, what its walk began the state with, and
what a foreach has got to are often the same object, or have the same parts. Written as JSON each place would have a
copy, and what is carried on from one execution to the next is limited. So a record has such a value at the first
place, null at the others, and under `same` which place is to have what another has.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from swf_temporal.runtime.performing import size_of

SAME = "same"
"""The field of a record that lists `[place, place that has the value]`; a place is a list of keys and indexes."""

_WORTH = 256
"""From how many bytes on a value is not written twice."""

_HolderPlace: TypeAlias = "tuple[_HolderPlace, str | int] | None"
"""The place of what holds it, and its key there."""


def is_worth_sharing(text: str) -> bool:
    """Tell whether a copy of *text* is left out."""
    return len(text) >= _WORTH


def without_copies(record: dict[str, Any]) -> dict[str, Any]:
    """Return *record* with every large value once. What has none twice is the same object as before."""
    sharing = _Sharing()
    try:
        written = sharing.written(record, None)
    except RecursionError:
        return record  # nested as deeply as JSON can be: it has no room for much else
    return {**written, SAME: sharing.same} if sharing.same else record


def with_copies(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the record that `without_copies` was given: *record*, in which it has made room for them."""
    for place, other in record.get(SAME, ()):
        value: Any = record
        for step in other:
            value = value[step]
        parent: Any = record
        for step in place[:-1]:
            parent = parent[step]
        parent[place[-1]] = value
    return record


class _Sharing:
    def __init__(self) -> None:
        self.same: list[list[list[str | int]]] = []
        self._places: dict[int, _HolderPlace] = {}

    def written(self, value: Any, place: _HolderPlace) -> Any:
        """Return *value*, an object or an array that stands at *place*, without what was met before."""
        self._places[id(value)] = place
        changed: Any = None
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if not isinstance(item, dict | list) and not (isinstance(item, str) and is_worth_sharing(item)):
                continue
            own = (place, key)
            if id(item) in self._places and size_of(item) >= _WORTH:
                self.same.append([_steps(own), _steps(self._places[id(item)])])
                kept = None
            elif isinstance(item, str):
                self._places[id(item)] = own
                continue
            else:
                kept = self.written(item, own)
            if kept is not item:
                changed = value.copy() if changed is None else changed
                changed[key] = kept
        return value if changed is None else changed


def _steps(place: _HolderPlace) -> list[str | int]:
    steps: list[str | int] = []
    while place is not None:
        place, step = place
        steps.append(step)
    return steps[::-1]
