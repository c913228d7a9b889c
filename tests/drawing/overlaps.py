"""What lies over what in a picture, that should not, and what is where nobody would look for it."""

from collections.abc import Iterator

from swf_temporal.drawing.building import TEXT
from swf_temporal.drawing.model import Arrow, Scope, width_of
from swf_temporal.drawing.placing import Rectangle, distance, holds, meet, points_along

_LINE = 14.0
_ASIDE = 20.0
"""How far a label may be from its arrow."""
_FAR = 600.0
"""How far along its arrow a label may be from where that begins."""


def overlaps(scope: Scope) -> list[str]:
    """Return what cannot be read well.

    Labels that lie on labels, boxes or arrows, are cut off, or are far from where their arrow begins; arrows that run
    through boxes, or out of the picture.
    """
    return [*_within(scope), *(one for box in scope.boxes if box.inner is not None for one in overlaps(box.inner))]


def _within(scope: Scope) -> Iterator[str]:
    labels = [(arrow, _label_of(arrow)) for arrow in scope.arrows if arrow.label is not None]
    boxes = [(box, (*box.at, box.at[0] + box.width, box.at[1] + box.height)) for box in scope.boxes]
    curves = {id(arrow): list(points_along(arrow.points)) for arrow in scope.arrows}
    for number, (arrow, label) in enumerate(labels):
        yield from (f"{arrow.words} on {other.words}" for other, one in labels[number + 1 :] if meet(label, one))
        yield from (f"{arrow.words} on {box.name}" for box, one in boxes if meet(label, one))
        yield from (
            f"{arrow.words} crossed by {other.words}"
            for other in scope.arrows
            if any(holds(label, point) for point in curves[id(other)])
        )
        if label[0] < 0 or label[1] < 0 or label[2] > scope.width or label[3] > scope.height:
            yield f"{arrow.words} is cut off"
        aside, place = min((distance(label, point), number) for number, point in enumerate(curves[id(arrow)]))
        if aside > _ASIDE or place * 4 > _FAR:
            yield f"{arrow.words} is {aside:.0f} beside its arrow, {place * 4} from where that begins"
    for arrow in scope.arrows:
        points = curves[id(arrow)]
        yield from (
            f"{arrow.words} through {box.name}"
            for box, one in boxes
            if box.path not in (arrow.source, arrow.target) and any(holds(one, point) for point in points)
        )
        if any(x < -1 or y < -1 or x > scope.width + 1 or y > scope.height + 1 for x, y in [*points, arrow.head]):
            yield f"{arrow.words} runs out of the picture"


def _label_of(arrow: Arrow) -> Rectangle:
    assert arrow.label is not None
    (x, y), lines = arrow.label.at, arrow.label.lines
    half = _LINE * len(lines) / 2
    return x, y - half, x + max(width_of(line, TEXT) for line in lines), y + half
