"""A picture of a definition: boxes, marks and arrows with their positions. Lengths are in pixels at full size.

Positions in a scope are relative to its upper left corner.

The viewer's fonts are not known: text widths are computed for a wide font, so that text also fits in others.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from typing import Final, Literal, NamedTuple, TypeAlias
from unicodedata import combining, east_asian_width
from urllib.parse import urlencode

Icon: TypeAlias = Literal[
    "call", "flow", "send", "wait", "time", "loop", "sides", "choice", "data", "undo", "error", "check", "note"
]
"""The subject of a state, or of a line in it."""

MarkKind: TypeAlias = Literal["start", "end", "terminate", "continue"]

Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in a box."""

    text: str
    icon: Icon
    full: str
    """The text before it was shortened."""
    depth: int = 0
    """The level of indentation."""
    status: str = ""
    """The status of the part, in a line about a run."""


@dataclass(frozen=True, slots=True)
class Label:
    """The text at an arrow; its position is the middle of the left edge."""

    lines: tuple[str, ...]
    at: Point


@dataclass(frozen=True, slots=True)
class Arrow:
    """A way out of a box: Bézier curves through points, which follow the first one as in SVG's `C`."""

    on: str
    """When it is taken, as in `outline.Way.on`."""
    source: str
    """The path of the part that it leaves; empty for the start of a scope."""
    target: str | None
    """The path of the part that it leads to; None for the end."""
    words: str
    """Its full description."""
    points: tuple[Point, ...]
    head: Point
    label: Label | None = None
    taken: int | None = None
    """How often a run took it; None without a run."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The start or an end of a scope; its position is the middle."""

    kind: MarkKind
    at: Point
    source: str = ""
    """The path of the part after which it ends."""
    text: str = ""
    """The text on it."""


@dataclass(frozen=True, slots=True)
class Box:
    """A part of a definition; its position is the upper left corner."""

    path: str
    name: str
    kind: str
    """The language's name for it."""
    icon: Icon
    at: Point
    width: float
    height: float
    title: str
    """Its name as drawn, shortened if necessary."""
    words: str
    """Its full description, for screen readers."""
    lines: tuple[Line, ...] = ()
    undoes: bool = False
    """True if it compensates another part."""
    inner: "Scope | None" = None
    """The parts that it contains."""
    inner_at: Point = (0.0, 0.0)
    """The position of the inner scope, from its own corner."""
    status: str = ""
    """Its status in a run, a `course.Status` or `unreached`; empty without a run."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Parts on one level, and the ways between them."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...] = ()
    marks: tuple[Mark, ...] = ()

    @property
    def every_box(self) -> Iterator[Box]:
        """All boxes, each before those that it contains."""
        for box in self.boxes:
            yield box
            if box.inner is not None:
                yield from box.inner.every_box


@dataclass(frozen=True, slots=True)
class Picture:
    """The drawing of a definition."""

    title: str
    subtitles: tuple[str, ...]
    scope: Scope


class EntryId(NamedTuple):
    """The identity of an entry of the traces of an instance."""

    run: str
    number: int
    """Its number in the trace of that run, from 0."""


class Addresses(NamedTuple):
    """The addresses at which what is drawn can be opened."""

    page: str
    """The path of the page that shows a step."""

    def of_part(self, path: str) -> str:
        return f"{self.page}?{urlencode({'part': path})}"

    def of_entry(self, entry: EntryId) -> str:
        return f"{self.page}?{urlencode({'run': entry.run, 'entry': entry.number})}"


def opened(address: str, words: str, at: Point, width: float, height: float) -> Iterator[str]:
    """Yield a link over an area of a picture, described by *words*, which are escaped already."""
    size = f'x="{at[0]:.1f}" y="{at[1]:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6"'
    yield f'<a class="open" href="{xml_text(address)}" aria-label="{words}"><title>{words}</title>'
    yield f'<rect {size} fill="none" pointer-events="all"/></a>'


_WIDTHS: Final = {
    **dict.fromkeys("ijlI|.,:;'!`", 0.34),
    **dict.fromkeys('ft()[]{}-/\\ "r', 0.42),
    **dict.fromkeys("mwMWOQ@%—…→", 0.92),
    **dict.fromkeys("ABCDEFGHKLNPRSTUVXYZ&=<>+#~$", 0.72),
}
"""Widths of characters in ems, where they are not `_USUAL`."""
_USUAL: Final = 0.62
_BOLD: Final = 1.1
_EXPRESSION: Final = re.compile(r"\$\{\s*([^{}]*?)\s*\}")


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width in pixels of *text* in a font of *size* pixels."""
    return size * (_BOLD if bold else 1) * sum(map(_ems, text))


def cut(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """Return *text* in one line of at most *width* pixels, ending in an ellipsis if it was cut."""
    text = shown(text)
    if width_of(text, size, bold=bold) <= width:
        return text
    room = width - width_of("…", size, bold=bold)
    reached = accumulate(width_of(character, size, bold=bold) for character in text)
    return text[: sum(one <= room for one in reached)].rstrip() + "…"


def wrapped(text: str, width: float, size: float, most: int) -> Iterator[str]:
    """Yield *text* in at most *most* lines of at most *width* pixels, broken between words if possible."""
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
    """Return *text* in one line, with expressions unwrapped and unprintable characters replaced."""
    plain = _EXPRESSION.sub(r"\1", " ".join(text.split()))
    return "".join(character if character.isprintable() else "�" for character in plain)


def xml_text(text: str) -> str:
    """Return *text* escaped for XML, without control characters."""
    text = " ".join(text.split())
    return escape("".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text))


def _ems(character: str) -> float:
    if combining(character):
        return 0.0
    return 1.05 if east_asian_width(character) in "WF" else _WIDTHS.get(character, _USUAL)
