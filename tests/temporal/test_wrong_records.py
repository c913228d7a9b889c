"""Records that cannot be read: wrong ones are refused or dropped, and those of a later release left to that."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.client import (
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleSpec,
    ScheduleState,
    WorkflowFailureError,
    WorkflowUpdateFailedError,
)
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from swf_temporal import simulate
from swf_temporal.base.errors import NewerRecord, UsageError
from swf_temporal.events.routing import mailbox_id
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import schedules
from swf_temporal.temporal.call_records import CallRecord, call_of
from swf_temporal.temporal.constants import MEMO
from swf_temporal.temporal.endings import EndingRecord, Endings
from swf_temporal.temporal.mailbox_records import MAILBOX, TAKE
from swf_temporal.temporal.place_records import PLACES
from swf_temporal.temporal.publishing import DELAYED_EVENT
from swf_temporal.temporal.records import Pin, Pinned, pinned
from swf_temporal.temporal.variable_claims import ClaimedVariables
from swf_temporal.temporal.variables import TYPE, TemporalVariables
from tests.temporal.building import awaits, consumed, inject
from tests.temporal.conftest import Bench, calling, define, failed_task, failed_tasks, failure_of, named, told_in
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
        handle = await worker.start_awaiting("paid")
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


NEWER: dict[str, Any] = {"format": 99}
OTHER: dict[str, Any] = {"colour": "blue"}
CALL_RECORD: dict[str, Any] = {"function": {"name": "f"}, "source": ""}
VARIABLE_RECORD: dict[str, Any] = {"content": "eA==", "mimeType": "text/plain"}
DELAYED: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "s", "type": "t"}
INJECTING = define(inject("a", {"x": 1}))


def read_call(record: Any) -> Any:
    return call_of(CallRecord.from_json(record), activity_id="a", state="a")


@pytest.mark.parametrize(
    ("read", "record"),
    [
        (Pin.from_json, {}),
        (lambda progress: Pin.from_json({"progress": progress}), {}),
        (read_call, CALL_RECORD),
        (Variable.from_json, VARIABLE_RECORD),
        (EndingRecord.from_json, {"how": "completed"}),
    ],
    ids=["pin", "progress", "call", "variable", "ending"],
)
def test_a_higher_format_is_refused(read: Callable[[Any], Any], record: dict[str, Any]) -> None:
    """What it says may not be passed over, and so nothing is made of it; what is unknown beside may."""
    read({**record, **OTHER})
    with pytest.raises(NewerRecord, match="99, is newer than this release of swf-temporal can read"):
        read({**record, **NEWER})


def test_a_higher_semantics_number_is_refused() -> None:
    with pytest.raises(NewerRecord, match="semantics of a run, 99, is newer"):
        Pin.from_json({"semantics": 99})


def test_unknown_fields_of_a_pin_are_carried_on() -> None:
    """They are facts about the run; those of a definition are passed over."""
    record = Pin([Pinned("text", "name", "digest")]).to_json()
    newer = {**record, **OTHER, "definitions": [{**record["definitions"][0], "language": "x"}]}

    assert Pin.from_json(newer) == replace(Pin.from_json(record), others=OTHER)
    assert Pin.from_json(newer).to_json() == {**record, **OTHER}


@pytest.mark.parametrize(
    ("workflow_type", "record"),
    [
        ("sample", Pin(pinned([INJECTING])).to_json()),
        (MAILBOX, {}),
        (TYPE, {}),
        (PLACES, {}),
        (DELAYED_EVENT, {"event": DELAYED, "seconds": 3600}),
    ],
    ids=["pin", "mailbox", "variables", "places", "delayed event"],
)
async def test_a_workflow_waits_for_its_release(bench: Bench, workflow_type: str, record: dict[str, Any]) -> None:
    """It does not fail with a worker that is too old: its task does, and is tried again."""
    data: list[Any] = [{}] if workflow_type == "sample" else []
    async with bench.worker(INJECTING) as worker:
        known, newer = [
            await worker.begin(workflow_type, *data, {**record, **more}, workflow_id=f"{n}-{workflow_type}")
            for n, more in enumerate((OTHER, NEWER))
        ]
        assert "99, is newer than this release" in await failed_task(newer)
        assert not await failed_tasks(known)
        for handle in (known, newer):
            if (await handle.describe()).close_time is None:
                await handle.terminate()


async def test_messages_wait_for_the_release_that_can_read_them(bench: Bench) -> None:
    """What is sent to a mailbox, and what is written to a scope, stays with them until such a worker comes."""
    of = VariableRef("namespace", "formats", "v")
    async with bench.worker() as worker:
        variables = TemporalVariables(bench.client, worker.queue)
        await variables.write_variables({of: Variable(b"x", "text/plain")}, "1")
        scope = bench.handle("variables:namespace:formats")
        mailbox = await worker.begin(
            MAILBOX, workflow_id="formats-mailbox", start_signal=TAKE,
            start_signal_args=[{"subscriber": "a", "values": {}, **NEWER}],
        )  # fmt: skip
        writing = asyncio.create_task(scope.execute_update("write", {"values": {}, **NEWER}))
        for handle in (scope, mailbox):
            assert "99, is newer than this release" in await failed_task(handle)
            await handle.terminate()
        with pytest.raises(RPCError, match="aborted by closing workflow"):
            await writing


async def test_the_end_of_a_workflow_is_looked_for_by_a_release_that_knows_how(bench: Bench) -> None:
    with pytest.raises(NewerRecord, match="a wait for the end of a workflow"):
        await Endings(bench.client).ending({"id": "a", "run": "b", "since": 0.0, **NEWER})


async def test_where_variables_are_is_read_by_a_release_that_knows_the_place(bench: Bench) -> None:
    """A worker that cannot know whether it holds them where others do does not start."""
    claimed = ClaimedVariables(bench.client, "formats-claimed")
    handle = await bench.client.start_workflow(
        TYPE, None, id=claimed.marker_id, task_queue="formats-claimed", memo={"store": "temporal", **NEWER}
    )
    with pytest.raises(NewerRecord, match="where variables are held"):
        await claimed.claim()
    await handle.terminate()


async def test_facts_of_a_schedule(bench: Bench) -> None:
    facts = {"definition": "formats", "version": None, "digest": "d", "madeFrom": "m", **OTHER}
    for number, memo in enumerate((facts, {**facts, **NEWER})):
        action = ScheduleActionStartWorkflow("formats", id="formats", task_queue="formats", memo={MEMO: memo})
        schedule = Schedule(action=action, spec=ScheduleSpec(), state=ScheduleState(paused=True))
        id_ = schedules.schedule_id(f"formats-{number}")
        await bench.client.create_schedule(id_, schedule, memo={MEMO: "formats"})
    known, newer = [await schedules.describe(bench.client, f"formats-{number}") for number in range(2)]

    assert await schedules.facts_of(known) == schedules.ScheduleFacts("formats", None, "d", "m")
    with pytest.raises(NewerRecord, match="the format of a schedule's facts, 99"):
        await schedules.facts_of(newer)


async def test_what_a_worker_resolves_is_carried_on(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    written = Pin.to_json
    monkeypatch.setattr(Pin, "to_json", lambda pin: {**written(pin), **(OTHER if activity.in_activity() else {})})
    definition = define(inject("a", {"x": 1}, end={"continueAs": "again"}))
    again = define(inject("b", {"y": 1}), id="again")
    async with bench.worker(definition, again) as worker:
        handle = await swf.start_known(bench.client, "sample", workflow_id="formats-known", task_queue=worker.queue)
        assert await swf.result(handle) == {"x": 1, "y": 1}
        [started] = await told_in(bench.handle(handle), "workflow_execution_started")
    assert b'"colour":"blue"' in started.input.payloads[1].data
