"""How long lies between the attempts at a call? The specification's own examples, to the second."""

from datetime import timedelta
from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.loading import load
from swf_temporal.runtime.host import TraceKind
from swf_temporal.simulation.context import SimulationContext


def _failing(_arguments: JSON) -> JSON:
    raise CallFailed("still busy", code=503)


def _context(**retry: Any) -> SimulationContext:
    """Return a context in which one call fails for good, however often it is tried again."""
    definition = load(
        {"id": "retrying", "specVersion": "0.8", "functions": [{"name": "work", "type": "custom", "operation": "work"}],
         "retries": [{"name": "again", "maxAttempts": 5, **retry}],
         "states": [{"name": "Work", "type": "operation", "actions": [{"functionRef": "work", "retryRef": "again"}],
                     "end": True}]}
    )  # fmt: skip
    return SimulationContext([definition], {"work": _failing}, [], {})


@pytest.mark.parametrize(
    ("retry", "dealt", "delays"),
    [
        ({"delay": "PT10S", "increment": "PT2S"}, [0.5] * 4, [10, 12, 14, 16]),
        ({"delay": "PT10S", "multiplier": 2}, [0.5] * 4, [10, 20, 40, 80]),
        ({"delay": "PT10S", "multiplier": 4, "jitter": "PT1S", "maxDelay": "PT100S"}, [1, 0, 0.5, 0],
         [11, 43, 100, 100]),
    ],
)  # fmt: skip
def test_examples_of_the_specification(retry: dict[str, Any], dealt: list[float], delays: list[float]) -> None:
    """The delays that the specification names lie between the attempts, where chance deals what it supposes."""
    context = _context(**retry)
    context.jitter = lambda _key: lambda attempt: dealt[attempt - 1]
    run = context.run({})
    assert [entry.detail["delay"] for entry in run.trace if entry.kind is TraceKind.ACTION_RETRIED] == delays
    assert run.delays == tuple(("work", timedelta(seconds=delay)) for delay in delays)
    assert run.elapsed == timedelta(seconds=sum(delays))


def test_jitter_is_the_same_in_every_simulation() -> None:
    """Two simulations of one definition take the same time, jitter included."""
    first, second = (_context(delay="PT10S", jitter=0.5).run({}) for _ in range(2))
    assert first.elapsed == second.elapsed != timedelta(seconds=40)
