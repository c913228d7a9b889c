"""The values of `format` that a `validate` state checks: those that Direktiv's engine checked, as strictly as it did.

Any other format is ignored, and a value that is not a string matches every format.
"""

import re
from collections.abc import Callable
from datetime import date, time
from email.headerregistry import HeaderRegistry
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from swf_temporal.expressions.patterns import BadPattern, compiled

if TYPE_CHECKING:
    from jsonschema import FormatChecker

_LABEL: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HOSTNAME: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_MAX_HOSTNAME: Final = 255
_UUID: Final = re.compile(r"[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}")
_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~0|~1)*)*")
_RELATIVE_POINTER: Final = re.compile(rf"(?:0|[1-9][0-9]*)(?:#|{_POINTER.pattern})")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME: Final = re.compile(r"(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_NOT_IN_URLS: Final = re.compile(r"[\x00-\x1f\x7f\\]|%(?![0-9a-fA-F]{2})")
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_BRACES: Final = re.compile(r"[^{}]*(?:\{[^{}]*\}[^{}]*)*")


def _is_date(text: str) -> bool:
    return _DATE.fullmatch(text) is not None and _can(date.fromisoformat, text)


def _is_time(text: str) -> bool:
    match = _TIME.fullmatch(text)
    return match is not None and _can(time.fromisoformat, f"{match[1]}{match[2] or ''}")


def _is_date_time(text: str) -> bool:
    day, separator, clock = text.partition("T")
    if not separator:
        return _is_date(text) or _is_time(text)
    has_offset = clock.endswith("Z") or re.search(r"[+-]\d\d:\d\d$", clock) is not None
    return has_offset and _is_date(day) and _is_time(clock)


def _is_email(text: str) -> bool:
    try:
        header: Any = HeaderRegistry()("to", text)
        (address,) = header.addresses
    except Exception:  # noqa: BLE001 - the library's parser raises whatever comes, of texts that are not addresses
        return False
    return not header.defects and bool(address.username and address.domain)


def _is_address(text: str, separator: str) -> bool:
    return separator in text and "%" not in text and _can(ip_address, text)


def _is_reference(text: str) -> bool:
    if _NOT_IN_URLS.search(text):
        return False
    if ":" in text.partition("/")[0] and not _SCHEME.match(text):
        return False
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return " " not in parts.netloc


def _is_regex(text: str) -> bool:
    try:
        compiled(text)
    except BadPattern:
        return False
    return True


FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "date": _is_date,
    "time": _is_time,
    "date-time": _is_date_time,
    "hostname": lambda text: _HOSTNAME.fullmatch(text) is not None and len(text) <= _MAX_HOSTNAME,
    "email": _is_email,
    "idn-email": _is_email,
    "ipv4": lambda text: _is_address(text, "."),
    "ipv6": lambda text: _is_address(text, ":"),
    "uri": lambda text: _SCHEME.match(text) is not None and _is_reference(text),
    "uri-reference": _is_reference,
    "iri": lambda text: _SCHEME.match(text) is not None and _is_reference(text),
    "iri-reference": _is_reference,
    "uri-template": lambda text: _is_reference(text) and _BRACES.fullmatch(text) is not None,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
    "regex": _is_regex,
    "json-pointer": lambda text: _POINTER.fullmatch(text) is not None,
    "relative-json-pointer": lambda text: _RELATIVE_POINTER.fullmatch(text) is not None,
}
"""For each format, a function that says whether a text has it."""


@cache
def format_checker() -> "FormatChecker":
    """Return the checker of formats for a validator of JSON Schemas."""
    from jsonschema import FormatChecker  # noqa: PLC0415 - heavy, and seldom needed

    checker = FormatChecker(formats=())
    for name, has_format in FORMATS.items():
        checker.checks(name)(_of_texts(has_format))
    return checker


def _of_texts(has_format: Callable[[str], bool]) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, str) or has_format(value)


def _can(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True
