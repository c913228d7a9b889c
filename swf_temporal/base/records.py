"""Typed records: dataclasses that are stored as JSON and read again, by the types of their fields.

A record's class says which of its fields are ours and which hold values of a workflow. Only the types decide what is
read as a record, and what is refused: a value of a workflow is stored as it is, as the same object, whatever keys it
has.

Stored records outlive releases. A field at its default is not written; an unknown field is ignored, so that an older
release reads what a newer one wrote; a new field has a default, so that a newer one reads older records. A record that
an older release could not continue from has a higher format number: see docs/compatibility.md.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from datetime import timedelta
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, Literal, NamedTuple, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from swf_temporal.base.data import kind_of
from swf_temporal.base.errors import NewerRecord

KIND: Final = "kind"
"""The key for the class of a record, in places where records of several classes are possible."""
FORMAT: Final = "format"
"""The key of a record's format number: that of the oldest release that can continue from the record."""
FIRST_FORMAT: Final = 1
"""The format of a record without a number."""


class MalformedRecord(ValueError):  # noqa: N818 - what the record is
    """A stored value is not what any release writes."""

    def __init__(self, reason: str, place: str = "", what: str = "the record") -> None:
        """Make the message of *what*, the *place* in it, if any, and the *reason*, which continues the sentence."""
        self.reason, self.place = reason, place.removeprefix(".")
        super().__init__(f"in {what}, {self.place} {reason}" if self.place else f"{what} {reason}")

    def inside(self, step: str) -> "MalformedRecord":
        """Return the error for the parent of this record: *step* leads from there to this."""
        place = f"{step}{self.place if self.place.startswith('[') or not self.place else f'.{self.place}'}"
        return MalformedRecord(self.reason, place)


class Record:
    """The base of typed records: subclasses are dataclasses with slots, which may be frozen.

    The type of a field says how it is stored, and what is refused when it is read. It may be made of records, texts,
    numbers, booleans, `None`, `Literal`, `timedelta` (seconds), `bytes` (base64), classes with `to_record` and
    `from_record`, lists, tuples, and mappings with texts or integers as keys. `JSON` and `Any` are stored as they are.
    If a field may be one of several records, each class has its own `KIND`.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # for type checkers, to which a subclass is a dataclass

    KIND: ClassVar[str] = ""
    """Identifies this class among those that are possible at the same place."""
    WHAT: ClassVar[str] = ""
    """The name of a top-level record in messages; such a record may have a format number."""
    CAMEL_CASE: ClassVar[bool] = False
    """Whether the names of fields are stored in camel case."""
    UNKNOWN: ClassVar[str] = ""
    """The name of the field, if any, that keeps the fields which this release does not know."""

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON. Values of workflows in it are not copied."""
        form = _FORMS.get(type(self)) or _form_of(type(self))
        written: dict[str, Any] = {}
        for name, key, default, is_compared, write in form.written:
            value = getattr(self, name)
            if value is default or (is_compared and value == default):
                continue
            stored = value if write is None else write(value)
            if stored or default is not _EMPTY:
                written[key] = stored
        others = getattr(self, self.UNKNOWN) if self.UNKNOWN else None
        return {**others, **written} if others else written

    @classmethod
    def from_json(cls, written: Any) -> Self:
        """Return the record that `to_json` wrote, in this release or another.

        Raises MalformedRecord for what no release writes, and NewerRecord for what only a newer one can continue from.
        """
        try:
            return _read(cls, written)
        except MalformedRecord as error:
            raise MalformedRecord(error.reason, error.place, cls.WHAT or cls.__name__) from None

    def check(self) -> None:
        """Raise ValueError or NewerRecord if the record, as read, is invalid in a way that its types do not show."""


R = TypeVar("R", bound=Record)


def nested(record: Record, kind: type[R]) -> Iterator[R]:
    """Yield all records of the class *kind* in *record*, itself first, and in those inside it, in stored order."""
    if isinstance(record, kind):
        yield record
    for name, records in _form_of(type(record)).records:
        for inner in records(getattr(record, name)):
            yield from nested(inner, kind)


def _check_format(written: Mapping[str, Any], what: str) -> None:
    """Raise NewerRecord if *written* has a higher format than this release, and MalformedRecord if it is no integer."""
    number = written.get(FORMAT, FIRST_FORMAT)
    if type(number) is not int:
        raise MalformedRecord(f"has to be an integer, and is of the type {kind_of(number)}", FORMAT, what)
    check_number(f"the format of {what}", number, FIRST_FORMAT)


def check_number(what: str, number: int, known: int) -> None:
    """Raise NewerRecord if *number*, which is *what*, is higher than *known*."""
    if number > known:
        raise NewerRecord(what, number, known)


class _Codec(NamedTuple):
    """How the values of a type are stored."""

    kinds: frozenset[type] | None = None
    """The types of the JSON that it is stored as; None for any."""
    read: Callable[[Any], Any] | None = None
    """Returns the value for what was stored, or raises MalformedRecord; None if anything is used as it is."""
    write: Callable[[Any], Any] | None = None
    """Returns what to store; None if values are stored as they are."""
    records: Callable[[Any], Iterable["Record"]] | None = None
    """Returns the records in a value; None if it cannot have any."""
    is_plain: bool = False
    """Whether values of its kinds are used as they are."""


class _Form(NamedTuple):
    """How the records of a class are stored. Fields are described by plain tuples, which are the fastest to unpack."""

    written: tuple[tuple[str, str, Any, bool, Callable[[Any], Any] | None], ...]
    """For each field: its name, its key, its default, whether to compare with that by equality, and its writer.

    The default is MISSING if there is none, and `_EMPTY` if it comes from a factory: then the field is stored unless it
    is empty.
    """
    read: tuple[tuple[str, str, Callable[[Any], Any] | None, bool], ...]
    """For each field: its name, its key, its reader, and whether it is required."""
    records: tuple[tuple[str, Callable[[Any], Iterable[Record]]], ...]
    """For each field that holds records: its name, and a function that returns these."""
    keys: frozenset[str]
    is_checked: bool
    """Whether the class defines `check`."""


_WORDS: Final[Mapping[Any, str]] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    list: "an array",
    dict: "an object",
    NoneType: "null",
}
"""The types of JSON, in words."""
_TEXT, _ARRAY, _OBJECT, _NULL = (frozenset[type]({kind}) for kind in (str, list, dict, NoneType))
_NUMBER: Final = frozenset[type]({int, float})
_AS_IT_IS: Final = _Codec()
_EMPTY: Final = object()
_FORMS: Final[dict[type[Record], _Form]] = {}


def _form_of(cls: type[Record]) -> _Form:
    found = _FORMS.get(cls)
    if found is None:
        hints, written, read, records = get_type_hints(cls), [], [], []
        for one in fields(cls):
            if one.name == cls.UNKNOWN:
                continue
            codec, key = _codec(hints[one.name], f"{cls.__name__}.{one.name}"), _key(cls, one.name)
            default = one.default if one.default_factory is MISSING else _EMPTY
            is_compared = type(default) in (str, int, float) and codec.read is not None
            written.append((one.name, key, default, is_compared, codec.write))
            read.append((one.name, key, codec.read, default is MISSING))
            if codec.records is not None:
                records.append((one.name, codec.records))
        keys = frozenset(key for _, key, *_ in written)
        is_checked = cls.check is not Record.check
        found = _FORMS[cls] = _Form(tuple(written), tuple(read), tuple(records), keys, is_checked)
    return found


def _key(cls: type[Record], name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others) if cls.CAMEL_CASE else name


def _read(cls: type[R], written: Any) -> R:
    """Return the record of the class *cls* that is *written*. Raises MalformedRecord with the place in this record."""
    if type(written) is not dict:
        raise _wrong_kind(written, _OBJECT)
    if cls.WHAT:
        _check_format(written, cls.WHAT)
    form = _FORMS.get(cls) or _form_of(cls)
    values: dict[str, Any] = {}
    for name, key, read, is_required in form.read:
        if key in written:
            try:
                values[name] = written[key] if read is None else read(written[key])
            except MalformedRecord as error:
                raise error.inside(f".{key}") from None
        elif is_required:
            raise MalformedRecord(f"has no {key!r}")
    if cls.UNKNOWN:
        values[cls.UNKNOWN] = {key: value for key, value in written.items() if key not in form.keys}
    record = cls(**values)
    if form.is_checked:
        _check(record)
    return record


def _check(record: Record) -> None:
    try:
        record.check()
    except MalformedRecord:
        raise
    except ValueError as error:
        raise MalformedRecord(f"cannot be read: {error}") from None


def _wrong_kind(value: Any, kinds: frozenset[type]) -> MalformedRecord:
    words = " or ".join(word for kind, word in _WORDS.items() if kind in (kinds - {int} if float in kinds else kinds))
    return MalformedRecord(f"has to be {words}, and is of the type {kind_of(value)}")


def _codec(hint: Any, where: str) -> _Codec:
    """Return the codec of a field of the type *hint*. Raises TypeError if records in it would not be found."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return _AS_IT_IS
    if origin in (Union, UnionType):
        return _union(inner, where)
    if origin is Literal:
        return _literal(inner)
    if origin is tuple and inner[-1] is not Ellipsis:
        return _tuple([_codec(one, where) for one in inner])
    if (origin or hint) in (list, Sequence, tuple):
        return _array(_codec(inner[0], where) if inner else _AS_IT_IS, origin)
    if (origin or hint) in (dict, Mapping):
        return _mapping(_codec(inner[1], where) if inner else _AS_IT_IS, inner[0] if inner else str, origin)
    if isinstance(hint, type) and issubclass(hint, Record):
        return _Codec(_OBJECT, lambda value: _read(hint, value), hint.to_json, lambda value: (value,))
    return _value(hint, where)


def _value(hint: Any, where: str) -> _Codec:
    """Return the codec of a value that contains no others."""
    if hint in _WORDS:
        return _plain(_NUMBER if hint is float else frozenset({hint}))
    if hint is timedelta:
        return _made(_NUMBER, lambda seconds: timedelta(seconds=seconds), timedelta.total_seconds)
    if hint is bytes:
        return _made(_TEXT, lambda text: b64decode(text, validate=True), lambda content: b64encode(content).decode())
    if hasattr(hint, "from_record"):
        return _made(_OBJECT, hint.from_record, hint.to_record)
    raise TypeError(f"{where}: {hint} is not stored")


def _plain(kinds: frozenset[type]) -> _Codec:
    def read(value: Any) -> Any:
        if type(value) not in kinds:
            raise _wrong_kind(value, kinds)
        return value

    return _Codec(kinds, read, is_plain=True)


def _made(kinds: frozenset[type], made_of: Callable[[Any], Any], write: Callable[[Any], Any]) -> _Codec:
    """Return the codec of a value that *made_of* makes from JSON of these *kinds*."""

    def read(value: Any) -> Any:
        if type(value) not in kinds:
            raise _wrong_kind(value, kinds)
        try:
            return made_of(value)
        except (ValueError, OverflowError) as error:
            raise MalformedRecord(f"cannot be read: {error}") from None

    return _Codec(kinds, read, write)


def _literal(allowed: Sequence[Any]) -> _Codec:
    kinds, known = frozenset(map(type, allowed)), frozenset(allowed)

    def read(value: Any) -> Any:
        if type(value) not in kinds:
            raise _wrong_kind(value, kinds)
        if value not in known:
            raise MalformedRecord(f"has to be one of {', '.join(map(repr, allowed))}, and is {value!r}")
        return value

    return _Codec(kinds, read)


def _takes_all(item: _Codec, values: Iterable[Any]) -> bool:
    """Return whether all *values* are of a kind that is used as it is."""
    return item.read is None or (item.is_plain and item.kinds is not None and item.kinds.issuperset(map(type, values)))


def _array(item: _Codec, origin: Any) -> _Codec:
    _, read_item, write_item, records, _ = item

    def read(values: Any) -> Any:
        if type(values) is not list:
            raise _wrong_kind(values, _ARRAY)
        found = values
        if read_item is not None and not _takes_all(item, values):
            found = []
            try:
                for value in values:
                    found.append(read_item(value))  # their number is the index of an invalid one
            except MalformedRecord as error:
                raise error.inside(f"[{len(found)}]") from None
        return tuple(found) if origin is tuple else found

    def write(values: Any) -> list[Any]:
        return list(values) if write_item is None else [write_item(value) for value in values]

    found = None if records is None else lambda values: (one for value in values for one in records(value))
    return _Codec(_ARRAY, read, None if origin is list and write_item is None else write, found)


def _tuple(items: Sequence[_Codec]) -> _Codec:
    """Return the codec of a tuple whose elements have the codecs *items*, without records."""
    are_alike = all(item == items[0] or (item.is_plain and item.kinds == items[0].kinds) for item in items)

    def read(values: Any) -> Any:
        if type(values) is not list:
            raise _wrong_kind(values, _ARRAY)
        if len(values) != len(items):
            raise MalformedRecord(f"has to have {len(items)} items, and has {len(values)}")
        if are_alike and _takes_all(items[0], values):
            return tuple(values)
        found: list[Any] = []
        try:
            for item, value in zip(items, values, strict=True):
                found.append(value if item.read is None else item.read(value))
        except MalformedRecord as error:
            raise error.inside(f"[{len(found)}]") from None
        return tuple(found)

    return _Codec(_ARRAY, read, list)


def _mapping(item: _Codec, key: Any, origin: Any) -> _Codec:
    """Return the codec of a mapping whose keys are integers or texts."""
    _, read_item, write_item, records, _ = item
    number = int if key is int else None

    def read(values: Any) -> Any:
        if type(values) is not dict:
            raise _wrong_kind(values, _OBJECT)
        if number is None and _takes_all(item, values.values()):
            return values
        found: dict[Any, Any] = {}
        name = ""
        try:
            for name, value in values.items():
                found[name if number is None else number(name)] = value if read_item is None else read_item(value)
        except MalformedRecord as error:
            raise error.inside(f".{name}") from None
        except ValueError:
            raise MalformedRecord(f"has the key {name!r}, which is not an integer") from None
        return found

    def write(values: Any) -> dict[str, Any]:
        if write_item is None:
            return values if number is None and type(values) is dict else {str(key): one for key, one in values.items()}
        return {str(name): write_item(one) for name, one in values.items()}

    found = None if records is None else lambda values: (one for value in values.values() for one in records(value))
    is_as_it_is = origin is dict and write_item is None and number is None
    return _Codec(_OBJECT, read, None if is_as_it_is else write, found)


def _union(members: Sequence[Any], where: str) -> _Codec:
    if _WORDS.keys() <= {get_origin(one) or one for one in members}:
        return _AS_IT_IS  # it is `JSON`
    others = [one for one in members if one is not NoneType]
    codecs = [_codec(one, where) for one in others]
    if any(one.records for one in codecs) and len(codecs) > 1:
        codec = _tagged(others, where)
    elif len(codecs) > 1:
        codec = _by_kind(codecs, where)
    else:
        codec = codecs[0]
    return _optional(codec) if NoneType in members else codec


def _optional(codec: _Codec) -> _Codec:
    kinds, read, write, records, is_plain = codec
    if kinds is None or read is None:
        return codec
    return _Codec(
        kinds | _NULL,
        lambda value: None if value is None else read(value),
        None if write is None else lambda value: None if value is None else write(value),
        None if records is None else lambda value: () if value is None else records(value),
        is_plain=is_plain,
    )


def _by_kind(codecs: Sequence[_Codec], where: str) -> _Codec:
    """Return the codec of a value whose JSON type decides which of *codecs* applies; none of them has records."""
    if any(one.write is not None or one.kinds is None for one in codecs):
        raise TypeError(f"{where}: the types cannot be distinguished")
    kinds = frozenset(kind for one in codecs for kind in one.kinds or ())
    if all(one.is_plain for one in codecs):
        return _plain(kinds)
    readers = {kind: one.read for one in codecs for kind in one.kinds or ()}

    def read(value: Any) -> Any:
        reader = readers.get(type(value))
        if reader is None:
            raise _wrong_kind(value, kinds)
        return reader(value)

    return _Codec(kinds, read)


def _tagged(classes: Sequence[Any], where: str) -> _Codec:
    """Return the codec of a record of one of *classes*."""
    if not all(isinstance(one, type) and issubclass(one, Record) for one in classes):
        raise TypeError(f"{where}: records are mixed with other values")
    by_kind = {one.KIND: one for one in classes}
    if len(by_kind) < len(classes) or "" in by_kind:
        raise TypeError(f"{where}: each class needs its own KIND")

    def read(written: Any) -> Any:
        if type(written) is not dict:
            raise _wrong_kind(written, _OBJECT)
        kind = written.get(KIND)
        cls = by_kind.get(kind) if type(kind) is str else None
        if cls is None:
            raise MalformedRecord(f"is not of one of the kinds {', '.join(map(repr, by_kind))}")
        return _read(cls, written)

    return _Codec(_OBJECT, read, lambda value: {KIND: value.KIND, **value.to_json()}, lambda value: (value,))
