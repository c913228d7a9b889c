"""Merging in DSL 1.0: what a task yields replaces the data there, so `output.as` merges it into the task's input.

`*` of jq merges objects deeply as 0.8 does, but for arrays, which it replaces.
"""

import re
from typing import Any, Final

from swf_temporal.base.strict_json import show_json
from swf_temporal.expressions.compiled import ANY
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import Inexpressible, grouped, piped, single

_PLACE: Final = re.compile(r"(?:\.(?:[A-Za-z_]\w*|\"[^\"\\\\]*\"|\[\s*\"[^\"\\\\]*\"\s*\]))+")
_KEY: Final = re.compile(r"\.([A-Za-z_]\w*)|\"([^\"]*)\"")
PATH: Final = re.compile(r"(?:\.[A-Za-z_]\w*(?:\[\d+\])*)+")
"""Keys and indexes."""
ARRAYS: Final = (
    "what is merged into the data replaces arrays under the same keys, where 0.8 appends to them; the task fails if the"
    " data are no object"
)
RESPONSE: Final = "a result that is not an object is put under 'response': in 0.8 it becomes the data if they are empty"
PLACED: Final = "toStateData with more than keys replaces what is at its place: in 0.8 objects are merged"
DEEP: Final = "toStateData with several keys replaces what is no object on its path: in 0.8 the action fails"


class Merge:
    """The part of a value that is merged, and its place in the data."""

    def __init__(self, value: str = ".", kinds: frozenset[str] = ANY, place: str | None = None) -> None:
        """*value* is the jq that selects the part, *kinds* what it can yield, *place* the path of `toStateData`."""
        self._value = value
        self._kinds = kinds
        self._place = place
        self._keys = None if place is None else keys_of(place)

    @property
    def _is_elsewhere(self) -> bool:
        """Whether its place is more than keys, such as an element of an array."""
        return self._place is not None and self._keys is None

    @property
    def notes(self) -> list[str]:
        """The differences from merging in 0.8."""
        if self._is_elsewhere:
            return [PLACED]
        found = [ARRAYS]
        if self._keys is None and not self._kinds <= {"object"}:
            found.append(RESPONSE)
        if self._keys is not None and len(self._keys) > 1:
            found.append(DEEP)
        return found

    def into(self, base: str) -> str:
        """Return the jq that merges the part of `.` into *base*."""
        if self._is_elsewhere:
            value = grouped(single(self._value))
            return f"{value} as $result | {base} | {self._place} = $result"
        return f"{base} * {grouped(self.effect())}"

    def alone(self) -> str:
        """Return the jq of the part, which is not merged."""
        return single(self._value)

    def effect(self) -> str:
        """Return the jq of an object to merge."""
        value = self._value
        if self._is_elsewhere:
            raise Inexpressible(f"toStateData {self._place!r}, which is more than keys, of what is done beside others")
        if self._keys is None:
            if self._kinds <= {"object"}:
                return grouped(single(value))
            rest = "objects // {response: values} // {}"
            return rest if value == "." else piped(single(value), rest)
        if "null" in self._kinds:
            inner = "values" if value == "." else f"({piped(single(value), 'values')})"
            return f"{_nested(self._keys, inner)} // {{}}"
        return _nested(self._keys, grouped(single(value)))


def _selected(before: str, jq: str) -> str:
    """Return *jq* of what is at the path *before*: as one path if it begins as one."""
    is_path = PATH.fullmatch(jq.strip()) is not None and PATH.fullmatch(before) is not None
    return f"{before}{jq.strip()}" if is_path else piped(before, jq)


def keys_of(place: str) -> list[str] | None:
    """Return the keys on the path *place*, an empty list for the whole; None if it is more than keys."""
    text = place.strip()
    if text in ("", "."):
        return []
    if not _PLACE.fullmatch(text):
        return None
    return [found[1] or found[2] for found in _KEY.finditer(text)]


def _nested(keys: list[str], value: str) -> str:
    for key in reversed(keys):
        value = f"{{{key if key.isidentifier() else show_json(key)}: {value}}}"
    return value


def merge_of(filter_: Any, results: Any, translate: Any, before: str = ".") -> Merge:
    """Return the merge that a filter with `toStateData` asks for; *results* is what it selects of `.`."""
    kinds = ANY if results is None else translate.kinds(results)
    value = before if results is None else _selected(before, translate.jq(results))
    place = None if filter_ is None else filter_.to_state_data
    place = None if place is None else translate.jq(place)
    keys = None if place is None else keys_of(place)
    if keys == []:
        place = None
    return Merge(value, kinds, place)
