"""Media types: the one for a body, those for an answer, and values that represent bytes."""

import base64
import binascii
from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.text.bodies import is_json, split_content_type

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
OCTETS = "application/octet-stream"

_TEXTS = frozenset({"application/yaml", "application/x-yaml"})
_LAST = 9


def has_fields(media_type: str) -> bool:
    """Return whether an object can be written in a media type, field by field."""
    kind = split_content_type(media_type)[0]
    return is_json(kind) or is_form(kind)


def is_multipart(kind: str) -> bool:
    """Return whether a media type is a multipart one."""
    return kind.startswith("multipart/")


def is_xml(kind: str) -> bool:
    return kind in {"application/xml", "text/xml"} or kind.endswith("+xml")


def is_text(kind: str) -> bool:
    """Return whether a media type is a text for people, but not XML."""
    return (kind.startswith("text/") and not is_xml(kind)) or kind in _TEXTS


def covers(declared: str, media_type: str) -> bool:
    """Return whether *media_type* matches *declared*, which may be a range such as `image/*`."""
    wanted, kind = split_content_type(declared)[0], split_content_type(media_type)[0]
    if "*" not in wanted:
        return wanted == kind
    main, _, sub = wanted.partition("/")
    return main in {"*", kind.partition("/")[0]} and kind.endswith(sub.lstrip("*"))


def closest(declared: Iterable[str], media_type: str) -> str | None:
    """Return the narrowest entry of *declared* that covers *media_type*; None if none does."""
    found = [entry for entry in declared if covers(entry, media_type)]
    return min(found, key=lambda entry: ("*" in entry, entry.startswith("*"), -len(entry)), default=None)


def choose(declared: Sequence[str], value: JSON) -> str:
    """Return the entry of *declared* that suits *value* best; the first of equally good ones."""
    return min(declared, key=lambda entry: _rank(split_content_type(entry)[0], value))


def concrete(declared: str, value: JSON) -> str:
    """Return the media type in which *value* is sent to a service that takes *declared*."""
    if "*" not in declared:
        return declared
    if is_file(value):
        return str(value.get("mediaType") or OCTETS)
    as_text = isinstance(value, str) and not declared.startswith("application/")
    return "text/plain" if as_text else "application/json"


def accept(declared: Iterable[str]) -> str | None:
    """Return the header Accept for the *declared* answers of an operation: JSON first, then the others in order.

    Anything else comes last, since errors often have another type. None if nothing is declared.
    """
    kinds = sorted(dict.fromkeys(declared), key=lambda entry: not is_json(split_content_type(entry)[0]))
    weighed = [f"{kind};q={max(1 - place / 10, 0.2):.1f}" if place else kind for place, kind in enumerate(kinds)]
    return ", ".join([*weighed, *(() if "*/*" in kinds else ("*/*;q=0.1",))]) if kinds else None


def _rank(kind: str, value: JSON) -> int:
    """Return the rank of a declared media type for *value*: lower is better."""
    if is_file(value):
        fits = covers(kind, str(value.get("mediaType") or OCTETS))
        order = [fits and "*" not in kind, fits, not is_json(kind) and not is_form(kind)]
    elif isinstance(value, str):
        markup = value.lstrip().startswith("<")
        order = [is_xml(kind) and markup, is_text(kind), is_json(kind), "*" in kind, not is_form(kind)]
    elif isinstance(value, dict) and _has_files(value):
        order = [is_multipart(kind), is_json(kind), "*" in kind]
    else:
        order = [is_json(kind), kind in {"*/*", "application/*"}, kind == FORM, is_multipart(kind), is_text(kind)]
    return order.index(True) if True in order else _LAST


def is_form(kind: str) -> bool:
    return kind == FORM or is_multipart(kind)


def _has_files(fields: dict[str, JSON]) -> bool:
    return any(is_file(item) for value in fields.values() for item in (value if isinstance(value, list) else [value]))


def is_file(value: JSON) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict) and isinstance(value.get("base64"), str)


def bytes_of(value: dict[str, Any]) -> bytes:
    """Return the bytes that *value* represents. Raises CallFailed if they cannot be decoded."""
    try:
        return base64.b64decode(value["base64"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise permanent_failure("BadArguments", f"'base64' does not hold base64: {error}") from error
