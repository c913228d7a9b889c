"""Expressions that their text and data do not bound: a local activity evaluates them, and no replay does."""

from collections.abc import Iterator

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.expressions.guarding import guard
from tests.temporal.building import inject, sleeps
from tests.temporal.conftest import Bench, define, failure_of, replays

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
        {**CHOOSING, "dataConditions": CONDITIONS},
        inject("Keep", TEXT),
        sleeps("Wait", "PT0.01S"),
        inject("Endless", {"x": "${ 1 | until(false; . + 1) }"}),
    )
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
