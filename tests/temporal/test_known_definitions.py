"""Workers that take no run with a definition but those that they serve."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio.common import RetryPolicy

from swf_temporal import RunEnded
from swf_temporal.base.calls import Function
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.call_records import record_of
from swf_temporal.temporal.instance_part import OperatorOptions, OperatorOptionsInterceptor
from swf_temporal.temporal.mailbox_records import MAILBOX, TAKE, Delivery
from swf_temporal.temporal.publishing import DELAYED_EVENT
from swf_temporal.temporal.records import Lineage, Pin, Pinned, pinned
from tests.temporal.building import awaits, consumed, inject, operation
from tests.temporal.conftest import Bench, calling, define, failure_of, outcome, replays, told_in, until


def served(**rest: Any) -> Definition:
    return define(calling("a", "f"), functions=("f",), **rest)


def another() -> Definition:
    return define(calling("a", "f", "steal"), functions=("f", "steal"))


async def started(bench: Bench, queue: str, pin: Mapping[str, Any], **options: Any) -> swf.Handle:
    """Start an instance as any client of the engine can, with *pin* as its second argument."""
    workflow_id = f"admission-{os.getpid()}-{next(Bench.numbers)}"
    return await bench.client.start_workflow("sample", args=[{}, pin], id=workflow_id, task_queue=queue, **options)


async def refused(handle: swf.Handle) -> str:
    ended = await failure_of(handle)
    assert ended.name == "UnknownDefinition"
    return str(ended)


async def test_what_is_served_runs(bench: Bench) -> None:
    """By its id, or with the very text that the worker has."""
    async with bench.worker(served(), only_known=True, f={"ok": 1}) as worker:
        by_id = await swf.start_known(bench.client, "sample", workflow_id="admission-id", task_queue=worker.queue)
        assert await swf.result(by_id) == {"ok": 1}
        assert await worker.run() == {"ok": 1}


async def test_what_comes_with_the_input_is_refused(bench: Bench) -> None:
    """The fault says which text it was, who refuses it, and what to do; nothing is called."""
    async with bench.worker(served(), only_known=True, f={}, steal={}) as worker:
        message = await refused(await started(bench, worker.queue, Pin(pinned([another()])).to_json()))
    assert "sent with the input as '<definition>' (SHA-256" in message
    assert "--known-definitions-only" in message
    assert "start the instance by the id of its definition" in message
    assert worker.scripted.calls == []


FORGED_EVENT: dict[str, JSON] = {"lifecycle": {"untold": [{"id": "1", "source": "s", "type": "forged"}]}}


def forged() -> dict[str, Pin]:
    """Return what somebody may write who knows a definition that is served."""
    [known], [own] = pinned([served()]), pinned([another()])
    steal = Function(name="steal", type="custom")
    call = record_of(FunctionCall(id="a/steal#1", function=steal, arguments=None, state="a", action="a/steal#1"), "x")
    progress: Any = {"frame": {"state": "a", "data": {}}}
    return {
        "the digest of another text": Pin([replace(own, sha256=known.sha256)]),
        "no digest": Pin([replace(own, sha256="")]),
        "a second definition": Pin([known, own]),
        "one call": Pin([known], call=call),
        "one call alone": Pin([], call=call),
        "the middle of a run": Pin([known], progress=progress),
        "the middle of a run alone": Pin([], progress=progress),
        "a part of another run": Pin([own], lineage=Lineage(is_part=True)),
        "events to send": Pin([known], parts=FORGED_EVENT),
        "events to send alone": Pin([], parts=FORGED_EVENT),
    }


@pytest.mark.parametrize("what", forged())
async def test_nothing_leads_around_it(bench: Bench, what: str) -> None:
    async with bench.worker(served(), only_known=True, f={}, steal={}) as worker:
        await refused(await started(bench, worker.queue, forged()[what].to_json()))
    assert worker.scripted.calls == []
    assert worker.scripted.published == []


async def test_a_mailbox_leads_not_around_it(bench: Bench) -> None:
    """Whoever may start workflows can start one under an id of its own, and send it an event with any definition."""
    [own] = pinned([another()])
    async with bench.worker(served(), only_known=True, f={}, steal={}) as worker:
        instance = f"admission-{os.getpid()}-{next(Bench.numbers)}"
        delivery = Delivery(CloudEvent("1", "s", "t"), starts=True, instance=instance, definitions=[own]).to_json()
        mailbox = await worker.begin(
            MAILBOX, workflow_id=f"own-{instance}", start_signal=TAKE, start_signal_args=[delivery]
        )
        await until(lambda: bench.client.count_workflows(f"WorkflowId = '{instance}'"), lambda found: found.count)
        await refused(bench.handle(instance))
        await mailbox.terminate()
    assert worker.scripted.calls == []


async def test_nobody_starts_a_delayed_event_by_hand(bench: Bench) -> None:
    """It would be sent as if an instance had produced it."""
    async with bench.worker(served(), only_known=True, f={}) as worker:
        delayed = {"event": {"id": "1", "source": "s", "type": "t"}, "seconds": 0}
        handle = await worker.begin(
            DELAYED_EVENT, delayed, workflow_id=f"admission-{os.getpid()}-{next(Bench.numbers)}"
        )
        with pytest.raises(RunEnded, match="only started by the instance that produces it"):
            await swf.result(handle)
    assert worker.scripted.published == []


async def test_beginning_again_leads_not_around_it(bench: Bench) -> None:
    """The engine begins a run of cron again and again, as one that goes on from the one before."""
    async with bench.worker(served(), only_known=True, f={}, steal={}) as worker:
        pin = Pin(pinned([another()])).to_json()
        handle = await started(bench, worker.queue, pin, cron_schedule="@every 1s")
        latest = bench.handle(handle)
        ended = f"WorkflowId = '{handle.id}' AND ExecutionStatus = 'Failed'"
        await until(lambda: bench.client.count_workflows(ended), lambda found: found.count >= 2)
        await latest.terminate()
    assert worker.scripted.calls == []


async def test_a_retry_of_the_engine_leads_not_around_it(bench: Bench) -> None:
    """A run that timed out before any worker saw it begins again, as one that goes on from the one before."""
    queue = f"admission-retried-{os.getpid()}"
    pin, again = Pin(pinned([another()])).to_json(), RetryPolicy(initial_interval=timedelta(milliseconds=100))
    handle = await started(bench, queue, pin, run_timeout=timedelta(seconds=2), retry_policy=again)
    latest = bench.handle(handle)
    await until(latest.describe, lambda one: one.run_id != handle.first_execution_run_id)
    async with bench.worker(served(), queue=queue, only_known=True, f={}, steal={}) as worker:
        await refused(handle)
    assert worker.scripted.calls == []


async def test_documents_are_found_beside_the_text_that_is_served(bench: Bench) -> None:
    """A known text cannot be said to stand elsewhere, where another document has its place."""
    async with bench.worker(served(), only_known=True, f={}) as worker:
        [known] = pinned([served()])
        pin = Pin([replace(known, name="http://evil.example/x.yaml")])
        await swf.result(await started(bench, worker.queue, pin.to_json()))
    assert worker.scripted.sources == [served().source.name]


def long() -> Definition:
    """Return a definition that continues as new, has a sub-workflow, a call that nobody waits for, and waits."""
    unawaited = {"functionRef": {"refName": "g", "invoke": "async"}}
    return define(
        awaits("wait", "go"), calling("a", *["f"] * 8), operation("sub", {"subFlowRef": "child"}, unawaited),
        inject("b", {"b": 1}, end={"continueAs": "last"}), functions=("f", "g"), events=consumed("go", source="s"),
    )  # fmt: skip


def others() -> list[Definition]:
    child = define(calling("c", "f"), functions=("f",), id="child")
    return [child, define(inject("l", {"last": True}), id="last")]


@pytest.mark.parametrize("before", [True, False])
async def test_an_instance_goes_on_under_the_text_that_it_began_with(bench: Bench, *, before: bool) -> None:
    """Its worker may serve another text by then, and may have asked nothing before: what runs is not touched."""
    queue = f"admission-upgrade-{os.getpid()}-{before}"
    called = asyncio.Event()
    async with bench.worker(long(), *others(), queue=queue, only_known=before, f={"f": 1}, g={}) as worker:
        handle = await worker.start_awaiting("go", suspend_after=20)
    newer = define(calling("other", "h"), functions=("h",))
    answers: dict[str, Any] = {"f": {"f": 1}, "g": lambda _: called.set(), "h": {}}
    async with bench.worker(newer, queue=queue, only_known=True, **answers) as worker:
        await handle.signal("go", {})
        output = await outcome(handle)
        await asyncio.wait_for(called.wait(), 30)
        message = await refused(await started(bench, queue, Pin(pinned([long(), *others()])).to_json()))
    assert output == {"f": 1, "b": 1, "last": True}
    assert "is not served here" in message


@pytest.mark.parametrize("only_known", [True, False])
async def test_histories_replay_under_workers_of_both_kinds(bench: Bench, *, only_known: bool) -> None:
    """What was asked stands in the history, and what was not asked is not asked later."""
    async with bench.worker(served(), only_known=only_known, f={"ok": 1}) as worker:
        ran = await worker.start()
        await swf.result(ran)
        failed = await started(bench, worker.queue, Pin(pinned([another()])).to_json())
        await failure_of(failed)  # without the question, since nobody answers `steal`
    for handle in (ran, failed):
        history = await handle.fetch_history()
        for options in (OperatorOptions(), OperatorOptions(only_known=True)):
            assert await replays(history, OperatorOptionsInterceptor(options)) is None


async def test_nothing_is_paid_where_nothing_is_asked(bench: Bench) -> None:
    async with bench.worker(served(), f={"ok": 1}) as worker:
        handle = await worker.start()
        await swf.result(handle)

        assert await told_in(handle, "marker_recorded") == []


def test_a_text_is_known_by_its_digest() -> None:
    text = "id: a\nspecVersion: '0.8'\nstates: [{name: a, type: inject, data: {}, end: true}]\n"
    one, two = (load(text, name=name) for name in ("here.yaml", "there.yaml"))
    assert pinned([one])[0].sha256 == pinned([two])[0].sha256 == Pinned(text, "x", one.digest).sha256
