"""Request bodies, encoded in the media type that a service asks for."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import httpx

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.http.media_types import (
    FORM,
    MULTIPART,
    OCTETS,
    bytes_of,
    is_file,
    is_form,
    is_multipart,
    is_text,
)
from swf_temporal.functions.http.parameters import FormField, Parameter, as_text, in_query
from swf_temporal.text.bodies import encoded, is_json, split_content_type


def write_body(value: JSON, media_type: str, fields: Mapping[str, FormField] | None = None) -> tuple[bytes, str]:
    """Return a body's bytes and its content type.

    Anything can be written as JSON, objects also as forms, whose *fields* may have their own encodings, and texts as
    they are. `{"mediaType": …, "base64": …}`, a workflow's representation of an answer that is not a text, is written
    as the bytes that it represents. Raises CallFailed for a value that the media type does not allow.
    """
    kind, charset = split_content_type(media_type)
    if is_json(kind):
        return write_json(value).encode(), media_type
    if is_file(value) and not (is_form(kind) and fields and "base64" in fields):
        if is_form(kind):
            message = f"the body is sent as {kind}, whose fields have names; give the bytes under the name of a field"
            raise permanent_failure("BadArguments", message)
        return bytes_of(value), media_type
    if kind == FORM and isinstance(value, dict):
        return _form(value, fields or {}), media_type
    if is_multipart(kind) and isinstance(value, dict):
        return _multipart(value, kind, fields or {})
    if isinstance(value, dict | list) and not is_text(kind):
        kind_of_value = "an object" if isinstance(value, dict) else "an array"
        raise permanent_failure(
            "BadArguments", f"the body is sent as {media_type}, and cannot be {kind_of_value}; give it as a text"
        )
    return _encoded(as_text(value), charset), media_type


def _form(value: Mapping[str, JSON], fields: Mapping[str, FormField]) -> bytes:
    pieces = [_piece(name, item, fields.get(name)) for name, item in value.items() if item is not None]
    # Not all services understand `%20` for a space in a form.
    return "&".join(piece for piece in pieces if piece).replace("%20", "+").encode("ascii")


def _piece(name: str, value: JSON, field: FormField | None) -> str:
    style = field.style if field else None
    if field is None or style is None:
        # An object is written as JSON. Exploded, it would lose its name.
        is_written = isinstance(value, dict) or (field is not None and _is_json_text(value, field))
        media_type = "application/json" if is_written else None
        return in_query(Parameter(name, "query", explode=True, media_type=media_type), value)
    return in_query(
        Parameter(name, "query", style=style, explode=field.explode, allow_reserved=field.allow_reserved), value
    )


def _encoded(text: str, charset: str) -> bytes:
    try:
        return encoded(text, charset)
    except UnicodeEncodeError as error:
        missing = f"the body is sent in {charset}, which cannot write {text[error.start]!r}"
        raise permanent_failure("BadArguments", missing) from None


_Part = tuple[str | None, bytes, str | None, Mapping[str, str]]

_PLAIN = FormField()


def _multipart(value: Mapping[str, JSON], kind: str, fields: Mapping[str, FormField]) -> tuple[bytes, str]:
    """Return the bytes and the content type of a form: a part for each field, and for each item of an array.

    Raises CallFailed for a form without parts, which no service can read.
    """
    parts: list[tuple[str, _Part]] = []
    for name, given in value.items():
        field = fields.get(name, _PLAIN)
        items = given if isinstance(given, list) else [given]
        if field.style is not None and given is not None and not any(map(is_file, items)):
            parts.extend(_styled(name, given, field))
        else:
            parts.extend((_whole(name), _part(name, item, field)) for item in items if item is not None)
    if not parts:
        raise permanent_failure(
            "BadArguments", f"the body is sent as {kind}, and has no part; give it at least one field"
        )
    # httpx knows how to write the parts; the URL is never used.
    encoded = httpx.Request("POST", "http://localhost/", files=parts)
    return encoded.read(), encoded.headers["content-type"].replace(MULTIPART, kind, 1)


def _styled(name: str, value: JSON, field: FormField) -> Iterator[tuple[str, _Part]]:
    """Yield the parts for a field with a style: as in a query, without its percent-encoding."""
    for piece in filter(None, _piece(name, value, replace(field, allow_reserved=False)).split("&")):
        key, _, text = piece.partition("=")
        yield unquote(key), (None, unquote(text).encode(), None, field.headers)


def _part(name: str, item: JSON, field: FormField) -> _Part:
    """Return a file's name, the bytes, the content type and the headers of one part."""
    headers = dict(field.headers)
    if is_file(item):
        given = item.get("headers")
        headers |= (
            {_line(key): _line(as_text(value)) for key, value in given.items()} if isinstance(given, dict) else {}
        )
        return _whole(as_text(item.get("fileName", name))), bytes_of(item), _type_of_file(item, field), headers
    declared = _first(field)
    if isinstance(item, dict | list) or _is_json_text(item, field):
        return None, write_json(item).encode(), declared or "application/json", headers
    content = as_text(item).encode(errors="replace")
    if field.is_file:
        return _whole(name), content, declared or "text/plain", headers
    return None, content, declared, headers


def _is_json_text(item: JSON, field: FormField) -> bool:
    """Return whether *item* is a text to be sent as JSON, with quotation marks. A file may be JSON already."""
    declared = _first(field)
    is_written = declared is not None and is_json(split_content_type(declared)[0])
    return isinstance(item, str) and is_written and not field.is_file


def _type_of_file(item: Mapping[str, Any], field: FormField) -> str:
    """Return the media type that a file states, or else the document."""
    own = item.get("mediaType")
    return _line(str(own)) if own else _first(field) or OCTETS


def _first(field: FormField) -> str | None:
    """Return the first media type declared for a part, leaving out ranges such as `image/*`."""
    declared = [kind.strip() for kind in (field.content_type or "").split(",")]
    return next((kind for kind in declared if kind and "*" not in kind), None)


def _whole(text: str) -> str:
    """Return *text* with a question mark for each lone surrogate, which cannot be encoded."""
    return text.encode(errors="replace").decode()


def _line(text: str) -> str:
    """Return *text* for the head of a part. Raises CallFailed if it has control characters, such as line breaks."""
    if not text.isprintable():
        raise permanent_failure(
            "BadArguments", f"the head of a part would hold {text!r}, which has a control character"
        )
    return text
