"""A picture of a definition: boxes, marks and arrows with their places. Lengths are pixels of a picture in full size.

Places in a scope are relative to its upper left corner.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

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
