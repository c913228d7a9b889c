"""What is not JSON reaches no instance, and is refused with the words in which a simulation refuses it."""

import json
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowUpdateFailedError
from temporalio.common import RawValue

from swf_temporal import simulate
from swf_temporal.base.errors import UsageError
from swf_temporal.temporal import client as swf
from tests.temporal.building import awaits, consumed, inject
from tests.temporal.conftest import Bench, calling, define, failure_of

DEFINITION = define(inject("Work", {"done": True}))
NOT_JSON: list[Any] = [b"text", [object()], {"n": float("nan")}, {1: "a"}, {"a": object()}]


async def test_an_input_is_refused_before_anything_starts(bench: Bench) -> None:
    """The client says what a simulation says."""
    async with bench.worker(DEFINITION) as worker:
        for value in NOT_JSON:
            with pytest.raises(UsageError) as refused:
                await worker.start(value)
            simulated = simulate(DEFINITION, value)
            assert simulated.error is not None
            assert refused.value.message == simulated.error.message


def raw(text: str) -> RawValue:
    return RawValue(Payload(metadata={"encoding": b"json/plain"}, data=text.encode()))


async def test_numbers_that_json_does_not_have_fail_the_run(bench: Bench) -> None:
    """Another client may write NaN, which Python reads: the run fails as in simulation."""
    value: Any = {"n": [float("nan")]}
    simulated = simulate(DEFINITION, value)
    async with bench.worker(DEFINITION) as worker:
        handle = await worker.begin(DEFINITION.id, raw(json.dumps(value)), workflow_id="numbers", result_type=None)
        failed = await failure_of(handle)
    assert simulated.error is not None
    assert failed.fault is not None
    assert (failed.fault.name, failed.fault.message) == ("WrongInput", simulated.error.message)


async def test_events_are_refused_before_they_are_sent(bench: Bench) -> None:
    async with bench.worker(DEFINITION) as worker:
        for value in NOT_JSON:
            event = {"type": "go", "source": "s", "data": value}
            with pytest.raises(UsageError, match=r"\.data"):
                await worker.start({}, events=[event])
            with pytest.raises(UsageError, match=r"\.data"):
                await swf.send_event(bench.client, "nobody", event)
            with pytest.raises(UsageError, match="is not JSON"):
                await swf.send_data(bench.client, "nobody", "go", value)


@pytest.mark.parametrize("data", ['{"v":1e400}', r'{"v":"\ud83d"}', '{"v":1,"v":2}', "[NaN]", "{v}"])
async def test_what_others_send_to_an_instance(bench: Bench, data: str) -> None:
    """An update is refused. A signal is not taken, which stands in the trace, and the instance waits on."""
    definition = define(awaits("wait", "paid"), events=consumed("paid", source="bank"))
    async with bench.worker(definition) as worker:
        handle = await worker.start()
        await worker.awaiting(handle, "paid")
        await handle.signal("paid", raw(data))
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await handle.execute_update("deliver", raw(f'{{"name":"paid","data":{data}}}'))
        trace = await swf.query(bench.client, handle.id, "trace")
        await handle.signal("paid", {"amount": 1})

        assert await handle.result() == {"amount": 1}
    assert "takes CloudEvents, and this is not JSON: " in str(refused.value.cause)
    [entry] = [one for one in trace if one["kind"] == "event-refused"]
    assert entry["name"] == "paid"
    assert entry["detail"]["reason"].startswith("it does not carry a JSON value: ")


@pytest.mark.parametrize("value", [10**5000, float("inf"), "\ud83d"], ids=["digits", "infinite", "half"])
async def test_a_result_that_cannot_be_written_fails_the_call_once(bench: Bench, value: Any) -> None:
    """Whatever performs the call may return it: the fault is caught by its code, and nothing is called again."""
    definition = define(
        calling("work", "f", onErrors=[{"errorRef": "not JSON", "end": True}]),
        functions=("f",),
        errors=[{"name": "not JSON", "code": "NotJSON"}],
    )
    async with bench.worker(definition, f=lambda _: value) as worker:
        await worker.run()

        assert [name for name, *_ in worker.scripted.calls] == ["f"]
