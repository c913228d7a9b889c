"""The bodies of messages and answers as JSON, by their Content-Type."""

import base64
from contextlib import suppress
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import NotJSON, read_json
from swf_temporal.text.charsets import UTF_8, content_type_of, decoded, decoded_json, is_charset

_TEXTS: Final = frozenset({"application/xml", "application/yaml", "application/javascript", "application/x-yaml"})


def read_answer(content: bytes, content_type: str) -> JSON:
    """Return an answer as JSON.

    JSON is read, text is a string, nothing is null, anything else is `{"mediaType": …, "base64": …}`, as is what is
    no text in its charset. An answer that does not say what it is counts as JSON if it reads as such, else as text.
    Raises ValueError for broken JSON.
    """
    media_type, charset = split_content_type(content_type)
    if not content:
        return None
    if is_json(media_type):
        value: JSON = read_json(decoded_json(content, charset))
        return value
    if not media_type:
        return _untyped(content)
    if media_type.startswith("text/") or media_type in _TEXTS or media_type.endswith("+xml"):
        return _text_or_bytes(content, media_type, charset)
    return _binary(content, media_type)


def read_error_answer(content: bytes, content_type: str) -> JSON:
    """Return the answer that came with an error; one that breaks its own rules is still shown, as text."""
    try:
        return read_answer(content, content_type)
    except ValueError:
        return _text_or_bytes(content, *split_content_type(content_type))


def split_content_type(content_type: str) -> tuple[str, str]:
    """Return the media type in small letters, and the charset: `utf-8` if none is given, or one that is not known."""
    media_type, charset = content_type_of(content_type)
    return media_type, charset if is_charset(charset) else UTF_8


def is_json(media_type: str) -> bool:
    """Tell whether a media type is JSON, or a format written in JSON."""
    return media_type in {"application/json", "text/json"} or media_type.endswith("+json")


def _untyped(content: bytes) -> JSON:
    with suppress(NotJSON):
        value: JSON = read_json(content)
        return value
    return _text_or_bytes(content, "application/octet-stream", UTF_8)


def _text_or_bytes(content: bytes, media_type: str, charset: str) -> JSON:
    try:
        return decoded(content, charset)
    except UnicodeError:
        return _binary(content, media_type)


def _binary(content: bytes, media_type: str) -> JSON:
    return {"mediaType": media_type, "base64": base64.b64encode(content).decode("ascii")}
