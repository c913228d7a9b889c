"""A picture of a definition: boxes, marks and arrows with their places. Lengths are pixels of a picture in full size.

Places in a scope are relative to its upper left corner.

The fonts of those who look are not known: widths are those of a wide font, so that a text fits in the others, too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from typing import Final, Literal, TypeAlias
from unicodedata import combining, east_asian_width

Icon: TypeAlias = Literal[
    "call", "flow", "send", "wait", "time", "loop", "sides", "choice", "data", "undo", "error", "check", "note"
]
"""What a state, or a line in it, is about."""

MarkKind: TypeAlias = Literal["start", "end", "terminate", "continue"]

Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in a box."""

    text: str
    icon: Icon
    full: str
    """What *text* is a shortened form of."""
    depth: int = 0
    """How far it is indented."""
    status: str = ""
    """Of a line that tells of a run: what became of the part."""


@dataclass(frozen=True, slots=True)
class Label:
    """The text at an arrow; its place is the middle of the left edge."""

    lines: tuple[str, ...]
    at: Point


@dataclass(frozen=True, slots=True)
class Arrow:
    """A way out of a box: curves through points, as SVG's `C` takes them after the first."""

    on: str
    """When it is taken, as `outline.Way.on` says."""
    source: str
    """The path of the part that it leaves; empty for the beginning of a scope."""
    target: str | None
    """The path of the part that it leads to; None for the end."""
    words: str
    """All that there is to say of it."""
    points: tuple[Point, ...]
    head: Point
    label: Label | None = None
    taken: int | None = None
    """How often a run took it; None without a run."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The beginning of a scope, or an end; its place is the middle."""

    kind: MarkKind
    at: Point
    source: str = ""
    """The path of the part after which it ends."""
    text: str = ""
    """What stands on it."""


@dataclass(frozen=True, slots=True)
class Box:
    """A part of a definition; its place is the upper left corner."""

    path: str
    name: str
    kind: str
    """What it is, in the word of the language."""
    icon: Icon
    at: Point
    width: float
    height: float
    title: str
    """Its name as it is drawn, shortened if need be."""
    words: str
    """All that there is to say of it, for screen readers."""
    lines: tuple[Line, ...] = ()
    undoes: bool = False
    """Whether it is there to undo another."""
    inner: "Scope | None" = None
    """The parts that it holds."""
    inner_at: Point = (0.0, 0.0)
    """Where they begin, from its own corner."""
    status: str = ""
    """What became of it in a run, as `course.Status` says, or `unreached`; nothing without a run."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Parts that stand together, and the ways between them."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...] = ()
    marks: tuple[Mark, ...] = ()

    @property
    def every_box(self) -> Iterator[Box]:
        """All boxes, each before those that it holds."""
        for box in self.boxes:
            yield box
            if box.inner is not None:
                yield from box.inner.every_box


@dataclass(frozen=True, slots=True)
class Picture:
    """A definition as it is drawn."""

    title: str
    subtitles: tuple[str, ...]
    scope: Scope


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
