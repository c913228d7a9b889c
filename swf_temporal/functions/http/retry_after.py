"""After how many seconds does a service want to be asked again? It says so in the header `Retry-After` (RFC 9110)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def seconds_to_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that *headers* ask for, or None if they do not, or not in a way that can be read.

    A date is compared with the service's own clock, where that is told, and else with *now*.
    """
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdecimal():
        return float(text)
    moment = _date(text)
    if moment is None:
        return None
    return max(0.0, (moment - (_date(headers.get("date", "")) or now)).total_seconds())


def _date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
