"""How much a run does before its host is given control."""

from swf_temporal.data import JSON
from swf_temporal.runtime.performing import size_of
from swf_temporal.weighing import is_at_most, json_size

_LEAST_COST, _MOST_COST, _COST_BYTES = 400, 4000, 4_000_000
"""How much is done before the host is given control: the less, the more bytes of data each expression may read.

An expression that jq evaluates on little data takes a tenth of a millisecond, and an engine waits two seconds.
"""


def most_cost(data: JSON) -> int:
    """Return how much is done in an activation whose expressions may read *data*."""
    if is_at_most(_COST_BYTES // _MOST_COST, data):  # nearly always, and much cheaper than to write it
        return _MOST_COST
    large = _COST_BYTES // _LEAST_COST
    if json_size(data, large) >= large:
        return _LEAST_COST
    return max(_LEAST_COST, min(_MOST_COST, _COST_BYTES // size_of(data)))
