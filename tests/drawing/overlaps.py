"""What lies over what in a picture, that should not."""

from collections.abc import Iterator
from typing import TypeAlias

from swf_temporal.drawing.building import TEXT
from swf_temporal.drawing.model import Arrow, Point, Scope
from swf_temporal.drawing.texts import width_of

_Rectangle: TypeAlias = tuple[float, float, float, float]
_LINE = 14.0
_STEPS = 12
"""The points of a curve that are looked at."""


def overlaps(scope: Scope) -> list[str]:
    """Return which labels lie on labels, boxes or curves, or are cut off, and which curves run through boxes."""
    return [*_within(scope), *(one for box in scope.boxes if box.inner is not None for one in overlaps(box.inner))]


def _within(scope: Scope) -> Iterator[str]:
    labels = [(arrow, _label_of(arrow)) for arrow in scope.arrows if arrow.label is not None]
    boxes = [(box, (*box.at, box.at[0] + box.width, box.at[1] + box.height)) for box in scope.boxes]
    for number, (arrow, label) in enumerate(labels):
        yield from (f"{arrow.words} on {other.words}" for other, one in labels[number + 1 :] if _meet(label, one))
        yield from (f"{arrow.words} on {box.name}" for box, one in boxes if _meet(label, one))
        yield from (
            f"{arrow.words} crossed by {other.words}"
            for other in scope.arrows
            if other is not arrow and any(_holds(label, point) for point in _curve(other))
        )
        if label[0] < 0 or label[1] < 0 or label[2] > scope.width or label[3] > scope.height:
            yield f"{arrow.words} is cut off"
    for arrow in scope.arrows:
        yield from (
            f"{arrow.words} through {box.name}"
            for box, one in boxes
            if box.path not in (arrow.source, arrow.target) and any(_holds(one, point) for point in _curve(arrow))
        )


def _label_of(arrow: Arrow) -> _Rectangle:
    assert arrow.label is not None
    (x, y), lines = arrow.label.at, arrow.label.lines
    half = _LINE * len(lines) / 2
    return x, y - half, x + max(width_of(line, TEXT) for line in lines), y + half


def _curve(arrow: Arrow) -> Iterator[Point]:
    for start in range(0, len(arrow.points) - 1, 3):
        control = arrow.points[start : start + 4]
        for step in range(_STEPS + 1):
            t = step / _STEPS
            shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            yield (
                sum(share * x for share, (x, _) in zip(shares, control, strict=True)),
                sum(share * y for share, (_, y) in zip(shares, control, strict=True)),
            )


def _holds(one: _Rectangle, point: Point) -> bool:
    return one[0] + 1 < point[0] < one[2] - 1 and one[1] + 1 < point[1] < one[3] - 1


def _meet(one: _Rectangle, other: _Rectangle) -> bool:
    return one[0] < other[2] - 1 and other[0] < one[2] - 1 and one[1] < other[3] - 1 and other[1] < one[3] - 1
