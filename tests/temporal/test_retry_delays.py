"""How long does the server wait between the attempts at a call, as the called service sees it?"""

import asyncio
from itertools import pairwise
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.serverless_workflow.execution.retries import rule_of
from swf_temporal.languages.serverless_workflow.model.definitions import Retry
from swf_temporal.runtime.retrying import jitter_of
from tests.temporal.building import operation
from tests.temporal.conftest import Bench, define

TICK = 0.002
"""In seconds: how far the clocks of the server and of this process may be apart."""


RETRIES: list[tuple[dict[str, Any], list[float] | None]] = [
    ({"delay": "PT0.10S", "increment": "PT0.02S"}, [0.10, 0.12, 0.14, 0.16]),
    ({"delay": "PT0.10S", "multiplier": 2}, [0.10, 0.20, 0.40, 0.80]),
    ({"delay": "PT0.10S", "increment": "PT0.02S", "multiplier": 2}, [0.1, 0.24, 0.52, 1.08]),
    ({"delay": "PT0.10S", "multiplier": 4, "jitter": "PT0.01S", "maxDelay": "PT1S"}, None),
]


async def test_delays_as_the_service_sees_them(bench: Bench) -> None:
    """No attempt comes before its time: the specification's examples, a hundred times as fast."""
    times: dict[int, list[float]] = {number: [] for number in range(len(RETRIES))}
    definitions = [
        define(
            operation("Work", {"functionRef": {"refName": "work", "arguments": number}, "retryRef": "again"}),
            functions=("work",), retries=[{"name": "again", "maxAttempts": 5, **retry}], id=f"retry-{number}",
        )
        for number, (retry, _) in enumerate(RETRIES)
    ]  # fmt: skip

    def work(number: Any) -> JSON:
        times[number].append(asyncio.get_running_loop().time())
        raise CallFailed("still busy", code=503)

    async with bench.worker(*definitions, work=work) as worker:
        await asyncio.gather(*(worker.failure(definition=number) for number in times))

    keys = {number: key for _, number, key, _ in worker.scripted.calls if isinstance(number, int)}
    for number, (retry, delays) in enumerate(RETRIES):
        gaps = [later - earlier for earlier, later in pairwise(times[number])]
        expected = delays or _jittered({"name": "again", "maxAttempts": 5, **retry}, key=keys[number])
        assert all(gap >= least - TICK for gap, least in zip(gaps, expected, strict=True))


def _jittered(written: dict[str, Any], key: str) -> list[float]:
    rule = rule_of(Retry.model_validate(written), auto_retries=False, retryable=(), non_retryable=())
    assert rule is not None
    delays = [rule.delay_after(attempt, jitter_of(key)) for attempt in range(1, 5)]
    return [delay.total_seconds() for delay in delays if delay is not None]
