"""Chains of instances that events start, each by an event that the one before it produced.

An event says how many instances stand before it, so that a chain which would never end is stopped. Counted are the
instances that were started: two that exchange events for as long as they run are no chain.
"""

from typing import Final

from swf_temporal.base.cloud_event import CloudEvent

HOPS: Final = "swfhops"
"""The extension attribute of produced events that has the length of their chain, an integer."""
_MAX_INTEGER: Final = 2**31 - 1
"""The largest integer of CloudEvents."""


def hops_of(*events: CloudEvent) -> int:
    """Return the length of the chain that leads to *events*, which start one instance together."""
    return max(map(_hops, events), default=0)


def next_hops(hops: int) -> int:
    """Return the length that an instance gives to the chains of the events which it produces."""
    return min(hops + 1, _MAX_INTEGER)


def _hops(event: CloudEvent) -> int:
    value = event.attribute(HOPS)
    if isinstance(value, str) and value.isdecimal() and value.isascii():  # in the binary mode all values are texts
        return min(int(value[: len(str(_MAX_INTEGER)) + 1]), _MAX_INTEGER)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_INTEGER else 0
