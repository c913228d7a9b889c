"""Builds the picture of an outline.

Every box is a group with the path of its part as `data-path`, and every arrow is one with `data-from` and `data-to`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot
from typing import Final, Protocol
from urllib.parse import quote

from swf_temporal.drawing.course import Status
from swf_temporal.drawing.model import (
    Addresses,
    Arrow,
    Box,
    Icon,
    Label,
    Line,
    Mark,
    MarkKind,
    Picture,
    Point,
    Scope,
    cut,
    opened,
    shown,
    width_of,
    wrapped,
    xml_text,
)
from swf_temporal.drawing.outline import Outline, OutlinePart, Way, Work
from swf_temporal.drawing.placing import Course, Edge, Size, place

TEXT: Final = 11.5
"""The font size of lines and labels."""
NAME: Final = 13.5
"""The font size of names."""
LINE: Final = 17.0
"""The height of a line."""
PAD: Final = 12.0
"""The padding of a box."""
HEAD: Final = 40.0
"""The height of the name and kind in a box."""
INDENT: Final = 14.0
ICON: Final = 18.0
"""The width of an icon in a line."""

_WIDEST: Final = 300.0
"""The maximum width of the text in a box."""
_NARROWEST: Final = 96.0
_LABEL: Final = 180.0
"""The maximum width of a label."""
_LABEL_LINES: Final = 3
_BESIDE: Final = 6.0
"""The space between a label and its arrow."""
_MAX_LINES: Final = 24
"""The maximum number of lines for the work of a part."""
_MARK: Final = Size(18, 18)
_GAP: Final = 14.0
"""The space between parallel parts."""
_ROW: Final = 1100.0
"""The maximum width of a row of parallel parts."""
_TITLE: Final = 640.0
"""The maximum width of the text above a picture."""

_ICONS: Final[dict[str, Icon]] = {
    "switch": "choice", "listen": "wait", "wait": "time", "emit": "send", "fork": "sides", "for": "loop", "set": "data",
    "run": "flow", "event": "wait", "eventxor": "wait", "eventand": "wait", "eventsxor": "wait",
    "eventsand": "wait", "consumeevent": "wait", "callback": "wait", "generateevent": "send", "sleep": "time",
    "delay": "time", "parallel": "sides", "branch": "sides", "foreach": "loop", "loop": "loop", "inject": "data",
    "relay": "data", "noop": "data", "getter": "data", "setter": "data", "error": "error", "validate": "check",
    "subflow": "flow",
}  # fmt: skip
"""Icons by the languages' names for kinds of states, in lower case. All other kinds have the icon of a call."""


_STATUS_ICONS: Final[dict[Status, Icon]] = {
    "done": "check", "running": "call", "waiting": "time", "failed": "error", "undone": "undo", "stopped": "note",
}  # fmt: skip


class DrawnPart(Protocol):
    """The state of a part in one run or in several."""

    @property
    def status(self) -> Status:
        """The status that it is drawn with."""

    @property
    def lines(self) -> Iterator[tuple[Status, str]]:
        """The lines about it, each with the status that it stands for."""


class DrawnCourse(Protocol):
    """An overlay on the picture of a definition: a `Course` or a `Coverage`."""

    @property
    def parts(self) -> Mapping[str, DrawnPart]:
        """The parts that were reached, by their paths."""

    @property
    def taken(self) -> Mapping[tuple[str, int], int]:
        """How often each way was taken, by the path of its part and its number there."""


@dataclass(frozen=True, slots=True)
class _End:
    """A mark after a part for ways that do not lead to another part."""

    source: str
    words: str
    kind: MarkKind


def picture_of(
    outline: Outline, title: str, subtitles: Sequence[str] = (), course: DrawnCourse | None = None
) -> Picture:
    """Return the picture of *outline*, with *subtitles* above it and, if *course* is given, a run drawn on it.

    Raises UsageError if Graphviz is not installed.
    """
    words = [*subtitles, *_beginning(outline)]
    lines = [line for text in words for line in wrapped(text, _TITLE, TEXT, 3)]
    return Picture(cut(title, _TITLE, 18, bold=True), tuple(lines), _scope(outline.parts, course))


def _beginning(outline: Outline) -> Iterator[str]:
    """Yield lines about how an instance starts, and how long it may take."""
    if outline.schedule is not None:
        yield f"started {outline.schedule['words']}"
    if outline.remarks:
        yield ", ".join(outline.remarks)
    yield from (", ".join(one.lines) for one in outline.sections if one.title == "timeouts")


def _scope(parts: tuple[OutlinePart, ...], course: DrawnCourse | None) -> Scope:
    if not parts:
        return Scope(0, 0, ())
    numbers = {part.path: number for number, part in enumerate(parts, start=1)}
    undoing = {way.to for part in parts for way in part.ways if way.on == "compensation"}
    boxes = [_box(part, course, undoes=part.path in undoing) for part in parts]
    # Validation reports a way to a part that does not exist here; the picture leaves it out.
    ways = [(part, way) for part in parts for way in part.ways if way.to is None or way.to in numbers]
    ends = list(dict.fromkeys(_end(part, way) for part, way in ways if way.to is None))
    ends_at = {end: number for number, end in enumerate(ends, start=len(boxes) + 1)}
    labels = [_label(way) for _, way in ways]
    placed = place(
        [_MARK, *(Size(one.width, one.height) for one in boxes), *(_mark_size(end) for end in ends)],
        [
            Edge(0, 1, weight=8),
            *(
                Edge(
                    numbers[part.path],
                    ends_at[_end(part, way)] if way.to is None else numbers[way.to],
                    _label_size(label) if label else None,
                    _weight(way),
                )
                for (part, way), label in zip(ways, labels, strict=True)
            ),
        ],
    )
    first, *routes = placed.edges
    words = f"starts with {parts[0].name}"
    start = Arrow("start", "", parts[0].path, words, first.points, first.head, None, _starts(parts[0], course))
    middles = placed.nodes
    return Scope(
        placed.size.width,
        placed.size.height,
        tuple(
            replace(box, at=(x - box.width / 2, y - box.height / 2))
            for box, (x, y) in zip(boxes, middles[1 : len(boxes) + 1], strict=True)
        ),
        (start, *_arrows(parts, ways, labels, routes, course)),
        (
            Mark("start", middles[0]),
            *(
                Mark(end.kind, middle, end.source, end.words)
                for end, middle in zip(ends, middles[len(boxes) + 1 :], strict=True)
            ),
        ),
    )


def _arrows(
    parts: tuple[OutlinePart, ...],
    ways: Sequence[tuple[OutlinePart, Way]],
    labels: Sequence[tuple[str, ...]],
    routes: Sequence[Course],
    course: DrawnCourse | None,
) -> Iterator[Arrow]:
    """Yield the arrows of *ways*, with their *labels* and *routes*."""
    taken = _taken(parts, course)
    names = {part.path: part.name for part in parts}
    for (part, way), label, route in zip(ways, labels, routes, strict=True):
        there = way.end if way.to is None else names[way.to]
        words = ", ".join([f"{part.name} → {there}", *_words(way)])
        at = route.label
        text = None if at is None else Label(label, (at[0] - _label_size(label).width / 2 + _BESIDE, at[1]))
        often = None if taken is None else taken[id(way)]
        yield Arrow(way.on, part.path, way.to, words, route.points, route.head, text, often)


def _taken(parts: tuple[OutlinePart, ...], course: DrawnCourse | None) -> dict[int, int] | None:
    """Return how often each way was taken, by the `id` of the way."""
    if course is None:
        return None
    return {id(way): course.taken.get((part.path, number), 0) for part in parts for number, way in enumerate(part.ways)}


def _starts(first: OutlinePart, course: DrawnCourse | None) -> int | None:
    return None if course is None else int(first.path in course.parts)


def _end(part: OutlinePart, way: Way) -> _End:
    if way.continues_as is not None:
        return _End(part.path, cut(f"continues as {way.continues_as}", _LABEL, TEXT), "continue")
    return _End(part.path, "ends all paths" if way.terminates else "", "terminate" if way.terminates else "end")


def _mark_size(end: _End) -> Size:
    return Size(max(_MARK.width, width_of(end.words, TEXT) + 24), 26) if end.kind == "continue" else _MARK


def _weight(way: Way) -> int:
    if not way.is_usual:
        return 1
    return 6 if way.on == "completion" else 3


def _words(way: Way) -> list[str]:
    named = [way.name] if way.name else []
    return [*named, *([way.when] if way.when else []), *way.consequences]


def _label(way: Way) -> tuple[str, ...]:
    when = list(wrapped(way.name or way.when, _LABEL, TEXT, _LABEL_LINES)) if way.name or way.when else []
    return (*when, *(line for one in way.consequences for line in wrapped(one, _LABEL, TEXT, 2)))


def _label_size(lines: tuple[str, ...]) -> Size:
    return Size(max(width_of(line, TEXT) for line in lines) + 2 * _BESIDE, len(lines) * 14.0 + 6)


def _box(part: OutlinePart, course: DrawnCourse | None, *, undoes: bool = False) -> Box:
    own = None if course is None else course.parts.get(part.path)
    lines = (*_lines(part), *([] if own is None else _run_lines(own)))
    title = cut(part.name, _WIDEST, NAME, bold=True)
    kind = f"{part.kind}, {part.note}" if part.note else part.kind
    widths = [ICON + 6 + width_of(title, NAME, bold=True), ICON + 6 + width_of(kind, TEXT)]
    widths += [ICON + line.depth * INDENT + width_of(line.text, TEXT, bold=line.status != "") for line in lines]
    width, height = max(_NARROWEST, *widths) + 2 * PAD, HEAD + PAD
    height += len(lines) * LINE + (6 if lines else 0)
    inner = _inner(part, course)
    inner_at = (PAD, height - 4)
    if inner is not None:
        width, height = max(width, inner.width + 2 * PAD), height + inner.height + 8
        inner_at = ((width - inner.width) / 2, inner_at[1])
    return Box(
        path=part.path,
        name=part.name,
        kind=kind,
        icon=_ICONS.get(part.kind.lower(), "call"),
        at=(0, 0),
        width=width,
        height=height,
        title=title,
        words=". ".join([f"{part.name}, {kind}", *(line.full for line in lines)]),
        lines=lines,
        undoes=undoes,
        inner=inner,
        inner_at=inner_at,
        status="" if course is None else "unreached" if own is None else own.status,
    )


def _inner(part: OutlinePart, course: DrawnCourse | None) -> Scope | None:
    if not part.parts:
        return None
    return _side_by_side(part.parts, course) if part.is_concurrent else _scope(part.parts, course)


def _run_lines(own: DrawnPart) -> Iterator[Line]:
    for status, words in own.lines:
        yield Line(cut(words, _WIDEST, TEXT, bold=True), _STATUS_ICONS[status], shown(words), 0, status)


def _lines(part: OutlinePart) -> Iterator[Line]:
    lines = [line for work in part.work for line in _work_lines(work, 0)]
    yield from lines[:_MAX_LINES]
    if len(lines) > _MAX_LINES:
        yield _line(f"and {len(lines) - _MAX_LINES} more", "note", 0)
    for name, length in part.limits.items():
        yield _line(f"{name} {length}", "time", 0)


def _work_lines(work: Work, depth: int) -> Iterator[Line]:
    yield _line(work.words, _icon(work), depth)
    for inner in work.work:
        yield from _work_lines(inner, depth + 1)


def _line(words: str, icon: Icon, depth: int) -> Line:
    return Line(cut(words, _WIDEST - depth * INDENT, TEXT), icon, shown(words), depth)


def _icon(work: Work) -> Icon:
    if work.runs is not None:
        return "flow"
    if work.calls is not None:
        return "call"
    if work.awaits:
        return "wait"
    return "send" if work.produces else "note"


def _side_by_side(parts: tuple[OutlinePart, ...], course: DrawnCourse | None) -> Scope:
    """Return the scope of parallel parts, in rows of about the same width."""
    boxes = [_box(part, course) for part in parts]
    placed: list[Box] = []
    x = y = highest = widest = 0.0
    for box in boxes:
        if placed and x + box.width > _ROW:
            x, y, highest = 0.0, y + highest + _GAP, 0.0
        placed.append(replace(box, at=(x, y)))
        x, highest = x + box.width + _GAP, max(highest, box.height)
        widest = max(widest, x - _GAP)
    return Scope(widest, y + highest, tuple(placed))


_ARROW: Final = 4.5
"""Half of the width of an arrowhead."""
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
"""SVG paths of the icons, in a square of 14 pixels."""


def scope_svg(scope: Scope, at: Point, ids: str, addresses: Addresses | None = None) -> Iterator[str]:
    """Yield the SVG elements of *scope* at a position, with *ids* as the prefix of their ids.

    Boxes link to *addresses*.
    """
    yield f'<g transform="translate({at[0]:.1f} {at[1]:.1f})">'
    for arrow in scope.arrows:
        yield from _arrow(arrow)
    for mark in scope.marks:
        yield from _mark(mark)
    for box in scope.boxes:
        yield from _drawn_box(box, ids, addresses)
    for arrow in scope.arrows:
        yield from _arrow_label(arrow)
    yield "</g>"


def _drawn_box(box: Box, ids: str, addresses: Addresses | None) -> Iterator[str]:
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
        yield from _drawn_line(line, HEAD + 6 + number * LINE)
    if addresses is not None:
        yield from opened(addresses.of_part(box.path), xml_text(box.words), (0, 0), box.width, box.height)
    if box.inner is not None:
        yield from scope_svg(box.inner, box.inner_at, ids, addresses)
    yield "</g>"


def _drawn_line(line: Line, top: float) -> Iterator[str]:
    left = PAD + line.depth * INDENT
    title = f"<title>{xml_text(line.full)}</title>" if line.full != line.text else ""
    styled = f' class="run {line.status}"' if line.status else ""
    yield from _drawn(line.icon, (left, top), 0.86, line.status)
    yield f'<text{styled} x="{left + ICON:.1f}" y="{top + 10:.1f}">{title}{xml_text(line.text)}</text>'


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
    """Return the arrowhead: a triangle from the end of the curve to its target."""
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
