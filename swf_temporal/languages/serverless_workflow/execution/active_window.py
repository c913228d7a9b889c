"""The interval in which a start is active, as the draft of May 2020 has it (section "Schedule Definition").

A run that begins before or after does not do anything. A duration alone, and one before an end, would have to be
counted from a moment that the draft leaves open: it is taken to be the moment in which the run begins, so that only the
end limits it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from swf_temporal.base.calendars.moments import InvalidTime, parse_time
from swf_temporal.base.durations import parse_duration

_HINT = "such as 2020-03-20T09:00:00Z/2020-03-20T15:00:00Z"


class BadWindow(ValueError):  # noqa: N818 - named for what it is about
    """A text that is not an interval in which something can be active: the end of a sentence about it."""

    hint = _HINT


@dataclass(frozen=True, slots=True)
class Window:
    """The time in which a start is active; None means no limit."""

    start: datetime | None = None
    end: datetime | None = None

    def holds(self, moment: datetime) -> bool:
        return (self.start is None or self.start <= moment) and (self.end is None or moment < self.end)


@lru_cache(maxsize=1024)
def window_of(interval: str) -> Window:
    """Return when a start with *interval* is active. Raises BadWindow."""
    parts = [part.strip() for part in interval.split("/")]
    lengths = [_length(part) for part in parts]
    match parts, lengths:
        case [[_], [timedelta()]]:
            return Window()
        case [[_, end], [timedelta(), None]]:
            return Window(None, _time(end))
        case [[start, _], [None, timedelta() as length]]:
            begin = _time(start)
            try:
                return Window(begin, begin + length)
            except OverflowError:
                return Window(begin)
        case [[start, end], [None, None]]:
            window = Window(_time(start), _time(end))
            if window.start is not None and window.end is not None and window.end <= window.start:
                raise BadWindow("ends before it starts")
            return window
    raise BadWindow("is not a start and an end, one of them with a duration, or a duration alone")


def is_active(interval: str | None, moment: datetime) -> bool:
    """Tell whether a start with *interval* is active at *moment*: always, if it has none."""
    return interval is None or window_of(interval).holds(moment)


def _length(text: str) -> timedelta | None:
    if text[:1].upper() != "P":
        return None
    try:
        return parse_duration(text)
    except (ValueError, OverflowError) as error:
        raise BadWindow(f"cannot be read: {error}") from None


def _time(text: str) -> datetime:
    try:
        moment = parse_time(text)
    except InvalidTime as error:
        raise BadWindow(f"cannot be read: {error.message}") from None
    # Without an offset from UTC it cannot be known whose clocks are meant.
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
