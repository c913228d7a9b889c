"""Stored records of a later release: unknown fields are passed over, and a higher format is left to that release."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Schedule, ScheduleActionStartWorkflow, ScheduleSpec, ScheduleState
from temporalio.service import RPCError

from swf_temporal.base.errors import NewerRecord
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
from tests.temporal.building import inject
from tests.temporal.conftest import Bench, define, failed_task, failed_tasks, told_in

NEWER: dict[str, Any] = {"format": 99}
OTHER: dict[str, Any] = {"colour": "blue"}
CALL: dict[str, Any] = {"function": {"name": "f"}, "source": ""}
VARIABLE: dict[str, Any] = {"content": "eA==", "mimeType": "text/plain"}
EVENT: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "s", "type": "t"}
DEFINITION = define(inject("a", {"x": 1}))


def read_call(record: Any) -> Any:
    return call_of(CallRecord.from_json(record), activity_id="a", state="a")


@pytest.mark.parametrize(
    ("read", "record"),
    [
        (Pin.from_json, {}),
        (lambda progress: Pin.from_json({"progress": progress}), {}),
        (read_call, CALL),
        (Variable.from_json, VARIABLE),
        (EndingRecord.from_json, {"how": "completed"}),
    ],
    ids=["pin", "progress", "call", "variable", "ending"],
)
def test_a_higher_format_is_refused(read: Callable[[Any], Any], record: dict[str, Any]) -> None:
    """What it says may not be passed over, and so nothing is made of it; what is unknown beside may."""
    read({**record, **OTHER})
    with pytest.raises(NewerRecord, match="99, is newer than this release of swf-temporal knows"):
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
        ("sample", Pin(pinned([DEFINITION])).to_json()),
        (MAILBOX, {}),
        (TYPE, {}),
        (PLACES, {}),
        (DELAYED_EVENT, {"event": EVENT, "seconds": 3600}),
    ],
    ids=["pin", "mailbox", "variables", "places", "delayed event"],
)
async def test_a_workflow_waits_for_the_release_that_can_go_on_with_it(
    bench: Bench, workflow_type: str, record: dict[str, Any]
) -> None:
    """It does not fail with a worker that is too old: its task does, and is tried again."""
    data: list[Any] = [{}] if workflow_type == "sample" else []
    async with bench.worker(DEFINITION) as worker:
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
