"""The interval in which a start is active in the draft of May 2020 (section "Schedule Definition").

A run that begins outside of it does nothing. The draft does not say from when a duration alone, or a duration before an
end, is counted: it is counted from the start of the run, so that only the end is a limit.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from swf_temporal.base.calendars.moments import InvalidTime, parse_time
from swf_temporal.base.durations import parse_duration

_HINT = "such as 2020-03-20T09:00:00Z/2020-03-20T15:00:00Z"


class BadWindow(ValueError):  # noqa: N818 - named for what it is about
    """Invalid interval. The message is the end of a sentence that begins with the text."""

    hint = _HINT


@dataclass(frozen=True, slots=True)
class Window:
    """The interval in which a start is active; None means no limit."""

    start: datetime | None = None
    end: datetime | None = None

    def holds(self, moment: datetime) -> bool:
        return (self.start is None or self.start <= moment) and (self.end is None or moment < self.end)


@lru_cache(maxsize=1024)
def window_of(interval: str) -> Window:
    """Return the window that *interval* describes. Raises BadWindow."""
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
    """Return True if a start with *interval* is active at *moment*; a start without one always is."""
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
    # A time without an offset has no known time zone: it is read as UTC.
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
