"""What anyone may send to our workflows, or start them with: it is dropped, or they fail and say what is wrong."""

import asyncio
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from swf_temporal.events.routing import mailbox_id
from swf_temporal.temporal.mailbox_records import MAILBOX, TAKE
from swf_temporal.temporal.place_records import PLACES
from swf_temporal.temporal.publishing import DELAYED_EVENT
from swf_temporal.temporal.records import pinned
from swf_temporal.temporal.variables import TYPE
from tests.temporal.building import inject
from tests.temporal.conftest import Bench, define, events_of, named
from tests.temporal.test_event_starts import ORDER, event, output, send

EVENT: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "shop", "type": "placed"}
TEXT = {"text": "no definition", "name": "x"}

MESSAGES: list[Any] = [
    {},
    7,
    None,
    b"bytes",
    {"event": 5},
    {"event": {}, "starts": True, "instance": None},
    {"event": EVENT, "starts": "yes", "instance": None},
    {"event": EVENT, "starts": True, "instance": 5},
    {"event": EVENT, "starts": True, "instance": ""},
    {"event": EVENT, "starts": True, "instance": "a", "definitions": 5},
    {"event": EVENT, "starts": True, "instance": "a", "definitions": [{"text": "x"}]},
    {"event": EVENT, "starts": True, "instance": "a", "definitions": [TEXT]},
    {"event": EVENT, "starts": True, "instance": "a", "definitions": [{**TEXT, "sha256": "checked"}]},
    {"event": EVENT, "starts": False, "instance": None, "values": {"order": 7}},
    {"subscriber": 5, "values": {}},
    {"subscriber": "a", "values": 5},
    {"untaken": [{"event": EVENT}], "instance": "a", "run": "b"},
    {"untaken": [], "instance": "a", "run": "b", "options": {"runTimeout": 1e300}},
    {"untaken": [], "instance": "a", "run": "b", "options": {"attributes": {"a": {"kind": "DATETIME", "value": 5}}}},
    {
        "untaken": [],
        "instance": "a",
        "run": "b",
        "options": {"priority": {"key": -1, "fairness": None, "weight": None}},
    },
    {"subscriber": "a", "values": {}, "format": "new"},
]

WRONG_EVENTS: list[Any] = [
    {**EVENT, "id": None},
    {"addressed": EVENT},
    {**EVENT, "sub ject": "x"},
    {**EVENT, "data": 1, "data_base64": "eA=="},
]
"""In messages that have definitions, and all else that they need."""


async def test_a_mailbox_drops_what_is_no_message(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """It goes on with what comes then, no task of it fails, and the log has each."""
    async with bench.worker(named(ORDER)) as running:
        mailbox = mailbox_id(running.definitions[0].id, {"order": "7"})
        handle = await running.begin(
            MAILBOX,
            workflow_id=mailbox,
            start_signal=TAKE,
            start_signal_args=[{"subscriber": "nobody", "values": {"order": "other"}}],
        )
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
    """Its error is `WrongInput`, and says what is wrong; no task of it fails."""
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


async def failed_tasks(handle: WorkflowHandle[Any, Any]) -> list[str]:
    return [
        one.workflow_task_failed_event_attributes.failure.message
        for one in await events_of(handle)
        if one.HasField("workflow_task_failed_event_attributes")
    ]
