"""Expressions that their text and data do not bound, and instances that work long: replays take the same course."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from swf_temporal.base.accounting import HELPER_COST
from swf_temporal.base.data import JSON
from swf_temporal.expressions.guarding import guard
from swf_temporal.runtime import run
from swf_temporal.runtime.cycles import MAX_COST
from tests.temporal.building import inject, sleeps
from tests.temporal.conftest import Bench, define, failure_of, gives_way, replays

COUNT = "([range(120000)] | length)"
CONDITIONS = [{"condition": f"${{ {COUNT} < {number} }}", "end": True} for number in range(5)]
CHOOSING = {"name": "Choose", "type": "switch", "defaultCondition": {"transition": "Keep"}}
TEXT = {"n": f"a ${{ {COUNT} }}, ${{ {COUNT} + 1 }}"}


@pytest.fixture(autouse=True)
def _usual_limits() -> Iterator[None]:
    yield
    guard.configure(guard.EvaluationLimits())


async def test_a_replay_within_a_tenth_of_the_time_takes_the_same_course(bench: Bench) -> None:
    """What was found in time stands in the history, and so does that another expression took too long."""
    definition = define(
        {**CHOOSING, "dataConditions": CONDITIONS}, inject("Keep", TEXT), sleeps("Wait", "PT0.01S"),
        inject("Endless", {"x": "${ 1 | until(false; . + 1) }"}),
    )  # fmt: skip
    async with bench.worker(definition) as worker:
        handle = await worker.start({})
        failed = await failure_of(handle)
        assert await handle.query("data") == {"n": "a 120000, 120001"}
        history = await handle.fetch_history()

    assert "an expression ran longer than 1 s" in str(failed)
    assert failed.fault is not None
    assert (failed.fault.name, failed.fault.state) == ("ExpressionLimitExceeded", "Endless")
    evaluated = sum(event.HasField("marker_recorded_event_attributes") for event in history.events)
    assert evaluated == len(CONDITIONS) + 2 + 1
    guard.configure(guard.EvaluationLimits(seconds=0.1))
    assert await replays(history) is None


@pytest.mark.parametrize(
    ("expression", "data"),
    [
        ("${ .price *= .quantity | .price | length }", {"price": "12.50", "quantity": 100_000_000}),
        ("${ getpath(.place) = 1 | length }", {"place": ["items", 100_000_000]}),
        ("${ .new - .known | length }", {"new": [*range(20_000)], "known": [*range(20_000, 40_000)]}),
        ("${ . as $all | .known | map(. / ($all.known | add)) | length }", {"known": [*range(1, 5_000)]}),
    ],
)
async def test_what_data_make_of_an_expression_ends_a_run_that_it_would_stop(
    bench: Bench, expression: str, data: dict[str, JSON]
) -> None:
    """A limit that data lead to is a fault of the run. Taken for one of the machine, it fails tasks for ever."""
    guard.configure(guard.EvaluationLimits(seconds=0.3))
    failed = await bench.failure(define(inject("Evaluate", {"x": expression})), data)
    assert failed.name == "ExpressionLimitExceeded"


async def test_what_is_recorded_of_evaluations_counts_as_it_is_written(bench: Bench) -> None:
    """A character that is not ASCII takes six bytes in a history. A server takes no more than 4 MiB at once."""
    text = {"x": '${ [range(280) | "я" * 1000] }'}
    states = [inject(name, text, stateDataFilter={"output": "${ {} }"}) for name in "ABCDE"]
    assert await bench.run(define(*states), {}) == {}


STATES = 500


def adding(number: int) -> dict[str, Any]:
    """Return a state whose expression only jq can evaluate, and which no other has."""
    output = f"${{ {{x: ([.x, {number}] | add)}} }}"
    return inject(f"Add {number}", stateDataFilter={"output": output})


async def test_an_instance_that_is_queried_while_it_works_replays(bench: Bench) -> None:
    """It was started by its type alone; hundreds of its states are evaluated in helper processes."""
    definition = define(*map(adding, range(STATES)))
    async with bench.worker(definition) as worker:
        handle = await worker.begin(definition.id, {"x": 0}, workflow_id=f"queried-{worker.queue}")
        ending = asyncio.create_task(handle.result())
        while not ending.done():
            for query in ("status", "trace"):
                await handle.query(query)
        assert await ending == {"x": sum(range(STATES))}
        history = await handle.fetch_history()

    yields = sum(map(gives_way, history.events))
    assert yields >= STATES * HELPER_COST // MAX_COST
    assert await replays(history) is None


async def test_a_run_that_holds_too_much_fails_at_the_same_step_on_replay(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How much its data take is found out where they have grown."""
    monkeypatch.setattr(run, "STEP", 20_000)
    monkeypatch.setattr(run, "MAX_DATA_BYTES", 200_000)
    monkeypatch.setattr(run, "_OF_PAYLOAD", 0)
    states = [
        inject(f"Make {number}", stateDataFilter={"output": f'${{ .s{number} = ("{number % 10}" * 30000) }}'})
        for number in range(12)
    ]
    async with bench.worker(define(*states)) as worker:
        handle = await worker.start()
        failed = await failure_of(handle)

    assert "take more memory than the 0 MiB that a run may hold" in str(failed)
    assert failed.fault is not None
    assert (failed.fault.name, failed.fault.state) == ("PayloadTooLarge", "Make 7")
    assert await replays(await handle.fetch_history()) is None
