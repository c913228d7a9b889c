"""What is not JSON reaches no instance, and is refused with the words in which a simulation refuses it."""

from typing import Any

import pytest

from swf_temporal import simulate
from swf_temporal.errors import UsageError
from swf_temporal.temporal import client as swf
from tests.temporal.conftest import Bench, define

DEFINITION = define({"name": "Work", "type": "inject", "data": {"done": True}})
NOT_JSON = [b"text", {1, 2}, {"n": float("nan")}, {1: "a"}, {"a": object()}]


@pytest.mark.parametrize("value", NOT_JSON, ids=["bytes", "set", "nan", "key", "object"])
async def test_an_input_is_refused_before_anything_starts(bench: Bench, value: Any) -> None:
    """The client says what a simulation says."""
    simulated = simulate(DEFINITION, value)
    async with bench.worker(DEFINITION) as worker:
        with pytest.raises(UsageError) as refused:
            await worker.start(value)

    assert simulated.error is not None
    assert refused.value.message == simulated.error.message


async def test_numbers_that_json_does_not_have_fail_the_run(bench: Bench) -> None:
    """Another client may write NaN, which Python reads: the run fails as in simulation."""
    value: Any = {"n": [float("nan")]}
    simulated = simulate(DEFINITION, value)
    async with bench.worker(DEFINITION) as worker:
        handle = await bench.client.start_workflow(
            DEFINITION.id, value, id="numbers", task_queue=worker.queue, result_type=None
        )
        with pytest.raises(swf.RunEnded) as failed:
            await swf.result(handle)

    assert simulated.error is not None
    assert failed.value.fault is not None
    assert (failed.value.fault.name, failed.value.fault.message) == ("WrongInput", simulated.error.message)


@pytest.mark.parametrize("value", NOT_JSON, ids=["bytes", "set", "nan", "key", "object"])
async def test_events_are_refused_before_they_are_sent(bench: Bench, value: Any) -> None:
    """Whatever way an event goes."""
    event = {"type": "go", "source": "s", "data": value}
    async with bench.worker(DEFINITION) as worker:
        with pytest.raises(UsageError, match=r"\.data"):
            await worker.start({}, events=[event])
    with pytest.raises(UsageError, match=r"\.data"):
        await swf.send_event(bench.client, "nobody", event)
    with pytest.raises(UsageError, match="is not JSON"):
        await swf.send_data(bench.client, "nobody", "go", value)
