"""How is a body written in the media type that a service asks for?"""

import base64
import binascii
import json
from urllib.parse import urlencode

import httpx

from swf_temporal.data import JSON
from swf_temporal.functions.answers import is_json, split_content_type
from swf_temporal.functions.call import refusal
from swf_temporal.functions.operations import FORM, MULTIPART
from swf_temporal.functions.parameters import as_text


def write_body(value: JSON, media_type: str) -> tuple[bytes, str]:
    """Return a body's bytes and its content type.

    Objects can be written as JSON and as forms, texts as themselves; `{"mediaType": …, "base64": …}`, which
    is how an answer that is no text looks to a workflow, is written as the bytes that it stands for.
    """
    kind, _ = split_content_type(media_type)
    if is_json(kind):
        return json.dumps(value).encode(), media_type
    if kind == FORM and isinstance(value, dict):
        fields = {key: _field(item) for key, item in value.items() if item is not None}
        return urlencode(fields, doseq=True, errors="replace").encode(), media_type
    if kind == MULTIPART and isinstance(value, dict):
        return _multipart(value)
    if isinstance(value, dict) and isinstance(value.get("base64"), str):
        return _bytes(value), media_type
    return as_text(value).encode(errors="replace"), media_type


def _field(value: JSON) -> str | list[str]:
    return [as_text(item) for item in value] if isinstance(value, list) else as_text(value)


def _multipart(fields: dict[str, JSON]) -> tuple[bytes, str]:
    parts: list[tuple[str, tuple[str | None, bytes, str | None]]] = []
    for name, value in fields.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict) and isinstance(item.get("base64"), str):
                media_type = as_text(item.get("mediaType", "application/octet-stream"))
                parts.append((name, (as_text(item.get("fileName", name)), _bytes(item), media_type)))
            elif isinstance(item, dict):
                parts.append((name, (None, json.dumps(item).encode(), "application/json")))
            elif item is not None:
                parts.append((name, (None, as_text(item).encode(errors="replace"), None)))
    # httpx knows how to write the parts; the URL is never used.
    encoded = httpx.Request("POST", "http://localhost/", files=parts)
    return encoded.read(), encoded.headers["content-type"]


def _bytes(value: dict[str, JSON]) -> bytes:
    try:
        return base64.b64decode(as_text(value["base64"]), validate=True)
    except binascii.Error as error:
        raise refusal("BadArguments", f"'base64' does not hold base64: {error}") from error
