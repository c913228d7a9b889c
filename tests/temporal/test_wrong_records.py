"""What anyone may send to our workflows, or start them with: it is refused or dropped, or fails and says why."""

import asyncio
import json
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from swf_temporal import simulate
from swf_temporal.base.errors import UsageError
from swf_temporal.events.routing import mailbox_id
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.mailbox_records import MAILBOX, TAKE
from swf_temporal.temporal.place_records import PLACES
from swf_temporal.temporal.publishing import DELAYED_EVENT
from swf_temporal.temporal.records import pinned
from swf_temporal.temporal.variables import TYPE
from tests.temporal.building import awaits, consumed, inject
from tests.temporal.conftest import Bench, calling, define, failed_tasks, failure_of, named
from tests.temporal.test_event_starts import ORDER, event, output, send

EVENT: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "shop", "type": "placed"}
TEXT = {"text": "no definition", "name": "x"}

STARTING: dict[str, Any] = {"event": EVENT, "starts": True, "instance": "a"}
UNTAKEN: dict[str, Any] = {"untaken": [], "instance": "a", "run": "b"}
MESSAGES: list[Any] = [
    {}, 7, None, b"bytes", {"event": 5}, {"event": {}, "starts": True, "instance": None},
    {**STARTING, "starts": "yes", "instance": None}, {**STARTING, "instance": 5}, {**STARTING, "instance": ""},
    *({**STARTING, "definitions": one} for one in (5, [{"text": "x"}], [TEXT], [{**TEXT, "sha256": "checked"}])),
    {"event": EVENT, "starts": False, "instance": None, "values": {"order": 7}},
    {"subscriber": 5, "values": {}}, {"subscriber": "a", "values": 5}, {**UNTAKEN, "untaken": [{"event": EVENT}]},
    {**UNTAKEN, "options": {"runTimeout": 1e300}},
    {**UNTAKEN, "options": {"attributes": {"a": {"kind": "DATETIME", "value": 5}}}},
    {**UNTAKEN, "options": {"priority": {"key": -1, "fairness": None, "weight": None}}},
    {"subscriber": "a", "values": {}, "format": "new"},
]  # fmt: skip

WRONG_EVENTS: list[Any] = [
    {**EVENT, "id": None}, {"addressed": EVENT}, {**EVENT, "sub ject": "x"},
    {**EVENT, "data": 1, "data_base64": "eA=="},
]  # fmt: skip
"""In messages that have definitions, and all else that they need."""


async def test_a_mailbox_drops_what_is_no_message(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    async with bench.worker(named(ORDER)) as running:
        mailbox = mailbox_id(running.definitions[0].id, {"order": "7"})
        handle = await running.begin(
            MAILBOX, workflow_id=mailbox, start_signal=TAKE,
            start_signal_args=[{"subscriber": "nobody", "values": {"order": "other"}}],
        )  # fmt: skip
        definitions = [one.to_json() for one in pinned(running.definitions)]
        delivery: dict[str, Any] = {"starts": True, "instance": "a", "definitions": definitions}
        messages = [*MESSAGES, *({**delivery, "event": one} for one in WRONG_EVENTS)]
        for message in messages:
            await handle.signal(TAKE, message)
        await handle.signal(TAKE)
        placed, paid = event("1", "placed", "shop", "a", order=7), event("2", "paid", "bank", "b", order=7)
        [receipt] = await send(running, placed, paid)
        assert await output(bench, receipt.instance) == {"placed": "a", "paid": "b"}
        assert not await failed_tasks(handle)
        dropped = [one.getMessage() for one in caplog.records if "dropped a message" in one.getMessage()]
        assert len(dropped) == len(messages) + 1


INPUTS: dict[str, tuple[str, list[Any], str]] = {
    "a definition without a name": ("sample", [{}, {"definitions": [{"text": "x"}]}], "definitions[0] has no 'name'"),
    "definitions": ("sample", [{}, {"definitions": 5}], "definitions has to be an array, and is of the type number"),
    "events": ("sample", [{}, {"start": {"events": [{}]}}], "an event needs a text as its 'type'"),
    "numbers": ("sample", [{}, {"start": {"numbers": {"a": "b"}}}], "start.numbers.a has to be an integer"),
    "semantics": ("sample", [{}, {"semantics": "x"}], "semantics has to be an integer"),
    "format": ("sample", [{}, {"format": "x"}], "format has to be an integer"),
    "limit": ("sample", [{}, {"start": {"limit": {}}}], "start.limit has no 'seconds'"),
    "a call": ("sample", [{}, {"call": {"function": {}, "source": ""}}], "call.function has no 'name'"),
    "progress": ("sample", [{}, {"progress": {"numbers": 5}}], "progress.numbers has to be an object"),
    "a frame": ("sample", [{}, {"progress": {"frame": {"walk": 5}}}], "progress of the run cannot be read"),
    "a mailbox": (MAILBOX, [{"held": 5}], "held has to be an array"),
    "a mailbox of nothing": (MAILBOX, [5], "has to be an object, and is of the type number"),
    "variables": (TYPE, [{"held": {"a": 5}}], "held.a has to be an object"),
    "places": (PLACES, [{"held": {"a": {"run": "b"}}}], "held.a has no 'ask'"),
    "places of nothing": (PLACES, [5], "has to be an object, and is of the type number"),
    "no delayed event": (DELAYED_EVENT, [], "has to be an object, and is of the type null"),
    "a delayed event": (DELAYED_EVENT, [{"event": {}, "seconds": 1}], "an event needs a text as its 'type'"),
    "a delay": (DELAYED_EVENT, [{"event": EVENT, "seconds": 1e300}], "the input of the workflow is wrong"),
}


@pytest.mark.parametrize("case", INPUTS)
async def test_a_wrong_input_ends_the_workflow(bench: Bench, case: str) -> None:
    workflow_type, arguments, told = INPUTS[case]
    async with bench.worker(define(inject("a"))) as running:
        handle = await running.begin(workflow_type, *arguments, workflow_id=f"wrong-{running.queue}")
        async with asyncio.timeout(30):
            with pytest.raises(WorkflowFailureError) as failed:
                await handle.result()
        assert isinstance(failed.value.cause, ApplicationError)
        assert (failed.value.cause.type, told in failed.value.cause.message) == ("WrongInput", True), failed.value.cause
        assert not await failed_tasks(handle)


async def test_variables_refuse_what_is_no_record(bench: Bench) -> None:
    async with bench.worker() as running:
        handle = await running.begin(TYPE, workflow_id=f"wrong-{running.queue}")
        for written in ({}, 5, {"values": {"a": 5}}):
            with pytest.raises(WorkflowUpdateFailedError):
                await handle.execute_update("write", written)
        await handle.execute_update("write", {"values": {"a": {"content": "eA==", "mimeType": "text/plain"}}})
        assert not await failed_tasks(handle)
        await handle.terminate()


WORKING = define(inject("Work", {"done": True}))
NOT_JSON: list[Any] = [b"text", [object()], {"n": float("nan")}, {1: "a"}, {"a": object()}]


async def test_an_input_is_refused_before_anything_starts(bench: Bench) -> None:
    """The client says what a simulation says."""
    async with bench.worker(WORKING) as worker:
        for value in NOT_JSON:
            with pytest.raises(UsageError) as refused:
                await worker.start(value)
            simulated = simulate(WORKING, value)
            assert simulated.error is not None
            assert refused.value.message == simulated.error.message


def raw(text: str) -> RawValue:
    return RawValue(Payload(metadata={"encoding": b"json/plain"}, data=text.encode()))


async def test_numbers_that_json_does_not_have_fail_the_run(bench: Bench) -> None:
    """Another client may write NaN, which Python reads: the run fails as in simulation."""
    value: Any = {"n": [float("nan")]}
    simulated = simulate(WORKING, value)
    async with bench.worker(WORKING) as worker:
        handle = await worker.begin(WORKING.id, raw(json.dumps(value)), workflow_id="numbers", result_type=None)
        failed = await failure_of(handle)
    assert simulated.error is not None
    assert failed.fault is not None
    assert (failed.fault.name, failed.fault.message) == ("WrongInput", simulated.error.message)


async def test_events_are_refused_before_they_are_sent(bench: Bench) -> None:
    async with bench.worker(WORKING) as worker:
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
