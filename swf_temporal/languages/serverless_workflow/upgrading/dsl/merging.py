"""Merging in DSL 1.0: what a task yields replaces the data there, so `output.as` merges it into the task's input.

`*` of jq merges objects deeply as 0.8 does, but for arrays, which it replaces.
"""

import re
from typing import Any, Final

from swf_temporal.expressions.kinds import ANY
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import Inexpressible, grouped, piped, single

_PLACE: Final = re.compile(r"(?:\.[A-Za-z_]\w*)+")
ARRAYS: Final = (
    "what is merged into the data replaces arrays under the same keys, where 0.8 appends to them; data that are no"
    " object cannot be merged into"
)
RESPONSE: Final = "a result that is not an object is put under 'response', also if the data are still empty"
SELECTS: Final = "a filter that selects nothing yields null: in 0.8 it has no effect"
DEEP: Final = "toStateData with several keys replaces what is no object on its path: in 0.8 the action fails"


class Merge:
    """The part of a value that is merged, and its place in the data."""

    def __init__(self, value: str = ".", kinds: frozenset[str] = ANY, place: str | None = None) -> None:
        """*value* is the jq that selects the part, *kinds* what it can yield, *place* the path of `toStateData`."""
        self._value = value
        self._kinds = kinds
        self._keys = None if place is None else keys_of(place)

    @property
    def notes(self) -> list[str]:
        """The differences from merging in 0.8."""
        found = [ARRAYS]
        if self._keys is None and not self._kinds <= {"object"}:
            found.append(RESPONSE)
        if self._keys is not None and len(self._keys) > 1:
            found.append(DEEP)
        return found

    def into(self, base: str) -> str:
        """Return the jq that merges the part of `.` into *base*."""
        return f"{base} * {grouped(self.effect())}"

    def effect(self) -> str:
        """Return the jq of an object to merge."""
        value = self._value
        if self._keys is None:
            if self._kinds <= {"object"}:
                return grouped(single(value))
            rest = "objects // {response: values} // {}"
            return rest if value == "." else piped(single(value), rest)
        if "null" in self._kinds:
            inner = "values" if value == "." else f"({piped(single(value), 'values')})"
            return f"{_nested(self._keys, inner)} // {{}}"
        return _nested(self._keys, grouped(single(value)))


def keys_of(place: str) -> list[str]:
    """Return the keys on the path *place*; none for the whole. Raises Inexpressible for anything else."""
    text = place.strip()
    if text in ("", "."):
        return []
    if not _PLACE.fullmatch(text):
        raise Inexpressible(f"toStateData {text!r}, which is more than keys")
    return text[1:].split(".")


def _nested(keys: list[str], value: str) -> str:
    for key in reversed(keys):
        value = f"{{{key}: {value}}}"
    return value


def merge_of(filter_: Any, results: Any, translate: Any, before: str = ".") -> Merge:
    """Return the merge that a filter with `toStateData` asks for; *results* is what it selects of `.`."""
    kinds = ANY if results is None else translate.kinds(results)
    value = before if results is None else piped(before, translate.jq(results))
    place = None if filter_ is None else filter_.to_state_data
    place = None if place is None else translate.jq(place)
    keys = None if place is None else keys_of(place)
    if keys == []:
        if not kinds <= {"object"}:
            raise Inexpressible("toStateData '.' with a result that may be no object")
        place = None
    return Merge(value, kinds, place)
