"""Typed records: dataclasses that are stored as JSON and read again, by the types of their fields.

A record's class says which of its fields are the engine's and which hold values of a workflow. Only the types decide
what is read as a record: a value of a workflow is stored as it is, as the same object, whatever keys it has.

What is stored outlives releases. A field at its default is not written; a field that is not known is passed over, so
that an older release reads what a newer one wrote; a new field has a default, so that a newer one reads the older.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from types import NoneType, UnionType
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, Union, get_args, get_origin, get_type_hints


class MalformedRecord(ValueError):  # noqa: N818 - what the record is
    """What was stored is not what any release writes."""


KIND = "kind"
"""The key under which a record is stored that stands where there may be records of several classes."""


class Record:
    """The base of typed records: subclasses are dataclasses with slots, which may be frozen.

    A field may be a record, one or None, a list of them, or a mapping of texts or integers to them; all else is stored
    as it is and has to be JSON. Where a field may be one of several classes, each has its own `KIND`.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # for type checkers, to which a subclass is a dataclass

    KIND: ClassVar[str] = ""
    """What tells this class from others that may stand at the same place."""

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON. Values of workflows in it are not copied."""
        written: dict[str, Any] = {}
        for name, default, codec in _fields_of(type(self)):
            value = getattr(self, name)
            if value is default or (value == default and isinstance(default, float)):
                continue
            stored = value if codec is None else codec.write(value)
            if stored or default is not _EMPTY:
                written[name] = stored
        return written

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Self:
        """Return the record that `to_json` wrote. Raises MalformedRecord for what no release writes."""
        try:
            return cls(
                **{
                    name: written[name] if codec is None else codec.read(written[name])
                    for name, _, codec in _fields_of(cls)
                    if name in written
                }
            )
        except (TypeError, AttributeError, LookupError, ValueError) as error:
            raise MalformedRecord(f"{cls.__name__}: {error}") from None


R = TypeVar("R", bound=Record)


def nested(record: Record, kind: type[R]) -> Iterator[R]:
    """Yield all records of the class *kind* in *record*, itself first, and in those inside it, in stored order."""
    if isinstance(record, kind):
        yield record
    for name, _, codec in _fields_of(type(record)):
        if codec is not None:
            for inner in codec.records(getattr(record, name)):
                yield from nested(inner, kind)


class _Codec(NamedTuple):
    """How a field that holds records is stored."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    records: Callable[[Any], "Iterator[Record]"]


class _StoredField(NamedTuple):
    name: str
    default: Any
    """Its default; MISSING for one that has none, `_EMPTY` for one that is made, and stored if it holds anything."""
    codec: _Codec | None
    """None for what is stored as it is."""


_EMPTY = object()
_KNOWN: dict[type[Record], tuple[_StoredField, ...]] = {}


def _fields_of(cls: type[Record]) -> tuple[_StoredField, ...]:
    found = _KNOWN.get(cls)
    if found is None:
        hints = get_type_hints(cls)
        found = _KNOWN[cls] = tuple(
            _StoredField(one.name, _default(one), _codec(hints[one.name], f"{cls.__name__}.{one.name}"))
            for one in fields(cls)
        )
    return found


def _default(of: Field[Any]) -> Any:
    return _EMPTY if of.default_factory is not MISSING else of.default


def _codec(hint: Any, where: str) -> _Codec | None:
    """Return how a field of the type *hint* is stored. Raises TypeError for one whose records would not be found."""
    origin, inner = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and issubclass(hint, Record):
        return _Codec(hint.to_json, hint.from_json, lambda value: iter((value,)))
    if origin in (Union, UnionType):
        kinds = [one for one in inner if isinstance(one, type) and issubclass(one, Record)]
        if not kinds and not any(_codec(one, where) for one in inner):
            return None
        if len(kinds) + (NoneType in inner) != len(inner):
            raise TypeError(f"{where}: records stand beside other values")
        return _one_of(kinds, where)
    if origin is list and (item := _codec(inner[0], where)):
        return _list_of(item)
    if origin is dict and (item := _codec(inner[1], where)):
        return _mapping_to(item, inner[0])
    return None


def _list_of(item: _Codec) -> _Codec:
    return _Codec(
        lambda values: [item.write(one) for one in values],
        lambda values: [item.read(one) for one in values],
        lambda values: (found for one in values for found in item.records(one)),
    )


def _mapping_to(item: _Codec, key: Callable[[str], object]) -> _Codec:
    return _Codec(
        lambda values: {str(name): item.write(one) for name, one in values.items()},
        lambda values: {key(name): item.read(one) for name, one in values.items()},
        lambda values: (found for one in values.values() for found in item.records(one)),
    )


def _one_of(kinds: list[type[Record]], where: str) -> _Codec:
    """Return how a field is stored that holds a record of one of *kinds*, or None."""
    by_kind = {one.KIND: one for one in kinds}
    is_tagged = len(kinds) > 1
    if is_tagged and (len(by_kind) < len(kinds) or "" in by_kind):
        raise TypeError(f"{where}: each class needs a KIND of its own")

    def write(value: Record | None) -> Any:
        if value is None:
            return None
        return {KIND: value.KIND, **value.to_json()} if is_tagged else value.to_json()

    def read(written: Any) -> Record | None:
        if written is None:
            return None
        return (by_kind[written[KIND]] if is_tagged else kinds[0]).from_json(written)

    return _Codec(write, read, lambda value: iter(() if value is None else (value,)))
