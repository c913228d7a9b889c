"""The forms in which operators write settings: times, sizes, rates, addresses. Each error says what is expected.

A value that has the type of the setting already, because a program made it, is used as it is.
"""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, ValidationInfo

from swf_temporal.base.calls import Function
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.function_types import operation_type
from swf_temporal.base.importing import MAX_PORT
from swf_temporal.base.strict_json import read_json
from swf_temporal.events.brokers.families import WIRES
from swf_temporal.runtime.external_activities import is_external_activity
from swf_temporal.settings.configuration import FromVariable, reading
from swf_temporal.settings.values import Address

_SCHEMES: Final = frozenset({"grpc", "grpcs", *WIRES})
_RATE: Final = re.compile(r"(?P<calls>\d+(?:\.\d+)?)\s*/\s*(?:(?P<number>\d*)\s*(?P<unit>s|m|h))")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}
_SIZE: Final = re.compile(r"(?P<number>\d+)\s*(?P<unit>b|[kmg]i?b)?")
_BYTES: Final = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate: a number of calls in a number of seconds."""

    calls: float
    seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class SharedFolder:
    """A folder that a worker shares with functions in containers, and its path for each of them."""

    worker: str
    container: str


def is_like(text: str, patterns: Iterable[str]) -> bool:
    """Return whether *text* matches one of *patterns*, in which only `*` is special and stands for any characters."""
    return any(fnmatchcase(text, one.replace("[", "[[]").replace("?", "[?]")) for one in patterns)


def _whole(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("it must be a whole number")  # noqa: TRY004 - of a type that operators do not know
    return value


def _duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    text = str(value).strip()
    try:
        length = parse_duration(text) if text.upper().startswith("P") else timedelta(seconds=float(text))
    except (ValueError, OverflowError):
        length = timedelta(0)
    if length <= timedelta(0):
        raise ValueError("it must be a number of seconds, or a duration such as PT30S")
    return length


def _size(value: object) -> int:
    match = _SIZE.fullmatch(str(value).strip().lower())
    size = int(match["number"]) * _BYTES[match["unit"] or "b"] if match else 0
    if not size:
        raise ValueError("it must be a size such as 128KiB or 256MiB")
    return size


def _address(value: object) -> Address:
    if isinstance(value, Address):
        return value
    host, _, port = str(value).strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not 0 < int(port) <= MAX_PORT:
        raise ValueError("it must be an address and a port, such as 127.0.0.1:8889")
    return Address(host, int(port))


def _address_or_port(value: object) -> Address:
    text = str(value).strip()
    try:
        return _address(value) if ":" in text else Address("", _address(f"-:{text}").port)
    except ValueError:
        raise ValueError("it must be a port, or an address and a port, such as 9090 or 127.0.0.1:9090") from None


def _rate(value: object) -> Rate:
    if isinstance(value, Rate):
        return value
    match = _RATE.fullmatch(str(value).strip())
    calls = float(match["calls"]) if match else 0.0
    seconds = int(match["number"] or 1) * _UNITS[match["unit"]] if match else 0
    if not calls or not seconds:
        raise ValueError("it must be a number of calls in a time, such as 100/s, 30/m or 5/10s")
    return Rate(calls, float(seconds))


def _share(value: object) -> float:
    try:
        share = float(str(value)) if not isinstance(value, bool) else 0.0
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise ValueError("it must be a share above 0 and up to 1, such as 0.8")
    return share


def _shared_folder(value: object) -> SharedFolder:
    if isinstance(value, SharedFolder):
        return value
    worker, colon, container = str(value).strip().partition(":")
    found = SharedFolder(worker, container if colon else worker)
    if not found.worker.startswith("/") or not found.container.startswith("/"):
        raise ValueError("it must be an absolute path, or two such as /srv/functions:/mnt/shared, the worker's first")
    return found


def _url(value: object) -> str:
    if not is_url(text := str(value).strip(), _SCHEMES):
        raise ValueError("it must be a URL such as https://orders.example.com/api or grpc://orders:50051")
    return text


def _operation(value: object) -> str:
    function = Function("", "custom", str(value).strip())
    kind = operation_type("custom")
    # An activity of Temporal is scheduled by the workflow, which knows no configuration.
    if not function.operation or is_external_activity(function) or (kind is not None and [*kind.problems(function)]):
        raise ValueError(
            "it must be a request such as rest:POST:https://greeter.example.com/greet, or a Python function such as "
            "greet or shop.functions:greet"
        )
    return str(function.operation)


def _proxy(value: object) -> str:
    if (text := str(value).strip()) and not is_url(text, {"http", "https"}):
        raise ValueError("it must be a URL such as http://proxy.example.com:3128")
    return text


def is_url(text: str, schemes: Container[str]) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in schemes and bool(parts.hostname)


def _headers(value: object) -> dict[str, str]:
    if isinstance(value, Mapping):
        given = dict(value)
    elif str(value).lstrip().startswith("{"):
        try:
            given = read_json(str(value))
        except ValueError as error:
            raise ValueError(f"it is not an object in JSON: {error}") from None
    else:
        lines = [line.partition(":") for line in str(value).splitlines() if line.strip()]
        if not all(colon for _, colon, _ in lines):
            raise ValueError("it must be lines such as 'X-Team: orders', or an object in JSON")
        given = {name.strip(): text.strip() for name, _, text in lines}
    for name, text in given.items():
        if not HEADER_NAME.fullmatch(str(name)):
            raise ValueError(f"{name!r} cannot be the name of a header")
        if not isinstance(text, str | int) or not str(text).isprintable():
            raise ValueError(f"the header '{name}' must be a text of one line")
    return {name: str(text) for name, text in given.items()}


def _names(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list | tuple) else str(value).split(",")
    return tuple(str(item).strip() for item in items if str(item).strip())


def _pairs(value: object) -> dict[str, object]:
    if isinstance(value, FromVariable):
        found = [pair.partition("=") for pair in value.split(",") if pair.strip()]
        if not all(equals for _, equals, _ in found):
            raise ValueError("it must be names and values, NAME=VALUE, with commas between")
        value = {name.strip(): FromVariable(text.strip(), value.variable) for name, _, text in found}
    if not isinstance(value, Mapping) or not all(str(name).strip() for name in value):
        raise ValueError("it must be an object, with a value for each name")
    return {str(name): text for name, text in value.items()}


def _beside(value: object, info: ValidationInfo) -> str:
    read_with, path = reading(info), str(value)
    return path if read_with is None or isinstance(value, FromVariable) else str(read_with.folder / path)


def _held(text: str, info: ValidationInfo) -> str:
    read_with = reading(info)
    return text if read_with is None or not text.startswith(("env:", "file:")) else read_with.held(text)


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), Field(coerce_numbers_to_str=True)]
"""A text that is not empty."""
WHOLE: Final = BeforeValidator(_whole)
"""Reads a whole number."""
Whole = Annotated[int, WHOLE]
Count = Annotated[Whole, Field(ge=1)]
Port = Annotated[Whole, Field(ge=1, le=MAX_PORT)]
ListenAddress = Annotated[Address, BeforeValidator(_address)]
"""The address and port at which a program listens."""
OwnAddress = Annotated[Address, BeforeValidator(_address_or_port)]
"""The same, or a port alone: the host is empty then."""
Size = Annotated[int, BeforeValidator(_size)]
"""A number of bytes, with a unit or without: `65536`, `128KiB`, `2 MB`."""
Duration = Annotated[timedelta, BeforeValidator(_duration)]
"""A length of time: a number of seconds, or ISO 8601."""
Share = Annotated[float, BeforeValidator(_share)]
"""A part of a whole: 0.8 is four fifths."""
Url = Annotated[str, BeforeValidator(_url)]
"""The URL of a service."""
Operation = Annotated[str, BeforeValidator(_operation)]
"""An operation of a custom function."""
Proxy = Annotated[str, BeforeValidator(_proxy)]
"""The URL of a proxy; an empty text means none."""
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
"""A list, or a text with commas."""
File = Annotated[str, BeforeValidator(_beside)]
"""A path, relative to the configuration, or to the current folder if it is in a variable."""
Secret = Annotated[str, AfterValidator(_held)]
"""A secret, or the variable or file that holds it."""
WORD: Final = BeforeValidator(lambda value: value.strip().lower() if type(value) in (str, FromVariable) else value)
"""Reads a word of an enumeration, ignoring case."""
RATE: Final = BeforeValidator(_rate)
"""Reads a `Rate`: `100/s`, `30/m`, `5/10s`."""
SHARED_FOLDER: Final = BeforeValidator(_shared_folder)
"""Reads a `SharedFolder`: the path of the worker, then a colon and the path in containers, if that differs."""
HEADERS: Final = BeforeValidator(_headers)
"""Reads headers: an object, also in JSON, or `Name: value` in each line."""
SPLIT: Final = BeforeValidator(lambda value: _names(value) if isinstance(value, FromVariable) else value)
"""Reads a list: with commas in a variable, as a list in a file."""
PAIRS: Final = BeforeValidator(_pairs)
"""Reads values by their names: `NAME=VALUE` with commas in a variable, an object in a file."""
