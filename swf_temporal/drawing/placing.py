"""The places of nodes and edges, found by Graphviz, which the extra `drawing` brings along.

Graphviz is given numbers and sizes alone, never a text of a definition. It lets no other thread run
meanwhile, which it would not bear.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from swf_temporal.base.errors import UsageError
from swf_temporal.drawing.labelling import around, settled
from swf_temporal.drawing.model import Point

_POINTS: Final = 72
"""Of an inch, in which Graphviz has sizes. A point is a pixel here."""
_MANY: Final = 120
"""Of nodes: with more, places are good enough sooner, and edges are straight. The best ones could take minutes."""
_MANY_EDGES: Final = 150
"""The same of edges, of which 240 between 80 nodes took 40 seconds."""
_MAX_PLACED: Final = 800
"""Of nodes and edges that stand together. With more jumps the time grows without bound."""
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
    """From a node to a node, by their numbers."""

    source: int
    target: int
    label: Size | None = None
    weight: int = 1
    """How much it matters that it is short and straight."""


@dataclass(frozen=True, slots=True)
class Course:
    """Where an edge runs: the points of Bézier curves, its head, and the middle of its label."""

    points: tuple[Point, ...]
    head: Point
    label: Point | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """Where nodes have their middles, and how edges run, in their orders; and the size of all."""

    size: Size
    nodes: tuple[Point, ...]
    edges: tuple[Course, ...]


def place(nodes: Sequence[Size], edges: Sequence[Edge]) -> Placed:
    """Return places from top to bottom. Raises UsageError if Graphviz is not installed, or is given too much."""
    if len(nodes) + len(edges) > _MAX_PLACED and len(edges) > len(nodes) * 1.1:
        message = f"{len(nodes)} states and ends with {len(edges)} ways between them are too many for a picture"
        raise UsageError(message, "divide the definition into sub-workflows")
    try:
        from pygraphviz import AGraph  # noqa: PLC0415 - only those who draw have it
    except ImportError:
        raise UsageError(
            "drawing needs a library that is not installed", "install it with: pip install 'swf-temporal[drawing]'"
        ) from None
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
    """Return points, which Graphviz counts from the bottom, as those of a picture, which begins at the top."""
    pairs = (pair.split(",") for pair in written.split())
    return [(float(x), height - float(y)) for x, y in pairs]
