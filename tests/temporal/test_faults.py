"""What becomes of what goes wrong: attempts, failures, what is told of them, and what a server would refuse."""

import asyncio
import gc
import os
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.exceptions import TimeoutError as EngineTimeout
from temporalio.worker import Worker

from swf_temporal import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, FatalFault, NoConditionMatched, SubflowFailed, TimedOut, WorkflowFault
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition, Words
from swf_temporal.settings.payloads import PayloadSettings
from swf_temporal.simulation.simulate import simulate
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.continuing import failure_text
from swf_temporal.temporal.converter import converter_of
from swf_temporal.temporal.instance_log import InstanceLog
from swf_temporal.temporal.instance_part import Ending, Instance
from swf_temporal.temporal.records import Pin
from swf_temporal.temporal.worker import make_worker
from tests.temporal.building import awaits, consumed, inject, operation
from tests.temporal.conftest import (
    Bench,
    Running,
    Scripted,
    calling,
    define,
    events_of,
    failed_task,
    failure_of,
    named,
    told_in,
    until,
)
from tests.temporal.test_event_starts import event, send


def failing(times: int, **facts: Any) -> Any:
    """Return a function that fails *times* times and then answers with how often it was called."""
    calls = 0

    def function(arguments: JSON) -> JSON:
        nonlocal calls
        calls += 1
        if calls <= times:
            raise CallFailed(**{"message": "no", "code": 503, **facts})
        return {"calls": calls, "arguments": arguments}

    return function


async def test_retries_are_the_activitys_own(bench: Bench) -> None:
    """A call is tried again by the server: one activity, one key, no trace of the attempts in the history."""
    retry = {"name": "again", "delay": "PT0.01S", "maxAttempts": 5}
    first = operation("a", {"functionRef": "f", "retryRef": "again"})
    async with bench.worker(
        define(first, calling("b", "f"), functions=("f",), retries=[retry]), f=failing(3)
    ) as worker:
        handle = await worker.start()
        assert await handle.result() == {"calls": 5, "arguments": None}
    assert len(await told_in(handle, "activity_task_scheduled")) == 2
    assert [attempt for *_, attempt in worker.scripted.calls] == [1, 2, 3, 4, 1]
    assert [len({*keys}) for keys in ([key for *_, key, _ in worker.scripted.calls[:end]] for end in (4, 5))] == [1, 2]


async def test_a_failed_run_says_where_and_why(bench: Bench) -> None:
    """The failure names workflow, state, action, attempt, the answer, and that nothing caught it."""
    state = operation("Charge card", {"functionRef": "f", "retryRef": "again"})
    retry = {"name": "again", "delay": "PT0.01S", "maxAttempts": 3}
    answer = failing(9, code=502, status=502, body={"why": "busy"}, message="the service answered 502 Bad Gateway")
    failed = await bench.failure(define(state, functions=("f",), retries=[retry], id="orders"), f=answer)
    assert str(failed).splitlines() == [
        "workflow 'orders' failed in state 'Charge card'",
        "  action 'f', attempt 3",
        "  the service answered 502 Bad Gateway",
        "  no onErrors entry of 'Charge card' covers its code '502'",
    ]
    assert failed.fault is not None
    assert (failed.fault.code, failed.fault.status, failed.fault.body) == ("502", 502, {"why": "busy"})
    assert failed.fault.state == "Charge card"


async def test_data_that_is_too_large_fails_the_run_and_does_not_hang_it(bench: Bench) -> None:
    twice = operation("b", {"functionRef": {"refName": "f", "arguments": "${ [., .] }"}})
    failed = await bench.failure(define(inject("a", {"text": "x" * 1_200_000}), twice, functions=("f",)), f=1)
    assert failed.name == "PayloadTooLarge"


async def test_an_unknown_definition_is_named_with_what_is_known(bench: Bench) -> None:
    definition = define(inject("a"), id="orders")
    async with bench.worker(definition) as worker:
        handle = await worker.begin("order", {}, workflow_id="unknown-1")
        assert "did you mean 'orders'" in await failed_task(handle)
        await handle.terminate()


BEFORE_ANY_STATE: dict[str, tuple[str, list[Any], str]] = {
    "an input that does not fit": ("sample", ["text"], "failed sample 1.0.0: SchemaMismatch"),
    "a record that is none": ("sample", [{}, 7], "failed sample: WrongInput: "),
    "a definition that is none": (
        "sample", [{}, {"definitions": [{"text": "id: sample", "name": "x"}]}], "failed sample: InvalidDefinition: "
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BEFORE_ANY_STATE)
async def test_a_failure_before_any_state_is_logged(bench: Bench, caplog: pytest.LogCaptureFixture, case: str) -> None:
    workflow_type, arguments, told = BEFORE_ANY_STATE[case]
    definition = define(inject("a"), dataInputSchema={"schema": {"type": "object"}})
    async with bench.worker(definition) as worker:
        handle = await worker.begin(workflow_type, *arguments, workflow_id=f"unready-{worker.queue}")
        await failure_of(handle)
    lines = [one.getMessage() for one in caplog.records if one.name == "swf.instance"]
    assert [line for line in lines if line.startswith(("failed", "completed", "cancelled"))] == lines[-1:]
    assert lines[-1].startswith(told)


async def test_a_call_that_nobody_waits_for_outlives_its_run(bench: Bench) -> None:
    """A function invoked `async` runs with its secrets after its workflow has ended, and hurts nobody if it fails."""
    action = {"functionRef": {"refName": "f", "arguments": {"key": "${ $SECRETS.token }"}, "invoke": "async"}}
    definition = define(operation("a", action), functions=("f",), secrets=["token"])
    called = asyncio.Event()

    seen: list[JSON] = []

    async def late(arguments: JSON) -> None:
        await asyncio.sleep(0.1)
        seen.append(arguments)
        called.set()
        raise ValueError("nobody minds")

    async with bench.worker(definition, secrets={"token": "s3cr3t"}, f=late) as worker:
        assert await worker.run({"n": 1}) == {"n": 1}
        assert seen == []
        await asyncio.wait_for(called.wait(), 30)
    assert seen == [{"key": "s3cr3t"}]


@asynccontextmanager
async def busy(bench: Bench, definition: Definition) -> AsyncIterator[Running]:
    """Run a worker for *definition* that makes one call at a time, and is making a long one meanwhile."""
    is_held, is_free = asyncio.Event(), asyncio.Event()

    async def hold(_: JSON) -> JSON:
        is_held.set()
        await is_free.wait()
        return None

    holding, scripted = define(calling("a", "hold"), functions=("hold",), id="holding"), Scripted({"hold": hold})
    queue = f"busy-{os.getpid()}-{next(Bench.numbers)}"
    known = Catalogue([definition, holding])
    worker = make_worker(bench.client, known, scripted, scripted, task_queue=queue, max_concurrent_activities=1)
    async with worker:
        running = Running(bench, [definition, holding], scripted, queue, worker)
        held = await running.start(definition=1)
        await is_held.wait()
        try:
            yield running
        finally:
            is_free.set()
            await swf.result(held)


async def test_a_call_that_waits_for_a_worker_times_out(bench: Bench) -> None:
    """ActionExecTimeout includes the time until a worker takes the call."""
    definition = define(
        calling("a", "f", timeouts={"actionExecTimeout": "PT0.5S"}, onErrors=[{"errorRef": "slow", "transition": "b"}]),
        inject("b", {"was": "late"}), functions=("f",), errors=[{"name": "slow", "code": "TimedOut"}],
    )  # fmt: skip
    async with busy(bench, definition) as running:
        assert await running.run() == {"was": "late"}


UNHEARD = """
functions: [{name: broken_work, type: custom, operation: broken_work}]
events: [{name: Placed, type: placed, source: shop, correlation: [{contextAttributeName: order}]}]
states:
- {name: Wait, type: event, onEvents: [{eventRefs: [Placed], actions: [{functionRef: broken_work}]}], end: true}
"""


FAILED = "child_workflow_execution_failed_event_attributes"


def broken_work(_: object) -> object:
    raise ValueError("broken")


async def test_one_that_an_event_began(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """Its mailbox, which runs still, has nothing to do with its failure."""
    async with bench.worker(named(UNHEARD), work=broken_work) as worker:
        [receipt] = await send(worker, event("1", "placed", "shop", 1, order="7"))
        handle = bench.handle(str(receipt.instance))
        await until(lambda: "failed named-" in caplog.text)
        with pytest.raises(RunEnded):
            await swf.result(handle)
        await send(worker, event("1", "placed", "shop", 1, order="7"))
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_one_that_was_invoked_async(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """The instance that began it goes on without it, and hears of its end while it runs."""
    child = define(calling("Work", "work"), functions=("work",), id="unheard-child")
    below = {"subFlowRef": {"workflowId": child.id, "invoke": "async", "onParentComplete": "continue"}}
    parent = define(operation("Call", below), awaits("Wait", "go"), events=consumed("go"), id="unheard-parent")
    async with bench.worker(parent, child, work=broken_work) as worker:
        handle = await worker.start({})
        await until(lambda: "failed unheard-child" in caplog.text)
        await until(lambda: events_of(handle), lambda found: any(one.HasField(FAILED) for one in found))
        await worker.awaiting(handle, "go")
    gc.collect()
    await handle.terminate()
    assert "never retrieved" not in caplog.text


WIDE = "🚢" * 240
"""In characters a few, in bytes 960: more than a summary may have."""
MEGABYTES = 5_000_000


async def test_names_of_wide_characters_are_summaries(bench: Bench) -> None:
    """Summaries of activities, timers and children are counted in bytes."""
    definition = load(
        {
            "id": "wide",
            "name": WIDE,
            "specVersion": "0.8",
            "functions": [{"name": WIDE, "type": "custom"}],
            "events": [{"name": "Sent", "type": WIDE, "source": "s", "kind": "produced"}],
            "states": [
                operation(WIDE, {"name": WIDE, "functionRef": WIDE, "sleep": {"before": "PT0.01S"}}, transition="Down"),
                operation("Down", {"name": WIDE, "subFlowRef": "child"}, end={"produceEvents": [{"eventRef": "Sent"}]}),
            ],
        }
    )
    child = define(inject("A", {"a": 1}), id="child")
    async with bench.worker(definition, child, **cast("Any", {WIDE: {"b": 2}})) as worker:
        assert await worker.run() == {"a": 1, "b": 2}


@pytest.mark.parametrize("name", ["CallFailed", "x" * MEGABYTES])
async def test_an_error_of_megabytes_is_shortened(bench: Bench, name: str) -> None:
    """What a function says in its message, and what its service answered."""

    def fail(_: JSON) -> JSON:
        raise CallFailed("m" * MEGABYTES, name=name, code="c" * MEGABYTES, body={"said": "b" * MEGABYTES})

    definition = define(calling("Ask", "ask"), functions=("ask",))
    async with bench.worker(definition, ask=fail) as worker:
        ended = await asyncio.wait_for(worker.failure(), 30)
    assert "mmm" in str(ended)
    assert len(str(ended)) < 100_000


async def test_an_error_of_megabytes_can_be_caught(bench: Bench) -> None:
    def fail(_: JSON) -> JSON:
        raise ValueError("m" * MEGABYTES)

    ask = calling("Ask", "ask", onErrors=[{"errorRef": "any", "end": True}])
    definition = define(ask, functions=("ask",), errors=[{"name": "any", "code": "*"}])
    async with bench.worker(definition, ask=fail) as worker:
        assert await asyncio.wait_for(worker.run({"a": 1}), 30) == {"a": 1}


@pytest.mark.parametrize("size", [2_031_620, 2_090_000, 3_000_000])
async def test_a_result_that_is_too_large_can_be_caught(bench: Bench, size: int) -> None:
    """Also where a service, or the server, takes a little more than a state's data can carry."""
    ask = calling("Ask", "ask", onErrors=[{"errorRef": "large", "end": True}])
    definition = define(ask, functions=("ask",), errors=[{"name": "large", "code": "AnswerTooLarge"}])
    async with bench.worker(definition, ask=lambda _: {"text": "r" * size}) as worker:
        assert await asyncio.wait_for(worker.run({"a": 1}), 30) == {"a": 1}
    assert simulate(definition, {"a": 1}, functions={"ask": {"text": "r" * size}}).output == {"a": 1}


async def test_a_failure_of_the_run_is_shortened(bench: Bench) -> None:
    definition = define(inject("A", {"a": "${ error(.text * 4) }"}))
    async with bench.worker(definition) as worker:
        handle = await worker.start({"text": "t" * 1_000_000})
        ended = await failure_of(handle)
    assert len(str(ended)) < 100_000


async def test_input_that_inflates_to_too_much_fails_the_run(bench: Bench) -> None:
    """By a client that compresses by itself: 50 MB in 49 KB. No task is tried again for it."""
    compressing = Bench(bench.server)
    converter = converter_of(PayloadSettings(compression=True))
    compressing.client = Client(bench.client.service_client, data_converter=converter)
    whole = Payload(metadata={"encoding": b"json/plain"}, data=b'"' + b" " * 50_000_000 + b'"').SerializeToString()
    bomb = RawValue(Payload(metadata={"encoding": b"binary/zlib"}, data=zlib.compress(whole)))
    async with compressing.worker(define(inject("A"))) as worker:
        handle = await bench.client.start_workflow("sample", args=[bomb], id="bomb", task_queue=worker.queue)
        with pytest.raises(WorkflowFailureError) as failed:
            await asyncio.wait_for(handle.result(), 60)
    assert isinstance(failed.value.cause, ApplicationError)
    assert failed.value.cause.type == "WrongInput"
    assert "inflates to more than 2,162,688 bytes" in str(failed.value.cause)


WHERE: dict[str, Any] = {"state": "Charge card", "action": "charge"}

LATEST = Words(state="state", handler="onErrors entry")
DRAFT = Words(state="task", handler="onError entry")
DSL = load({
    "document": {"dsl": "1.0.3", "namespace": "test", "name": "ship", "version": "1.0.0"}, "do": [{"a": {"set": {}}}]
}).words  # fmt: skip
CASES: dict[str, tuple[WorkflowFault, str, Words]] = {
    "a call": (CallFailed("it answered 502", code=502, attempt=3, function="pay", cause="ReadError", **WHERE), """
workflow 'orders' failed in state 'Charge card'
  action 'charge', attempt 3 → function 'pay'
  it answered 502
  no onErrors entry of 'Charge card' covers its code '502'""", LATEST),
    "in a branch": (CallFailed("no", branch="money", **WHERE), """
workflow 'orders' failed in state 'Charge card'
  action 'charge' of branch 'money'
  no
  no onErrors entry of 'Charge card' covers it""", LATEST),
    "an error of another name": (NoConditionMatched("nothing fits", state="Choose"), """
workflow 'orders' failed in state 'Choose'
  NoConditionMatched: nothing fits
  no onErrors entry of 'Choose' covers it""", LATEST),
    "a sub-workflow": (SubflowFailed("'s' failed: no", name="Teapot", cause="state 'Brew' of 's'", state="Ship"), """
workflow 'orders' failed in state 'Ship'
  Teapot: 's' failed: no
  in state 'Brew' of 's'
  no onErrors entry of 'Ship' covers it""", LATEST),
    "a timeout between attempts": (TimedOut("it took longer than it may", cause="CallFailed: busy", **WHERE), """
workflow 'orders' failed in state 'Charge card'
  action 'charge'
  TimedOut: it took longer than it may
  the last attempt ended with CallFailed: busy
  no onErrors entry of 'Charge card' covers it""", LATEST),
    "what cannot be caught": (FatalFault("too large", name="PayloadTooLarge", state="Ship"), """
workflow 'orders' failed in state 'Ship'
  PayloadTooLarge: too large""", LATEST),
    "in the words of a draft": (TimedOut("task 'Ship' took longer than it may", state="Ship"), """
workflow 'orders' failed in task 'Ship'
  TimedOut: task 'Ship' took longer than it may
  no onError entry of 'Ship' covers it""", DRAFT),
    "in the words of DSL 1.0": (CallFailed("it answered 404", code=404, state="/do/0/ship"), """
workflow 'orders' failed in task '/do/0/ship'
  it answered 404
  no try task around it catches it""", DSL),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_failure_text(case: str) -> None:
    fault, text, words = CASES[case]
    assert failure_text("orders", fault, words) == text.strip()


@workflow.defn(sandboxed=False)
class Late:
    @workflow.run
    async def run(self) -> None:
        failure = EngineTimeout("activity timed out", type=None, last_heartbeat_details=[])
        instance = Instance(Pin(), is_continued=False, is_long=lambda: False)
        await InstanceLog(instance).end(Ending("failed", failure=failure))
        raise failure


async def test_a_failure_of_the_engine_is_logged(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    async with Worker(bench.client, task_queue="late", workflows=[Late]):
        with pytest.raises(WorkflowFailureError):
            await bench.client.execute_workflow(Late.run, id="late", task_queue="late")
    lines = [one.getMessage() for one in caplog.records if one.name == "swf.instance"]
    assert lines == ["failed Late: TimeoutError: activity timed out"]
