"""Bodies as they are written in the media type that a service asks for."""

import json
from collections.abc import Mapping

from swf_temporal.data import JSON
from swf_temporal.functions.call import permanent_failure
from swf_temporal.functions.http.answers import is_json, split_content_type
from swf_temporal.functions.http.media_types import FORM, bytes_of, is_file, is_multipart, is_text
from swf_temporal.functions.http.multipart import multipart
from swf_temporal.functions.http.parameters import FormField, Parameter, as_text, in_query


def write_body(value: JSON, media_type: str, fields: Mapping[str, FormField] | None = None) -> tuple[bytes, str]:
    """Return a body's bytes and its content type.

    Anything can be written as JSON, objects as forms too, whose *fields* may have ways of their own, and texts as
    themselves. `{"mediaType": …, "base64": …}`, which is how an answer that is not a text looks to a workflow, is
    written as the bytes that it stands for. Raises CallFailed for what cannot be written so.
    """
    kind, charset = split_content_type(media_type)
    if is_json(kind):
        return json.dumps(value).encode(), media_type
    if kind == FORM and isinstance(value, dict):
        return _form(value, fields or {}), media_type
    if is_multipart(kind) and isinstance(value, dict):
        return multipart(value, kind, fields or {})
    if is_file(value):
        return bytes_of(value), media_type
    if isinstance(value, dict | list) and not is_text(kind):
        told = "an object" if isinstance(value, dict) else "an array"
        raise permanent_failure(
            "BadArguments", f"the body is sent as {media_type}, and cannot be {told}; give it as a text"
        )
    return _encoded(as_text(value), charset), media_type


def _form(value: Mapping[str, JSON], fields: Mapping[str, FormField]) -> bytes:
    pieces = [_piece(name, item, fields.get(name)) for name, item in value.items() if item is not None]
    # Of a space as `%20` not all services know in a form.
    return "&".join(piece for piece in pieces if piece).replace("%20", "+").encode("ascii")


def _piece(name: str, value: JSON, field: FormField | None) -> str:
    style = field.style if field else None
    if field is None or style is None:
        # An object is JSON here. Exploded, it would lose its name.
        media_type = "application/json" if isinstance(value, dict) else None
        return in_query(Parameter(name, "query", explode=True, media_type=media_type), value)
    return in_query(
        Parameter(name, "query", style=style, explode=field.explode, allow_reserved=field.allow_reserved), value
    )


def _encoded(text: str, charset: str) -> bytes:
    try:
        return text.encode(charset, "replace")
    except LookupError:
        return text.encode(errors="replace")
