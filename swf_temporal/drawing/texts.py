"""The size of texts in a picture, their shortening, and how they are written in XML.

The fonts of those who look are not known: widths are those of a wide font, so that a text fits in the others, too.
"""

import re
from collections.abc import Iterator
from html import escape
from itertools import accumulate
from typing import Final
from unicodedata import combining, east_asian_width

_WIDTHS: Final = {
    **dict.fromkeys("ijlI|.,:;'!`", 0.34),
    **dict.fromkeys('ft()[]{}-/\\ "r', 0.42),
    **dict.fromkeys("mwMWOQ@%—…→", 0.92),
    **dict.fromkeys("ABCDEFGHKLNPRSTUVXYZ&=<>+#~$", 0.72),
}
"""In ems, where they are not `_USUAL`."""
_USUAL: Final = 0.62
_BOLD: Final = 1.1
_EXPRESSION: Final = re.compile(r"\$\{\s*([^{}]*?)\s*\}")


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width in pixels of *text* in a font of *size* pixels."""
    return size * (_BOLD if bold else 1) * sum(map(_ems, text))


def cut(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """Return *text* in one line of at most *width* pixels, with an ellipsis where something is left out."""
    text = shown(text)
    if width_of(text, size, bold=bold) <= width:
        return text
    room = width - width_of("…", size, bold=bold)
    reached = accumulate(width_of(character, size, bold=bold) for character in text)
    return text[: sum(one <= room for one in reached)].rstrip() + "…"


def wrapped(text: str, width: float, size: float, most: int) -> Iterator[str]:
    """Yield *text* in at most *most* lines of at most *width* pixels, broken between words where that is possible."""
    words = shown(text).split(" ")
    while words:
        count = 1
        while count < len(words) and width_of(" ".join(words[: count + 1]), size) <= width:
            count += 1
        if most == 1:
            count = len(words)
        yield cut(" ".join(words[:count]), width, size)
        most, words = most - 1, words[count:]


def shown(text: str) -> str:
    """Return *text* in a line, expressions without what encloses them, and what has no shape as a question mark."""
    plain = _EXPRESSION.sub(r"\1", " ".join(text.split()))
    return "".join(character if character.isprintable() else "�" for character in plain)


def xml_text(text: str) -> str:
    """Return *text* for XML, which has no control characters."""
    text = " ".join(text.split())
    return escape("".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text))


def _ems(character: str) -> float:
    if combining(character):
        return 0.0
    return 1.05 if east_asian_width(character) in "WF" else _WIDTHS.get(character, _USUAL)
