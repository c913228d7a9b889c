"""Spellings of a secret: how those who are sent it may write it when they repeat it."""

import html
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from functools import lru_cache
from html.entities import codepoint2name
from itertools import product
from typing import Final
from urllib.parse import quote, quote_plus

from swf_temporal.base.strict_json import show_json

_SAFE: Final = ("", "/", "!'()*~", "!$&'()*+,;=:@", "!$&'()*+,;=:@/?")
"""What those who encode URLs leave as it is: Python, JavaScript, and RFC 3986 in a segment and in a query."""
_MIN_INNER: Final = 12
"""The least number of characters of base64 by which a text is known that was encoded within another."""
_MIN_DIGITS, _MAX_DIGITS = 8, 300
"""The numbers of digits of a number that is known in other spellings, too."""
_BREAK: Final = re.compile(r"\r?\n[ \t]*|(?:\\+r)?\\+n")
"""The end of a line, as it is or as JSON has it."""
_ESCAPING: Final = "%&\\"
"""A text without any of these has no character escaped."""


@lru_cache(maxsize=1024)
def spellings(text: str) -> frozenset[str]:
    """Return how *text* is written where all of it is encoded in one of the usual ways."""
    content = text.encode(errors="replace")
    urls = [quote(content, safe=safe) for safe in _SAFE] + [quote_plus(content)]
    urls += [_lower_escapes(url) for url in urls] + [quote(url, safe="") for url in urls]
    contents = (content, text.encode("utf-16-le", errors="replace"))
    encoded = [encode(one).decode().rstrip("=") for encode in (b64encode, urlsafe_b64encode) for one in contents]
    quoted = (show_json(text, ensure_ascii=True)[1:-1], show_json(text)[1:-1])
    twice = [show_json(one, ensure_ascii=True)[1:-1] for one in quoted]
    shown = (repr(text)[1:-1], ascii(text)[1:-1], repr(content)[2:-1])
    xml = (html.escape(text), html.escape(text, quote=False), _numbered(html.escape(text)))
    hexadecimal = (content.hex(), content.hex().upper())
    return frozenset({text, *urls, *encoded, *quoted, *twice, *shown, *xml, *hexadecimal, *_numbers(text)})


@lru_cache(maxsize=1024)
def within_base64(text: str) -> frozenset[str]:
    """Return what base64 of a longer text has of *text* in the middle of it, wherever it begins there."""
    found = set()
    for content, before in product(
        (text.encode(errors="replace"), text.encode("utf-16-le", errors="replace")), range(3)
    ):
        encoded = b64encode(b"\0" * before + content).decode()
        whole = (before + len(content)) // 3 * 4
        inner = encoded[(before * 8 + 5) // 6 : whole]
        if len(inner) >= _MIN_INNER:
            found |= {inner, inner.replace("+", "-").replace("/", "_")}
    return frozenset(found)


def without_broken(text: str, spelling: str, hidden: str) -> str:
    """Return *text* with *hidden* for *spelling*, which is base64, where it is broken into lines."""
    if _BREAK.search(text) is None:
        return text
    return _broken(spelling).sub(hidden, text)


@lru_cache(maxsize=4096)
def _broken(spelling: str) -> re.Pattern[str]:
    return re.compile(f"(?:{_BREAK.pattern})?".join(map(re.escape, spelling)))


def without_escaped(text: str, secret: str, hidden: str) -> str:
    """Return *text* with *hidden* for *secret*, whichever of its characters are escaped, and in whichever ways."""
    if not any(sign in text for sign in _ESCAPING):
        return text
    return _tolerant(secret).sub(hidden, text)


@lru_cache(maxsize=1024)
def _tolerant(secret: str) -> re.Pattern[str]:
    return re.compile("".join(f"(?:{'|'.join(_forms(char))})" for char in secret))


def _forms(char: str) -> Iterator[str]:
    """Yield the forms of one character as regular expressions: plain, as in URLs, in XML, in JSON."""
    yield re.escape(char)
    code, encoded = ord(char), char.encode(errors="replace")
    yield "".join(f"%(?:25)*(?i:{byte:02x})" for byte in encoded)
    if char == " ":
        yield r"\+"
    yield f"&(?:amp;)*(?:#0*{code}|(?i:#x0*{code:x}));"
    if code in codepoint2name:
        yield f"&(?:amp;)*{codepoint2name[code]};"
    if char == "'":
        yield "&(?:amp;)*apos;"
    escaped = show_json(char, ensure_ascii=True)[1:-1]
    yield r"\\+" + re.escape(escaped.lstrip("\\") if len(escaped) > 1 else char)
    wide = char.encode("utf-16-be", errors="replace").hex()
    yield "".join(rf"\\+u(?i:{wide[at : at + 4]})" for at in range(0, len(wide), 4))


def _numbers(text: str) -> Iterator[str]:
    """Yield how a number is written with an exponent, and in groups of digits."""
    if len(text) < _MIN_DIGITS or not text.isdecimal() or not text.isascii() or len(text) > _MAX_DIGITS:
        return
    digits, exponent = f"{int(text):.{len(text) - 1}e}".split("e")
    for mantissa in {digits, digits.rstrip("0").rstrip(".")}:
        yield from (
            f"{mantissa}{sign}{int(exponent):{width}}" for sign in ("e+", "E+", "e", "E") for width in ("d", "02d")
        )
    yield from (f"{int(text):,}".replace(",", mark) for mark in ",._' \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}")


def _lower_escapes(url: str) -> str:
    return re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), url)


def _numbered(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode()
