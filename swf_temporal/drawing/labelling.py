"""Labels beside their arrows.

Graphviz puts the label of an arrow in its middle, which may be a thousand pixels from where it begins, and lets other
arrows cross it. Such a label is put where its arrow begins, or as near to that as nothing else is.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, hypot
from typing import Final, TypeAlias

from swf_temporal.drawing.model import Point

Rectangle: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom."""
Label: TypeAlias = tuple[float, float]
"""Its width and its height, with some space around the text."""

_FAR: Final = 160.0
"""How far along its arrow a label may be without being moved, and"""
_ASIDE: Final = 12.0
"""how far from it."""
_STEP: Final = 4.0
"""The distance of points of an arrow that are looked at."""
_TRIED: Final = slice(3, 150, 3)
"""Of these points, those at which a label is tried: further away it would not be looked for."""
_SIDES: Final = ((1, 0), (-1, 0), (1, -1), (1, 1), (-1, -1), (-1, 1), (0, -1), (0, 1))
_CELL: Final = 32.0
_TOUCHING: Final = 1.0
"""By how much a label may lie on something."""


def settled(
    width: float,
    height: float,
    nodes: Sequence[Rectangle],
    curves: Sequence[Sequence[Point]],
    labels: Sequence[tuple[Label, Point] | None],
) -> list[Point | None]:
    """Return the middles of the labels of *curves*, given those that they have, each with its size.

    No label is moved out of the picture, nor onto a node, a label or an arrow; without such a place it stays.
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
    """Return the rectangle of that size."""
    return middle[0] - width / 2, middle[1] - height / 2, middle[0] + width / 2, middle[1] + height / 2


def meet(one: Rectangle, other: Rectangle) -> bool:
    """Tell whether a part of a rectangle lies on another."""
    across = one[0] < other[2] - _TOUCHING and other[0] < one[2] - _TOUCHING
    return across and one[1] < other[3] - _TOUCHING and other[1] < one[3] - _TOUCHING


def holds(one: Rectangle, point: Point) -> bool:
    """Tell whether a point is within a rectangle, and not at its edge."""
    across = one[0] + _TOUCHING < point[0] < one[2] - _TOUCHING
    return across and one[1] + _TOUCHING < point[1] < one[3] - _TOUCHING


def distance(one: Rectangle, point: Point) -> float:
    """Return how far a point is from a rectangle; nothing if it is within."""
    return hypot(max(one[0] - point[0], 0, point[0] - one[2]), max(one[1] - point[1], 0, point[1] - one[3]))


def points_along(curve: Sequence[Point]) -> Iterator[Point]:
    """Yield points of Bézier curves, as an arrow has them, a few pixels apart."""
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
    """Tell whether a label is far from its arrow, or from where that begins."""
    aside, place = min((distance(label, point), number) for number, point in enumerate(line))
    return aside > _ASIDE or place * _STEP > _FAR


def _beside(line: Sequence[Point], width: float, height: float) -> Iterator[Point]:
    """Yield middles of a label that touches an arrow, at one side or with one corner, from where the arrow begins."""
    for x, y in line[_TRIED]:
        yield from ((x + across * width / 2, y + down * height / 2) for across, down in _SIDES)


def _by_cell(lines: Sequence[Sequence[Point]]) -> dict[tuple[int, int], list[Point]]:
    found: dict[tuple[int, int], list[Point]] = defaultdict(list)
    for line in lines:
        for x, y in line:
            found[int(x // _CELL), int(y // _CELL)].append((x, y))
    return found


def _is_crossed(cells: dict[tuple[int, int], list[Point]], place: Rectangle) -> bool:
    """Tell whether an arrow runs through a place, its own included."""
    across = range(int(place[0] // _CELL), int(place[2] // _CELL) + 1)
    down = range(int(place[1] // _CELL), int(place[3] // _CELL) + 1)
    return any(holds(place, point) for x in across for y in down for point in cells.get((x, y), ()))
