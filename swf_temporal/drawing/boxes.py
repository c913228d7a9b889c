"""The elements of SVG for boxes, arrows and marks.

Every box is a group with the path of its part as `data-path`, and every arrow one with `data-from` and `data-to`.
"""

from collections.abc import Iterator
from math import hypot
from typing import Final
from urllib.parse import quote

from swf_temporal.drawing.building import HEAD, ICON, INDENT, LINE, PAD
from swf_temporal.drawing.model import Arrow, Box, Icon, Line, Mark, Point, Scope
from swf_temporal.drawing.texts import width_of, xml_text

_ARROW: Final = 4.5
"""Half of the width of an arrow's head."""
_PATHS: Final[dict[Icon, str]] = {
    "call": "M2 7h9M7.5 3.5 11 7l-3.5 3.5",
    "flow": "M1.5 1.5h8v8h-8zM5 12.5h7.5V5",
    "send": "M1 3h12v8.5H1zM1 3l6 5 6-5M4 14h6",
    "wait": "M1 3h12v8.5H1zM1 3l6 5 6-5",
    "time": "M13 7A6 6 0 1 1 1 7a6 6 0 0 1 12 0zM7 3.5V7l2.5 1.5",
    "loop": "M12 7a5 5 0 1 1-1.6-3.7M12.2.8v3h-3",
    "sides": "M3.5 1.5v11M7 1.5v11M10.5 1.5v11",
    "choice": "M7 .8 13.2 7 7 13.2.8 7z",
    "data": "M5 1C2.5 1 4.5 7 2 7c2.5 0 .5 6 3 6M9 1c2.5 0 .5 6 3 6-2.5 0-.5 6-3 6",
    "undo": "M4.5 1.5 1.5 4.5l3 3M1.5 4.5H8a4 4 0 0 1 0 8H4.5",
    "error": "M3 3l8 8M11 3l-8 8",
    "check": "M1.5 7.5 5.5 11.5 12.5 3",
    "note": "M3 7h8",
}
"""Lines in a square of 14 pixels."""


def scope_svg(scope: Scope, at: Point, ids: str) -> Iterator[str]:
    """Yield the elements of *scope* at a place, with *ids* before all their ids."""
    yield f'<g transform="translate({at[0]:.1f} {at[1]:.1f})">'
    for arrow in scope.arrows:
        yield from _arrow(arrow)
    for mark in scope.marks:
        yield from _mark(mark)
    for box in scope.boxes:
        yield from _box(box, ids)
    for arrow in scope.arrows:
        yield from _arrow_label(arrow)
    yield "</g>"


def _box(box: Box, ids: str) -> Iterator[str]:
    marked = {"branch": box.kind.startswith("branch"), "undoing": box.undoes, box.status: box.status != ""}
    classes = ["part", box.icon, *(name for name, is_marked in marked.items() if is_marked)]
    place = f'transform="translate({box.at[0]:.1f} {box.at[1]:.1f})"'
    yield (
        f'<g id="{ids}part-{quote(box.path, safe="")}" data-path="{xml_text(box.path)}" class="{" ".join(classes)}"'
        f' role="graphics-object" aria-label="{xml_text(box.words)}" {place}>'
    )
    yield f"<title>{xml_text(box.words)}</title>"
    yield f'<rect class="frame" width="{box.width:.1f}" height="{box.height:.1f}" rx="8"/>'
    yield f'<path class="stripe" d="M0 8a8 8 0 0 1 5-7.4V{box.height - 0.6:.1f}A8 8 0 0 1 0 {box.height - 8:.1f}z"/>'
    yield from _drawn(box.icon, (PAD, 11))
    yield f'<text class="name" x="{PAD + ICON + 4}" y="20">{xml_text(box.title)}</text>'
    yield f'<text class="kind" x="{PAD + ICON + 4}" y="35">{xml_text(box.kind)}</text>'
    for number, line in enumerate(box.lines):
        yield from _line(line, HEAD + 6 + number * LINE)
    if box.inner is not None:
        yield from scope_svg(box.inner, box.inner_at, ids)
    yield "</g>"


def _line(line: Line, top: float) -> Iterator[str]:
    left = PAD + line.depth * INDENT
    title = f"<title>{xml_text(line.full)}</title>" if line.full != line.text else ""
    told = f' class="run {line.status}"' if line.status else ""
    yield from _drawn(line.icon, (left, top), 0.86, line.status)
    yield f'<text{told} x="{left + ICON:.1f}" y="{top + 10:.1f}">{title}{xml_text(line.text)}</text>'


def _drawn(icon: Icon, at: Point, scale: float = 1.0, status: str = "") -> Iterator[str]:
    size = "" if scale == 1 else f" scale({scale})"
    kind = f"run {status}" if status else icon
    place = f"translate({at[0]:.1f} {at[1]:.1f}){size}"
    yield f'<path class="icon {kind}" transform="{place}" d="{_PATHS[icon]}"/>'


def _arrow(arrow: Arrow) -> Iterator[str]:
    first, *others = arrow.points
    course = " ".join(f"{x:.1f},{y:.1f}" for x, y in others)
    run = "" if arrow.taken is None else " taken" if arrow.taken else " untaken"
    often = f' data-taken="{arrow.taken}"' if arrow.taken else ""
    there = "" if arrow.target is None else f' data-to="{xml_text(arrow.target)}"'
    yield (
        f'<g class="arrow on-{arrow.on}{run}" data-from="{xml_text(arrow.source)}"{there}{often} role="graphics-symbol"'
        f' aria-label="{xml_text(arrow.words)}"><title>{xml_text(arrow.words)}</title>'
        f'<path class="way" d="M{first[0]:.1f},{first[1]:.1f}C{course}"/>'
        f'<path class="head" d="{_head(arrow.points[-1], arrow.head)}"/></g>'
    )


def _head(end: Point, head: Point) -> str:
    """Return a triangle from where a curve ends to what it leads to."""
    x, y = head[0] - end[0], head[1] - end[1]
    length = hypot(x, y) or 1.0
    across, along = (-y / length * _ARROW, x / length * _ARROW)
    return (
        f"M{end[0] + across:.1f},{end[1] + along:.1f}L{head[0]:.1f},{head[1]:.1f}"
        f"L{end[0] - across:.1f},{end[1] - along:.1f}z"
    )


def _arrow_label(arrow: Arrow) -> Iterator[str]:
    if arrow.label is None:
        return
    x, y = arrow.label.at
    first = y - 14 * (len(arrow.label.lines) - 1) / 2 + 4
    yield f'<g class="on-{arrow.on}{" untaken" if arrow.taken == 0 else ""}">'
    for number, line in enumerate(arrow.label.lines):
        yield f'<text class="label" x="{x:.1f}" y="{first + 14 * number:.1f}">{xml_text(line)}</text>'
    yield "</g>"


def _mark(mark: Mark) -> Iterator[str]:
    x, y = mark.at
    words = {"start": "start", "end": "end", "terminate": "ends all paths", "continue": mark.text}[mark.kind]
    yield (
        f'<g class="mark {mark.kind}" data-from="{xml_text(mark.source)}" role="graphics-symbol"'
        f' aria-label="{xml_text(words)}" transform="translate({x:.1f} {y:.1f})"><title>{xml_text(words)}</title>'
    )
    if mark.kind == "start":
        yield '<circle class="dot" r="8"/>'
    elif mark.kind == "continue":
        width = width_of(mark.text, 11.5) + 24
        yield f'<rect class="ring" x="{-width / 2:.1f}" y="-13" width="{width:.1f}" height="26" rx="13"/>'
        yield f'<text text-anchor="middle" y="4">{xml_text(mark.text)}</text>'
    else:
        yield f'<circle class="ring" r="8"/><circle class="dot" r="{7 if mark.kind == "terminate" else 4.5}"/>'
    yield "</g>"
