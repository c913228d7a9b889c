"""Texts in the charset that a Content-Type names, and the other way round."""

import codecs
from typing import Final

from swf_temporal.strict_json import NotJSON, text_of

UTF_8: Final = "utf-8"
_NO_CHARSETS: Final = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7"})
"""Python's codecs that are not charsets, or make halves of surrogate pairs."""


def is_charset(name: str) -> bool:
    try:
        codec = codecs.lookup(name)
        "".encode(name)  # which those of bytes refuse
    except (LookupError, ValueError):
        return False
    return codec.name not in _NO_CHARSETS


def decoded(content: bytes, charset: str) -> str:
    """Return the text that *content* is in *charset*, which is one, without a byte order mark.

    Raises UnicodeError if it is none.
    """
    return content.decode(charset).removeprefix("\ufeff")


def decoded_json(content: bytes, charset: str) -> str:
    """Return *content* as text that should be JSON: in UTF-16 or UTF-32, too, which shows where no other is named.

    Raises NotJSON if it is no text.
    """
    if codecs.lookup(charset).name == UTF_8:
        return text_of(content)
    try:
        return decoded(content, charset)
    except UnicodeError:
        raise NotJSON(f"it is not text in {charset}") from None


def encoded(text: str, charset: str) -> bytes:
    """Return *text* in *charset*, which is one. Raises UnicodeError where it has a character that is not in that."""
    return text.encode(charset)
