"""Parses the bodies of messages and responses by their Content-Type."""

import base64
import codecs
import re
from contextlib import suppress
from encodings import normalize_encoding
from encodings.aliases import aliases
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import NotJSON, read_json, text_of

UTF_8: Final = "utf-8"
_CHARSETS: Final = frozenset(
    (
        *("ascii", "latin_1", "koi8_r", "koi8_u", "mac_roman"),
        *("utf_8", "utf_8_sig", "utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le"),
        *("big5", "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "iso2022_jp", "shift_jis"),
        *(f"cp{number}" for number in (437, 850, 866, 874, 932, 949, 950, *range(1250, 1259))),
        *(f"iso8859_{number}" for number in (*range(1, 12), *range(13, 17))),
    )
)
"""The supported charsets, by Python's names. All are decoded in linear time. Python is not asked for others, since it
would cache each unknown name."""
_PARAMETER: Final = re.compile(r';\s*([^=;\s"]+)\s*=\s*(?:"([^"]*)"|([^;]*))')
"""A pattern of parameters that matches in linear time."""


def is_charset(name: str) -> bool:
    known = normalize_encoding(name).lower() if name.isascii() else ""
    return aliases.get(known, known) in _CHARSETS


def content_type_of(value: str) -> tuple[str, str]:
    """Return the media type of a Content-Type in lower case, and its charset, by default `utf-8`."""
    media_type, _, _ = value.partition(";")
    named = (each[2] or each[3] or "" for each in _PARAMETER.finditer(value) if each[1].lower() == "charset")
    return media_type.strip().lower(), next(named, UTF_8).strip("' ")


def decoded(content: bytes, charset: str) -> str:
    """Return *content* decoded from *charset*, which is known, without a byte order mark.

    Raises UnicodeError if it is not text in that charset.
    """
    return content.decode(charset).removeprefix("\ufeff")


def decoded_json(content: bytes, charset: str) -> str:
    """Return *content* as text that should be JSON; without another charset, UTF-16 and UTF-32 are detected, too.

    Raises NotJSON if it is not text.
    """
    if codecs.lookup(charset).name == UTF_8:
        return text_of(content)
    try:
        return decoded(content, charset)
    except UnicodeError:
        raise NotJSON(f"it is not text in {charset}") from None


def encoded(text: str, charset: str) -> bytes:
    """Return *text* encoded in *charset*, which is known. Raises UnicodeError for characters that it lacks."""
    return text.encode(charset)


_TEXTS: Final = frozenset({"application/xml", "application/yaml", "application/javascript", "application/x-yaml"})


def read_answer(content: bytes, content_type: str) -> JSON:
    """Return a response as JSON.

    JSON is parsed, text becomes a string, an empty body null, and anything else, including text that is not valid in
    its charset, `{"mediaType": …, "base64": …}`. A response without a Content-Type is JSON if it can be parsed,
    else text. Raises ValueError for malformed JSON.
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
    """Return the response of an error; if its body does not match its Content-Type, it is returned as text."""
    try:
        return read_answer(content, content_type)
    except ValueError:
        return _text_or_bytes(content, *split_content_type(content_type))


def split_content_type(content_type: str) -> tuple[str, str]:
    """Return the media type in lower case, and the charset: `utf-8` if it is missing or unknown."""
    media_type, charset = content_type_of(content_type)
    return media_type, charset if is_charset(charset) else UTF_8


def is_json(media_type: str) -> bool:
    """Return whether a media type is JSON, or a format written in JSON."""
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
