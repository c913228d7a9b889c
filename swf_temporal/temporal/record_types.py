"""Checks of records that anyone may have written: whether JSON has the form that a type of ours describes."""

from dataclasses import MISSING, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from temporalio.exceptions import ApplicationError

from swf_temporal.data import kind_of
from swf_temporal.errors import NewerRecord
from swf_temporal.records import Record
from swf_temporal.temporal.formats import check_format

WRONG_INPUT: Final = "WrongInput"
"""The type of the error of a workflow whose input is wrong."""

_WORDS: Final[dict[Any, str]] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    list: "an array",
    tuple: "an array",
    dict: "an object",
}
"""The kinds of JSON, by the types that may be in a hint."""


def check_type(value: Any, hint: Any, where: str) -> None:
    """Raise ValueError unless *value*, which is found at *where*, is JSON of the type *hint*.

    That may be a TypedDict, a `Record`, or what these are made of. Fields that they do not have are passed over, since
    a later release may have written them. A union of several kinds is not looked into.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType, NotRequired):
        kinds = [kind for kind in inner if kind is not NoneType]
        if len(kinds) == 1 and not (value is None and NoneType in inner):
            check_type(value, kinds[0], where)
    elif is_typeddict(hint) or (isinstance(hint, type) and issubclass(hint, Record)):
        _check_fields(value, hint, where)
    elif (origin or hint) in _WORDS:
        _check_kind(value, origin or hint, where)
        _check_items(value, origin, inner, where)


def _check_items(value: Any, origin: Any, inner: tuple[Any, ...], where: str) -> None:
    if origin is tuple and len(value) != len(inner):
        raise ValueError(f"{where} has to have {len(inner)} items, and has {len(value)}")
    if origin is dict:
        for key, item in value.items():
            check_type(item, inner[1], f"{where}.{key}")
    elif origin is not None:
        for index, item in enumerate(value):
            check_type(item, inner[index if origin is tuple else 0], f"{where}[{index}]")


def _check_fields(value: Any, hint: Any, where: str) -> None:
    _check_kind(value, dict, where)
    hints, required = _fields_of(hint)
    for name, kind in hints.items():
        if name in value:
            check_type(value[name], kind, f"{where}.{name}")
        elif name in required:
            raise ValueError(f"{where} has no {name!r}")


@cache
def _fields_of(hint: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the types of the fields of a TypedDict or `Record`, and which have to be there."""
    if is_typeddict(hint):
        return get_type_hints(hint, include_extras=True), hint.__required_keys__
    hints, known = get_type_hints(hint), fields(hint)
    required = (one.name for one in known if one.default is MISSING and one.default_factory is MISSING)
    return {one.name: hints[one.name] for one in known}, frozenset(required)


def _check_kind(value: Any, hint: Any, where: str) -> None:
    kinds = {float: (int, float), tuple: (list,)}.get(hint, (hint,))
    if not isinstance(value, kinds) or (isinstance(value, bool) and hint is not bool):
        raise ValueError(f"{where} has to be {_WORDS[hint]}, and is of the type {kind_of(value)}")


class RecordInput:
    """The record with which a workflow was started, or what is wrong with it, since `__init__` must not fail."""

    def __init__(self, record: Any, kind: Any, what: str) -> None:
        self.record: dict[str, Any] = {}
        self._wrong: ValueError | NewerRecord | None = None
        try:
            check_type(record, kind, what)
            check_format(record, what)
            self.record = record
        except (ValueError, NewerRecord) as error:
            self._wrong = error

    def check(self) -> None:
        """Raise NewerRecord, or the error with which the workflow fails, if the record was wrong."""
        if isinstance(self._wrong, NewerRecord):
            raise self._wrong
        if self._wrong is not None:
            raise wrong_input(str(self._wrong))


def wrong_input(reason: str) -> ApplicationError:
    """Return the error with which a workflow fails whose input is wrong."""
    return ApplicationError(f"the input of the workflow is wrong: {reason}", type=WRONG_INPUT, non_retryable=True)
