"""Definitions that compute for long, on a worker with all its limits: each run ends with its output.

The worker has a process of its own, since those of other tests do without the SDK's deadlock detector.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from swf_temporal.temporal.server import local_server
from tests import sampling
from tests.hostile.cases import action, computing, flow, put, switch
from tests.hostile.costs import counting
from tests.hostile.running import Hostile, hostile_worker

pytestmark = [
    pytest.mark.temporal,
    pytest.mark.timeout(900),  # on a busy machine a second of processor time is a minute
]
TASK_SECONDS: Final = 4
"""Seconds that the expressions may take, together, that a run has evaluated in one workflow task."""


@pytest.fixture(scope="module")
async def hostile() -> AsyncIterator[Hostile]:
    async with local_server() as server, hostile_worker(server.client) as hostile:
        yield hostile


async def output(hostile: Hostile, definition: Any, data: Any) -> Any:
    """Run *definition* to its end, which a run does not come to whose steps meet the deadlock detector whenever tried.

    On a busy machine one may meet it now and then: how long a step takes there says nothing of the run.
    """
    handle = await hostile.begin(definition, data)
    return await handle.result()


async def test_conditions_of_which_each_takes_some_time(hostile: Hostile) -> None:
    seconds, count = 0.15, 28
    slow, _ = await asyncio.to_thread(counting, seconds)
    assert seconds * count > TASK_SECONDS
    choice = switch([*[f"{slow} < 0"] * (count - 1), f"{slow} > 0"])
    choice["dataConditions"][-1] = {"condition": choice["dataConditions"][-1]["condition"], "transition": "Last"}
    ended = await output(hostile, flow(choice, put({"chosen": "the last"}, "Last")), {})
    assert ended == {"chosen": "the last"}


async def test_expressions_that_take_nearly_what_one_may(hostile: Hostile) -> None:
    seconds, count = 0.4, 10
    slow, numbers = await asyncio.to_thread(counting, seconds)
    assert seconds * count >= TASK_SECONDS
    definition = flow(computing(*[f"(.sum // 0) + ({slow})"] * count, into=".sum"))
    assert await output(hostile, definition, {}) == {"sum": numbers * count}


async def test_thousands_of_expressions(hostile: Hostile) -> None:
    count = sampling.count(1_000, 4_000)
    added = [f"[.sum // 0, {number}] | map(. + 0) | add" for number in range(count)]
    definition = flow(computing(*added, into=".sum"))
    assert await output(hostile, definition, {}) == {"sum": count * (count - 1) // 2}


async def test_thousands_of_branches(hostile: Hostile) -> None:
    count = sampling.count(1_000, 3_000)
    argument = "${ [.a] | map(. + 1) | .[0] }"
    branches = [
        {"name": f"b{number}", "actions": [action({"v": [number, argument]}, f".b{number}")]} for number in range(count)
    ]
    definition = flow({"name": "Many", "type": "parallel", "branches": branches})
    expected = {"a": 7, **{f"b{number}": [number, 8] for number in range(count)}}
    ended = await output(hostile, definition, {"a": 7})
    assert json.dumps(ended, sort_keys=True) == json.dumps(expected, sort_keys=True)
