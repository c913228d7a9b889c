"""Workflow data, and how one piece of it is merged into another.

Data is JSON and is treated as immutable: nothing here or above changes a value in place. Merging shares what it
does not change, so the cost of merging a small result into large data depends on the result alone.
"""

from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

from swf_temporal.base.accounting import MAX_WRITTEN, current_account, json_size
from swf_temporal.base.errors import PayloadTooLarge
from swf_temporal.base.strict_json import NotJSON, json_of, read_json, write_json

JSON: TypeAlias = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None
"""A value that JSON can represent."""

_ELEMENT = 128
"""The cost of finding out whether an array has an element, in copied bytes."""
_MEMBERS = 10_000
"""The number of members of an object or array that are copied for a cost of 1."""
_MAX_PLAIN = 1e21
"""Numbers from this on are written with an exponent."""
_Parent = TypeVar("_Parent", dict[str, Any], list[Any])

Path: TypeAlias = Sequence[str | int]
"""The path to a value inside another: keys and indexes, outermost first."""


def json_or_base64(content: bytes) -> JSON:
    """Return *content* parsed as JSON, or in base64 if it is not JSON; empty content is an empty text."""
    try:
        value: JSON = read_json(content)
    except NotJSON:
        return b64encode(content).decode()
    return value


def merge(target: JSON, addition: JSON) -> JSON:
    """Return *target* with *addition* merged into it (section "Data Merging").

    Objects merge deeply. Arrays are concatenated and keep each element once, in order. Scalars overwrite. Where the
    types differ the addition wins, except that a value merged into an array is appended to it if it is new.
    """
    if isinstance(target, dict) and isinstance(addition, dict):
        parents = (dict, list)
        if not any(isinstance(target.get(key), parents) for key in addition):
            current_account().cost += len(target) // _MEMBERS
            return {**target, **addition}  # nothing to merge further down: nearly always
    merger = Merger(target)
    merger.merge(addition)
    return merger.data


def merge_patch(target: JSON, patch: JSON) -> JSON:
    """Return *target* with a JSON merge patch applied (RFC 7396): null removes a member, and arrays are replaced."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def put_at(target: JSON, path: Path, value: JSON) -> JSON:
    """Return *target* with *value* in place of the element at *path*. Raises as `change_at` does."""
    return change_at(target, path, lambda _: value)


def change_at(target: JSON, path: Path, change: Callable[[JSON], JSON]) -> JSON:
    """Return *target* with *change* applied to the element at *path*, or to null if there is none.

    Missing parents are created. Raises IndexError for an element before the first, and TypeError if a parent is neither
    an object nor an array as required.
    """
    if not path:
        return change(target)
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = list(_as_parent(target, list))
        index = step if step >= 0 else len(items) + step
        if index < 0:
            raise IndexError(step)
        items.extend([None] * (index + 1 - len(items)))
        items[index] = change_at(items[index], rest, change)
        return items
    parent = dict(_as_parent(target, dict))
    parent[step] = change_at(parent.get(step), rest, change)
    return parent


def add_result(target: JSON, result: JSON) -> JSON:
    """Return state data with an action's *result* merged in, if there is no `toStateData`: see `Merger`."""
    if isinstance(target, dict) and isinstance(result, dict):
        return merge(target, result)
    merger = Merger(target)
    merger.add_result(result)
    return merger.data


class Merger:
    """Merges one value after the other into data; the cost of each depends on its own size, not on that of the data.

    The original data and the merged values are not changed. Objects and arrays on the way to a change are copied once,
    and belong to the merger from then on: it changes them in place. It remembers which elements the arrays have that it
    merges into.
    """

    def __init__(self, data: JSON) -> None:
        self.data = data
        """The result so far. It must not be passed on before the last value is merged."""
        # By their ids, which are not reused as long as the values are referenced here.
        self._own: dict[int, dict[str, JSON] | list[JSON]] = {}
        self._elements: dict[int, set[str]] = {}

    def merge(self, addition: JSON) -> None:
        """Merge *addition* into the data (section "Data Merging")."""
        self.data = self._merged(self.data, addition)

    def add_result(self, result: JSON) -> None:
        """Merge an action's *result* into state data, if there is no `toStateData`.

        A result that is not an object replaces an empty object, becomes the `response` of any other object, and is
        merged with data that is not an object. Null changes nothing.
        """
        if result is None:
            return
        if isinstance(result, dict) or not isinstance(self.data, dict):
            self.merge(result)
        elif self.data:
            self.merge_at(["response"], result)
        else:
            self.data = result

    def merge_at(self, path: Path, addition: JSON) -> None:
        """Merge *addition* into the element at *path*. Raises as `change_at` does."""
        self.data = self._merged_at(self.data, path, addition)

    def _merged_at(self, target: JSON, path: Path, addition: JSON) -> JSON:
        if not path:
            return self._merged(target, addition)
        step, rest = path[0], path[1:]
        if isinstance(step, int):
            items = self._own_of(_as_parent(target, list))
            index = step if step >= 0 else len(items) + step
            if index < 0:
                raise IndexError(step)
            changed = self._merged_at(items[index] if index < len(items) else None, rest, addition)
            items.extend([None] * (index + 1 - len(items)))
            items[index] = changed
            self._elements.pop(id(items), None)
            return items
        parent = self._own_of(_as_parent(target, dict))
        parent[step] = self._merged_at(parent.get(step), rest, addition)
        return parent

    def _merged(self, target: JSON, addition: JSON) -> JSON:
        if isinstance(target, dict) and isinstance(addition, dict):
            merged = self._own_of(target)
            for key, value in addition.items():
                merged[key] = self._merged(merged[key], value) if key in merged else value
            return merged
        if isinstance(target, list):
            items = self._own_of(target)
            elements = self._elements.get(id(items))
            if elements is None:
                elements = self._elements[id(items)] = set()
                present = items.copy()
                items.clear()
                _append_new(items, present, elements)
            _append_new(items, addition if isinstance(addition, list) else [addition], elements)
            return items
        return addition

    def _own_of(self, parent: _Parent) -> _Parent:
        """Return the merger's own copy of *parent*, or *parent* itself if it is one already."""
        if self._own.get(id(parent)) is parent:
            return parent
        current_account().cost += len(parent) // _MEMBERS
        copy = parent.copy()
        self._own[id(copy)] = copy
        return copy


class ReplacingMerger(Merger):
    """Merges as SonataFlow does: existing data is never lost, except that an array replaces another one.

    A value that is not an object becomes the `response` of a non-empty object that it is merged into. An existing
    scalar is put before the elements of an array, unless it is one of them, and becomes the `_target` of an object.
    """

    def add_result(self, result: JSON) -> None:
        """Merge an action's *result* into state data, as everything is merged."""
        if result is not None:
            self.merge(result)

    def _merged(self, target: JSON, addition: JSON) -> JSON:
        if isinstance(target, dict) and target and not isinstance(addition, dict):
            if addition is None:
                return target
            merged = self._own_of(target)
            merged["response"] = addition
            return merged
        if isinstance(addition, list):
            is_kept = target is not None and not isinstance(target, dict | list)
            return [target, *addition] if is_kept and all(map(partial(_differ, target), addition)) else addition
        if isinstance(addition, dict) and target is not None and not isinstance(target, dict | list):
            return {**addition, "_target": target}
        return super()._merged(target, addition)


def _differ(one: JSON, other: JSON) -> bool:
    return one != other or kind_of(one) != kind_of(other)


def kind_of(value: JSON) -> str:
    """Return the JSON type of *value*."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"


def identity(value: JSON) -> str:
    """Return a text that is the same for two values exactly if they are equal as JSON, whatever the order of keys.

    Raises PayloadTooLarge if it would be very long.
    """
    if isinstance(value, dict | list) and (size := json_size(value)) > MAX_WRITTEN:
        raise PayloadTooLarge(f"{size:,} bytes of data are too many to be compared with other data")
    return write_json(_normal(value), sort_keys=True, sizes={})


def as_text(value: JSON) -> str:
    """Return a value as it is sent in attributes of events, where the number 7 and the text "7" are the same."""
    return value if isinstance(value, str) else identity(value)


def plain_numbers(value: JSON) -> JSON:
    """Return *value* with whole numbers as integers: 5.0 becomes 5."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _MAX_PLAIN:
        return int(value)
    if isinstance(value, dict):
        return {key: plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain_numbers(item) for item in value]
    return value


def _as_parent(value: JSON, kind: type[_Parent]) -> _Parent:
    """Return *value*, or an empty parent if it is null."""
    if not isinstance(value, kind):
        if value is None:
            return kind()
        known: dict[type, str] = {dict: "an object", list: "an array"}
        raise TypeError(f"{known.get(type(value), write_json(value))} stands where {known[kind]} is needed")
    return value


def _append_new(items: list[JSON], more: Sequence[JSON], elements: set[str]) -> None:
    """Append to *items* each of *more* that is not in *elements*, the set of their identities."""
    account = current_account()
    for item in more:
        key = identity(item)
        account.charge_copy(len(key) + _ELEMENT)
        if key not in elements:
            elements.add(key)
            items.append(item)


def _normal(value: Any) -> Any:
    # 1 and 1.0 are the same number in JSON, though Python writes them differently.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _normal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_normal(item) for item in value]
    return value


def json_from(value: object) -> Any:
    """Return *value* as JSON; pydantic converts dates, models, dataclasses, sets and so on.

    Raises NotJSON, with the place, for anything else.
    """
    return json_of(value, _converted)


def _converted(value: object) -> object:
    from pydantic_core import PydanticSerializationError, to_jsonable_python  # noqa: PLC0415 - most values are JSON

    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        raise NotJSON(f"a value of the type {type(value).__name__!r} cannot be written as JSON") from None
