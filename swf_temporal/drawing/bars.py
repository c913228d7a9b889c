"""The elements of SVG for a timeline: a bar for each span, below a scale of times."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from swf_temporal.drawing.course import clock, lasted
from swf_temporal.drawing.model import Point
from swf_temporal.drawing.texts import cut, width_of, xml_text
from swf_temporal.drawing.timeline import Row, Timeline

_ROW: Final = 20.0
_BAR: Final = 12.0
_SCALE: Final = 26.0
"""The height of the scale."""
_INDENT: Final = 14.0
_NAMES: Final = 300.0
"""The width of the names at most."""
_CHART: Final = 640.0
_AFTER: Final = 110.0
"""Of the text after a bar."""
_TEXT: Final = 11.5
_LEAST: Final = 2.0
"""The width of a bar at least."""
_STEPS: Final = (
    *(timedelta(milliseconds=one) for one in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    *(timedelta(seconds=one) for one in (1, 2, 5, 10, 15, 30)),
    *(timedelta(minutes=one) for one in (1, 2, 5, 10, 15, 30)),
    *(timedelta(hours=one) for one in (1, 2, 3, 6, 12)),
    *(timedelta(days=one) for one in (1, 2, 5, 7, 14, 30, 60, 90, 180, 365)),
)
"""Between the lines of the scale."""
_MOST_LINES: Final = 8


class Bars:
    """A timeline as it is drawn."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._length = max(timeline.ended - timeline.began, timedelta(milliseconds=1))
        names = [width_of(row.span.name, _TEXT) + row.depth * _INDENT for row in timeline.rows]
        self._names = min(_NAMES, max(names, default=0)) + 14
        left_out = _ROW if timeline.left_out else 0
        self.width = self._names + _CHART + _AFTER
        self.height = _SCALE + len(timeline.rows) * _ROW + left_out

    def svg(self, at: Point) -> Iterator[str]:
        """Yield the elements at a place."""
        yield f'<g transform="translate({at[0]:.1f} {at[1]:.1f})">'
        yield from self._scale()
        for number, row in enumerate(self._timeline.rows):
            yield from self._row(row, _SCALE + number * _ROW)
        if self._timeline.left_out:
            words = f"{self._timeline.left_out} more are not shown"
            yield f'<text class="kind" x="0" y="{self.height - 6:.1f}">{words}</text>'
        yield "</g>"

    def _scale(self) -> Iterator[str]:
        step = next((one for one in _STEPS if self._length / one <= _MOST_LINES), self._length)
        for number in range(int(self._length / step) + 1):
            passed = number * step
            x = self._names + passed / self._length * _CHART
            yield f'<path class="line" d="M{x:.1f} {_SCALE - 6}V{self.height:.1f}"/>'
            words = f"+{lasted(passed)}" if number else clock(self._timeline.began)
            yield f'<text class="kind" text-anchor="middle" x="{x:.1f}" y="10">{words}</text>'

    def _row(self, row: Row, top: float) -> Iterator[str]:
        span, left = row.span, row.depth * _INDENT
        begin = self._x(span.began)
        end = self._x(self._timeline.ended if span.ended is None else span.ended)
        took = lasted((self._timeline.ended if span.ended is None else span.ended) - span.began)
        told = xml_text(f"{span.name}: {span.words}, {clock(span.began)}, {took}")
        name = xml_text(cut(span.name, self._names - left - 10, _TEXT))
        yield (
            f'<g class="span {span.kind} {span.status}" data-path="{xml_text(span.lane)}" role="graphics-symbol"'
            f' aria-label="{told}"><title>{told}</title>'
        )
        yield f'<text x="{left:.1f}" y="{top + 13:.1f}">{name}</text>'
        width = max(_LEAST, end - begin)
        yield f'<rect class="bar" x="{begin:.1f}" y="{top + 4:.1f}" width="{width:.1f}" height="{_BAR}" rx="2"/>'
        for moment in span.retried:
            yield f'<path class="attempt" d="M{self._x(moment):.1f} {top + 2:.1f}v{_BAR + 4}"/>'
        after = f"{took}…" if span.ended is None else took
        yield f'<text class="kind" x="{begin + width + 5:.1f}" y="{top + 13:.1f}">{after}</text></g>'

    def _x(self, moment: datetime) -> float:
        return self._names + (moment - self._timeline.began) / self._length * _CHART
