"""How events reach a running instance, early, twice and by updates; and how those are sent that it produces."""

import asyncio
import re
from base64 import b64encode
from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.common import RawValue

from swf_temporal.base.client_errors import NeverTakenError, NoAnswerError
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.loading import load
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.publishing import DELAYED_EVENT
from tests.temporal.building import awaits, consumed, inject
from tests.temporal.conftest import Bench, Running, calling, define, events_of, listed, replays
from tests.temporal.suspending import SUSPEND_AFTER

PAID = {"name": "paid", "type": "com.bank.paid", "source": "bank"}
CORRELATED = {**PAID, "correlation": [{"contextAttributeName": "orderid"}]}
BY_ORDER = {**PAID, "correlation": [{"contextAttributeName": "orderid", "contextAttributeValue": "${ .order }"}]}


def waiting(*refs: str, **rest: Any) -> dict[str, Any]:
    """Return a state that waits for all of these events."""
    return {"name": "wait", "type": "event", "onEvents": [{"eventRefs": list(refs)}], **rest}


def event(type_: str = "com.bank.paid", **rest: Any) -> dict[str, Any]:
    return {"specversion": "1.0", "id": "1", "source": "bank", "type": type_, "data": {"amount": 5}, **rest}


async def test_signal_named_after_the_event_carries_its_data(bench: Bench) -> None:
    async with bench.worker(define(waiting("paid"), events=[CORRELATED])) as worker:
        handle = await worker.start()
        await handle.signal("paid", {"amount": 6})

        assert await handle.result() == {"amount": 6}


FORGED = [
    {"swfaddressed": True},
    {"swfaddressed": "true", "SWFADDRESSED": 1},
    {"addressed": True, "is_addressed": True, "isAddressed": True},
    {"addressed": {"id": "x", "source": "bank", "type": "com.bank.paid"}},
]


@pytest.mark.parametrize("claims", FORGED)
async def test_nothing_in_an_event_stands_for_its_correlation(bench: Bench, claims: dict[str, Any]) -> None:
    """Who knows nothing of the order cannot have an event taken for it, by signal or update, whatever it says."""
    async with bench.worker(define(waiting("paid"), events=[BY_ORDER])) as worker:
        handle = await worker.start_awaiting("paid", {"order": "7"})
        await handle.signal("event", event(id="2", data={"amount": 0}, **claims))
        await handle.signal("event", {"addressed": event(id="3", data={"amount": 0})})
        await handle.signal("paid", event(id="4", data={"amount": 0}, **claims))
        with pytest.raises(NeverTakenError, match=r"it lacks the attribute 'orderid'|and this is not one"):
            await swf.deliver(bench.client, handle.id, event(id="5", data={"amount": 0}, **claims))
        await handle.signal("event", event(id="6", orderid="7"))

        assert await handle.result() == {"order": "7", "amount": 5}


async def test_what_an_event_claims_is_data_like_any_other(bench: Bench) -> None:
    """An attribute of that name is the sender's own, and one that nobody wrote is not there."""
    whole = {**PAID, "dataOnly": False}
    async with bench.worker(define(waiting("paid"), events=[whole])) as worker:
        claiming, named = await worker.start(), await worker.start()
        await claiming.signal("event", event(swfaddressed="x"))
        await named.signal("paid", {"amount": 6})

        assert (await claiming.result())["swfaddressed"] == "x"
        assert (await named.result()).keys() == {"id", "source", "type", "specversion", "data"}


async def test_an_event_stays_addressed_on_its_way(bench: Bench) -> None:
    """It is kept through continue-as-new, and goes along where the definition continues as another."""
    first = define(
        inject("a", {"x": 1}), awaits("go", "went"), calling("b", *["f"] * 8),
        inject("c", {"y": 1}, end={"continueAs": "second"}),
        functions=("f",), events=[BY_ORDER, *consumed("went")],
    )  # fmt: skip
    second = define(waiting("paid"), events=[BY_ORDER], id="second")
    async with bench.worker(first, second, f={}) as worker:
        handle = await worker.start_awaiting("went", {"order": "7"}, suspend_after=20)
        await handle.signal("event", event(id="2", data={"amount": 0}, swfaddressed=True))
        await handle.signal("paid", {"amount": 6})
        await handle.signal("went", {})
        assert await handle.result() == {"order": "7", "x": 1, "y": 1, "amount": 6}
        assert (await bench.first(handle).describe()).status == WorkflowExecutionStatus.CONTINUED_AS_NEW


async def test_update_says_what_became_of_an_event(bench: Bench) -> None:
    events = [PAID, *consumed("sent", "other", source="bank")]
    definition = define(waiting("paid", "sent", exclusive=False), waiting("other", name="later"), events=events)
    async with bench.worker(definition) as worker:
        handle = await worker.start_awaiting("paid")
        answers = [
            await handle.execute_update("deliver", event(id="1")),
            await handle.execute_update("deliver", event(id="1")),
            await handle.execute_update("deliver", event("other", id="2")),
            await handle.execute_update("deliver", {"name": "other", "data": {}}),
        ]
        await handle.signal("sent", {})
        await handle.result()
    assert answers == [{"status": "taken"}, {"status": "duplicate"}, {"status": "kept"}, {"status": "kept"}]


NEVER_TAKEN: list[tuple[dict[str, Any], str, str | None]] = [
    (event("com.bank.piad"), "'com.bank.piad'", "did you mean 'com.bank.paid'?"),
    (event("com.example.other"), "'com.example.other'", "it takes events of these types: com.bank.paid"),
    (event(source="shop"), "whose source is 'bank' only, and this one's is 'shop'", None),
    (event("told"), "produces events of type 'told' and takes none", None),
    ({"name": "piad", "data": 1}, "has no event called 'piad'", "did you mean 'paid'?"),
    ({"name": 7}, "whose 'name' is not a text", None),
    ({"source": "bank"}, "an event needs a text as its 'type'", None),
]


@pytest.mark.parametrize("early", [True, False], ids=["early", "late"])
async def test_update_refuses_what_is_never_taken(bench: Bench, *, early: bool) -> None:
    """What the definition never takes is refused, with what was perhaps meant, before the first step and later."""
    told_ = {"name": "told", "type": "told", "kind": "produced", "source": "bank"}

    async def refused(sent: dict[str, Any], told: str, hint: str | None) -> None:
        handle = await worker.start()
        if not early:
            await worker.awaiting(handle, "paid")
        with pytest.raises(NeverTakenError) as refusal:
            await swf.deliver(bench.client, handle.id, sent)
        await handle.signal("paid", {})
        await handle.result()
        updates = [one for one in await events_of(handle) if "UPDATE" in EventType.Name(one.event_type)]
        assert told in refusal.value.message
        assert refusal.value.hint == hint
        assert early or updates == []

    async with bench.worker(define(waiting("paid"), events=[PAID, told_])) as worker:
        await asyncio.gather(*(refused(*one) for one in NEVER_TAKEN))


async def test_update_by_name(bench: Bench) -> None:
    async with bench.worker(define(waiting("paid"), waiting("paid", name="again"), events=[CORRELATED])) as worker:
        handle = await worker.start_awaiting("paid")
        assert await worker.deliver(handle, "paid", {"a": 1}) == "taken"
        await worker.deliver(handle, "com.bank.paid", {"b": 2})
        assert await handle.result() == {"a": 1, "b": 2}


async def test_update_refuses_what_is_not_awaited_now(bench: Bench) -> None:
    """What is given to a wait, and not to the instance, is refused once somebody else has given it."""
    states = waiting("paid"), awaits("then", "later")
    async with bench.worker(define(*states, events=[PAID, *consumed("later")])) as worker:
        handle = await worker.start_awaiting("paid")
        given = {"name": "paid", "data": {"by": "first"}, "awaited": True}
        assert await swf.deliver(bench.client, handle.id, given) == "taken"
        with pytest.raises(NeverTakenError, match="does not wait for the event 'paid' now"):
            await swf.deliver(bench.client, handle.id, {**given, "data": {"by": "second"}})
        assert await worker.deliver(handle, "later") == "taken"
        assert await handle.result() == {"by": "first"}


async def test_update_keeps_what_a_continuation_takes(bench: Bench) -> None:
    """An event that the definition does not know is kept if the definition that it continues as does."""
    end = {"continueAs": {"workflowId": "second"}}
    first = define(waiting("went"), inject("on", end=end), events=consumed("went", source="bank"))
    second = define(waiting("paid"), events=[PAID], id="second")
    async with bench.worker(first, second) as worker:
        handle = await worker.start_awaiting("went")
        assert await swf.deliver(bench.client, handle.id, event()) == "kept"
        with pytest.raises(NeverTakenError):
            await swf.deliver(bench.client, handle.id, event("com.other"))
        assert await worker.deliver(handle, "went") == "taken"
        assert await handle.result() == {"amount": 5}


async def test_nobody_answers(bench: Bench) -> None:
    """Without a worker there is no answer, which is told after a while; a signal needs none."""
    definition = define(waiting("paid"), events=[PAID])
    handle = await swf.start(bench.client, [definition], workflow_id="unanswered", task_queue="nobody")
    with pytest.raises(NoAnswerError, match=r"no worker answered for 'unanswered' within 0.2 seconds"):
        await swf.deliver(bench.client, handle.id, {"name": "paid"}, timedelta(seconds=0.2))
    await swf.send(bench.client, handle.id, {"name": "paid", "data": {}})
    await handle.terminate()


async def test_an_event_of_another_version_is_refused(bench: Bench) -> None:
    """By an update with the reason, by the client before anything is sent, and by a signal without harm."""
    older = event(specversion="0.3")
    async with bench.worker(define(waiting("paid"), events=[PAID])) as worker:
        handle = await worker.start_awaiting("paid")
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await handle.execute_update("deliver", older)
        with pytest.raises(UsageError, match=r"this says specversion '0\.3'"):
            await swf.send_event(bench.client, handle.id, older)
        await handle.signal("event", older)
        await handle.signal("paid", {"amount": 1})

        assert await handle.result() == {"amount": 1}
    assert "a CloudEvent of the version 1.0, and this says specversion '0.3'" in str(refused.value.__cause__)


async def test_signals_that_make_no_sense_do_no_harm(bench: Bench) -> None:
    """One whose payload is no JSON, or too deeply nested, is passed over: failing would stop the run for ever."""
    deep = b"[" * 5000 + b"]" * 5000
    unreadable = [RawValue(Payload(metadata={"encoding": b"json/plain"}, data=data)) for data in (b"{", deep, b"\xff")]
    nested = {"id": "2", "source": "bank", "type": "other", "data_base64": b64encode(deep).decode()}
    signals = [("unheard-of", {"a": 1}), *(("event", one) for one in ("nonsense", {"source": 5}, nested))]
    async with bench.worker(define(waiting("paid"), events=[PAID])) as worker:
        handle = await worker.start_awaiting("paid")
        for name, data in (*signals, *(("paid", one) for one in (*unreadable, b"bytes"))):
            await handle.signal(name, data)
        await worker.awaiting(handle, "paid")
        await handle.signal("paid", {"amount": 1})
        assert await handle.result() == {"amount": 1}


def telling(name: str, delay: str) -> Any:
    event = {"type": "shop.order", "source": "shop", "data": "jq(.n)"}
    return load({"id": name, "states": [{"id": "tell", "type": "generateEvent", "delay": delay, "event": event}]})


async def only_event(running: Running, workflow_id: str) -> Any:
    """Return the one workflow that sends an event of the instance *workflow_id*, as soon as the server lists it."""
    [begun] = await listed(
        running.bench.client, f"WorkflowType = {DELAYED_EVENT!r} AND TaskQueue = {running.queue!r}", 1
    )
    assert re.fullmatch(f"{workflow_id}/[0-9a-f]{{12}}/event/.*", begun.id)
    return running.bench.handle(begun.id)


async def test_is_sent_though_the_instance_has_ended(bench: Bench) -> None:
    """The instance completes at once; the event is sent by a workflow beside it, whose history replays."""
    async with bench.worker(telling("event-later", "PT1S")) as running:
        handle = await running.start({"n": 7})
        assert await handle.result() == {"n": 7}
        assert running.scripted.published == []
        event = await only_event(running, handle.id)
        await event.result()
        [sent] = running.scripted.published
        assert (sent.type, sent.source, sent.data) == ("shop.order", "shop", 7)
        assert event.id.endswith(sent.id)
        history = await event.fetch_history()
    assert await replays(history) is None


async def test_can_be_taken_back(bench: Bench) -> None:
    """Whoever cancels its workflow keeps the event from being sent; it answers the query `status` like an instance."""
    async with bench.worker(telling("event-taken-back", "P1D")) as running:
        handle = await running.start({"n": 7})
        await handle.result()
        event = await only_event(running, handle.id)
        assert await event.query("status") == {"state": None, "awaiting": []}
        await event.cancel()
        with pytest.raises(WorkflowFailureError):
            await event.result()
        assert running.scripted.published == []


LATE = """
id: late
version: '1.0'
specVersion: '0.8'
start: Reserve
timeouts: {workflowExecTimeout: {duration: PT2S, runBefore: Give back}}
functions: [{name: reserve, type: custom}]
events: [{name: Made, type: made, kind: produced}]
states:
- name: Reserve
  type: operation
  actions: [{functionRef: reserve}]
  stateDataFilter: {input: '${ {order} }', output: '${ {reserved: true} }'}
  end: {produceEvents: [{eventRef: Made}]}
- {name: Give back, type: inject, data: {late: true}, end: true}
"""


async def test_what_runs_before_the_end_begins_with_the_unfiltered_data(bench: Bench) -> None:
    """As an error would lead on: the output filter of a state that is being left is not applied."""
    async with bench.worker(load(LATE), reserve={"reservation": 5}) as running:
        running.scripted.is_unreachable = True
        handle = await running.start({"order": 7, "customer": "Ada"})
        assert await handle.result() == {"order": 7, "reservation": 5, "late": True}


PRODUCING = """
id: untaken
version: '1.0'
specVersion: '0.8'
start: A
events: [{name: Made, type: untaken, kind: produced}]
states:
- {name: A, type: inject, data: {a: 1}, transition: {nextState: B, produceEvents: [{eventRef: Made}]}}
- {name: B, type: inject, data: {b: 1}, transition: {nextState: C, produceEvents: [{eventRef: Made}]}}
- name: C
  type: inject
  data: {c: 1}
  end: {produceEvents: [{eventRef: Made, data: '${ {c} }', contextAttributes: {buyer: b1}}]}
"""


async def test_it_is_logged_once_for_a_run(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """Also where the run continues as new between the events."""
    async with bench.worker(load(PRODUCING)) as running:
        running.scripted.takers = []
        handle = await running.start(**{SUSPEND_AFTER: 5})
        await handle.result()
        last = await bench.handle(handle).describe()
    *before, made = running.scripted.published
    assert (len(before), made.type, made.data, made.attribute("buyer")) == (2, "untaken", {"c": 1}, "b1")
    assert last.run_id != handle.first_execution_run_id
    assert len([record for record in caplog.records if "no sink" in record.getMessage()]) == 1
