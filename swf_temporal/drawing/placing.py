"""The layout of nodes and edges by Graphviz, which the extra `drawing` installs.

Graphviz is only given numbers and sizes, never text from a definition. It is not thread-safe, and holds the GIL while
it works.

Graphviz puts the label of an arrow in its middle, which may be a thousand pixels from its start, and lets other
arrows cross it. Such a label is moved to the start of its arrow, or to the nearest free position.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, hypot
from typing import Any, Final, TypeAlias

from swf_temporal.base.errors import MissingExtra, UsageError
from swf_temporal.drawing.model import Point

Rectangle: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom."""
Label: TypeAlias = tuple[float, float]
"""Width and height, including some space around the text."""

_FAR: Final = 160.0
"""A label that is further along its arrow than this is moved."""
_ASIDE: Final = 12.0
"""A label that is further from its arrow than this is moved."""
_STEP: Final = 4.0
"""The distance between two examined points of an arrow."""
_TRIED: Final = slice(3, 150, 3)
"""The examined points at which a label is tried; further away it would be hard to find."""
_SIDES: Final = ((1, 0), (-1, 0), (1, -1), (1, 1), (-1, -1), (-1, 1), (0, -1), (0, 1))
_CELL: Final = 32.0
_TOUCHING: Final = 1.0
"""The overlap that is tolerated."""


def settled(
    width: float,
    height: float,
    nodes: Sequence[Rectangle],
    curves: Sequence[Sequence[Point]],
    labels: Sequence[tuple[Label, Point] | None],
) -> list[Point | None]:
    """Return improved positions of *labels*, which belong to *curves*; sizes and positions (middles) are given.

    No label is moved out of the picture, nor onto a node, a label or an arrow; if there is no free position, it stays.
    """
    lines = [list(points_along(one)) for one in curves]
    cells = _by_cell(lines)
    taken = [None if one is None else around(one[1], *one[0]) for one in labels]
    found = [None if one is None else one[1] for one in labels]

    def is_free(number: int, place: Rectangle) -> bool:
        return (
            place[0] >= 0
            and place[1] >= 0
            and place[2] <= width
            and place[3] <= height
            and not _is_crossed(cells, place)
            and not any(meet(place, one) for one in nodes)
            and not any(one is not None and meet(place, one) for at, one in enumerate(taken) if at != number)
        )

    for number, (label, line) in enumerate(zip(labels, lines, strict=True)):
        now = taken[number]
        if label is None or now is None or not (_is_away(now, line) or _is_crossed(cells, now)):
            continue
        for middle in _beside(line, *label[0]):
            place = around(middle, *label[0])
            if is_free(number, place):
                found[number], taken[number] = middle, place
                break
    return found


def around(middle: Point, width: float, height: float) -> Rectangle:
    """Return the rectangle of that size around *middle*."""
    return middle[0] - width / 2, middle[1] - height / 2, middle[0] + width / 2, middle[1] + height / 2


def meet(one: Rectangle, other: Rectangle) -> bool:
    """Return True if two rectangles overlap."""
    across = one[0] < other[2] - _TOUCHING and other[0] < one[2] - _TOUCHING
    return across and one[1] < other[3] - _TOUCHING and other[1] < one[3] - _TOUCHING


def holds(one: Rectangle, point: Point) -> bool:
    """Return True if a point is inside a rectangle, and not at its edge."""
    across = one[0] + _TOUCHING < point[0] < one[2] - _TOUCHING
    return across and one[1] + _TOUCHING < point[1] < one[3] - _TOUCHING


def distance(one: Rectangle, point: Point) -> float:
    """Return the distance of a point from a rectangle; zero if it is inside."""
    return hypot(max(one[0] - point[0], 0, point[0] - one[2]), max(one[1] - point[1], 0, point[1] - one[3]))


def points_along(curve: Sequence[Point]) -> Iterator[Point]:
    """Yield points along the Bézier curves of an arrow, a few pixels apart."""
    for start in range(0, len(curve) - 1, 3):
        control = curve[start : start + 4]
        length = sum(hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(control))
        steps = max(1, ceil(length / _STEP))
        for step in range(steps + 1):
            t = step / steps
            shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            yield (
                sum(share * x for share, (x, _) in zip(shares, control, strict=True)),
                sum(share * y for share, (_, y) in zip(shares, control, strict=True)),
            )


def _is_away(label: Rectangle, line: Sequence[Point]) -> bool:
    """Return True if a label is far from its arrow, or from the start of its arrow."""
    aside, place = min((distance(label, point), number) for number, point in enumerate(line))
    return aside > _ASIDE or place * _STEP > _FAR


def _beside(line: Sequence[Point], width: float, height: float) -> Iterator[Point]:
    """Yield positions of a label that touches its arrow with a side or a corner, from the start of the arrow."""
    for x, y in line[_TRIED]:
        yield from ((x + across * width / 2, y + down * height / 2) for across, down in _SIDES)


def _by_cell(lines: Sequence[Sequence[Point]]) -> dict[tuple[int, int], list[Point]]:
    found: dict[tuple[int, int], list[Point]] = defaultdict(list)
    for line in lines:
        for x, y in line:
            found[int(x // _CELL), int(y // _CELL)].append((x, y))
    return found


def _is_crossed(cells: dict[tuple[int, int], list[Point]], place: Rectangle) -> bool:
    """Return True if an arrow, its own included, runs through a rectangle."""
    across = range(int(place[0] // _CELL), int(place[2] // _CELL) + 1)
    down = range(int(place[1] // _CELL), int(place[3] // _CELL) + 1)
    return any(holds(place, point) for x in across for y in down for point in cells.get((x, y), ()))


_POINTS: Final = 72
"""Points per inch, the unit of sizes in Graphviz. One point is one pixel here."""
_MANY: Final = 120
"""With more nodes, the layout is less exact, and edges are straight. The best layout could take minutes."""
_MANY_EDGES: Final = 150
"""The same limit for edges: 240 between 80 nodes took 40 seconds."""
_MAX_PLACED: Final = 800
"""The maximum number of nodes and edges, except of a near-linear graph. With more jumps, the time grows unbounded."""
_SPACE: Final = (
    'TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" FIXEDSIZE="TRUE"',
    "<TR><TD></TD></TR></TABLE>",
)


@dataclass(frozen=True, slots=True)
class Size:
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between two nodes, by their numbers."""

    source: int
    target: int
    label: Size | None = None
    weight: int = 1
    """How important it is that the edge is short and straight."""


@dataclass(frozen=True, slots=True)
class Course:
    """The route of an edge: the points of Bézier curves, its head, and the middle of its label."""

    points: tuple[Point, ...]
    head: Point
    label: Point | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A layout: its size, the middles of nodes, and the routes of edges, in their given orders."""

    size: Size
    nodes: tuple[Point, ...]
    edges: tuple[Course, ...]


def place(nodes: Sequence[Size], edges: Sequence[Edge]) -> Placed:
    """Return a layout from top to bottom. Raises UsageError if Graphviz is missing, or the graph is too large."""
    if len(nodes) + len(edges) > _MAX_PLACED and len(edges) > len(nodes) * 1.1:
        message = f"{len(nodes)} states and ends with {len(edges)} ways between them are too many for a picture"
        raise UsageError(message, "divide the definition into sub-workflows")
    try:
        from pygraphviz import AGraph  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise MissingExtra("drawing", "drawing", "pygraphviz") from None
    graph = AGraph(string="\n".join(_written(nodes, edges)))
    graph.layout("dot")
    _, _, width, height = map(float, graph.graph_attr["bb"].split(","))
    middles = tuple(_points(graph.get_node(f"n{number}").attr["pos"], height)[0] for number in range(len(nodes)))
    courses = tuple(
        _course(graph.get_edge(f"n{one.source}", f"n{one.target}", f"e{number}").attr, height)
        for number, one in enumerate(edges)
    )
    size = Size(width, height)
    if not _are_many(nodes, edges):
        courses = _labelled(size, nodes, middles, edges, courses)
    return Placed(size, middles, courses)


def _are_many(nodes: Sequence[Size], edges: Sequence[Edge]) -> bool:
    return len(nodes) > _MANY or len(edges) > _MANY_EDGES


def _labelled(
    size: Size, nodes: Sequence[Size], middles: Sequence[Point], edges: Sequence[Edge], courses: Sequence[Course]
) -> tuple[Course, ...]:
    """Return *courses* with labels beside them."""
    labels = [
        ((edge.label.width, edge.label.height), one.label) if edge.label is not None and one.label is not None else None
        for edge, one in zip(edges, courses, strict=True)
    ]
    found = settled(
        size.width,
        size.height,
        [around(middle, node.width, node.height) for node, middle in zip(nodes, middles, strict=True)],
        [one.points for one in courses],
        labels,
    )
    return tuple(replace(one, label=label) for one, label in zip(courses, found, strict=True))


def _written(nodes: Sequence[Size], edges: Sequence[Edge]) -> Iterator[str]:
    """Yield the lines of a graph in the language of Graphviz."""
    yield "digraph {"
    yield "graph [ranksep=0.42, nodesep=0.4]"
    if _are_many(nodes, edges):
        yield "graph [nslimit=1, nslimit1=1, mclimit=0.1, splines=line]"
    yield 'node [shape=box, fixedsize=true, label=""]'
    yield "edge [arrowsize=0.9]"
    for number, node in enumerate(nodes):
        yield f"n{number} [width={node.width / _POINTS:.4f}, height={node.height / _POINTS:.4f}]"
    for number, edge in enumerate(edges):
        label = "" if edge.label is None else f", label={_label(edge.label)}"
        yield f"n{edge.source} -> n{edge.target} [key=e{number}, weight={edge.weight}{label}]"
    yield "}"


def _label(size: Size) -> str:
    table, end = _SPACE
    return f'<<{table} WIDTH="{size.width:.0f}" HEIGHT="{size.height:.0f}">{end}>'


def _course(attributes: Any, height: float) -> Course:
    first, *others = attributes["pos"].split(" ", 1)
    head = _points(first.removeprefix("e,"), height)[0]
    label = attributes["lp"]
    return Course(tuple(_points(" ".join(others), height)), head, _points(label, height)[0] if label else None)


def _points(written: str, height: float) -> list[Point]:
    """Return points of Graphviz, whose origin is at the bottom, as points of a picture, whose origin is at the top."""
    pairs = (pair.split(",") for pair in written.split())
    return [(float(x), height - float(y)) for x, y in pairs]
