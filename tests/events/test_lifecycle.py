"""Lifecycle events, and the order of produced events: on request, and without a trace in other runs' histories."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.worker import Interceptor, Replayer, UnsandboxedWorkflowRunner

from swf_temporal import RunEnded
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.instance_part import OperatorOptions, OperatorOptionsInterceptor
from swf_temporal.temporal.instance_parts import PARTS
from swf_temporal.temporal.worker import make_worker
from swf_temporal.temporal.workflow import Interpreter
from tests.events.conftest import until
from tests.temporal.conftest import Bench, define, events_of
from tests.temporal.suspending import SUSPEND_AFTER, Suspending

pytestmark = pytest.mark.temporal
_ALL = ("workflow", "task", "status")


@dataclass
class Outside:
    """What performs calls and takes events, beside a worker on a queue."""

    client: Client
    queue: str
    published: list[CloudEvent] = field(default_factory=list)
    sending: int = 0
    most_at_once: int = 0
    refuses: str = ""
    called: list[str] = field(default_factory=list)
    is_there: asyncio.Event = field(default_factory=asyncio.Event)
    """Whether what takes events is there."""

    def __post_init__(self) -> None:
        self.is_there.set()

    async def start(self, *definitions: Definition, suspend_after: int = 0) -> swf.Handle:
        others = {SUSPEND_AFTER: suspend_after} if suspend_after else None
        id_ = definitions[0].id
        return await swf.start(self.client, definitions, {}, workflow_id=id_, task_queue=self.queue, others=others)

    async def perform(self, call: FunctionCall, *, source: str, key: str, attempt: int) -> JSON:  # noqa: ARG002 - the port has these
        self.called.append(call.function.name)
        if call.function.name == "fail":
            raise CallFailed("no", name="Broken")
        return {}

    async def publish(self, event: CloudEvent) -> list[str]:
        self.sending += 1
        self.most_at_once = max(self.most_at_once, self.sending)
        await asyncio.sleep(0.1)
        await self.is_there.wait()
        self.sending -= 1
        if self.refuses and self.refuses in event.type:
            raise CallFailed("never", retryable=False)
        self.published.append(event)
        return ["here"]


@asynccontextmanager
async def working(
    bench: Bench, definition: Definition, *lifecycle: str, ordered: bool = False
) -> AsyncIterator[Outside]:
    """Run a worker that sends lifecycle events of these kinds."""
    outside = Outside(bench.client, f"lifecycle-{definition.id}")
    options = OperatorOptions(lifecycle=frozenset(lifecycle), ordered=ordered, parts=(*PARTS, Suspending))
    async with make_worker(
        bench.client, Catalogue([definition]), outside, outside,
        task_queue=outside.queue, debug_mode=True, operator_options=options,
    ):  # fmt: skip
        yield outside


async def replays(handle: swf.Handle, *interceptors: Interceptor) -> None:
    runner = UnsandboxedWorkflowRunner()
    replayer = Replayer(workflows=[Interpreter], workflow_runner=runner, interceptors=interceptors)
    await replayer.replay_workflow(await handle.fetch_history())


def told(event: CloudEvent) -> tuple[str, Any]:
    assert isinstance(event.data, dict)
    about = next((event.data[key] for key in ("task", "status", "output") if key in event.data), None)
    return event.type.removeprefix("io.serverlessworkflow.").removesuffix(".v1"), about


WAITING = """
id: ID
version: '1.0'
specVersion: '0.8'
start: Second
events: [{name: Paid, type: paid, source: bank}]
functions: [{name: fail, type: custom, operation: fail}]
states:
- {name: First, type: operation, actions: [{functionRef: fail}], end: true}
- {name: Second, type: event, onEvents: [{eventRefs: [Paid]}], transition: First}
"""


async def test_an_instance_tells_its_life(bench: Bench, topic: str) -> None:
    """Start, states, waiting, and how it ends; each once, in order. It replays on any worker."""
    definition = load(WAITING.replace("ID", topic))
    async with working(bench, definition, *_ALL) as outside:
        handle = await outside.start(definition)
        await until(lambda: any(told(event)[1] == "waiting" for event in outside.published))
        await handle.signal("Paid", {})
        with pytest.raises(RunEnded):
            await swf.result(handle)
    assert [told(event) for event in outside.published] == [
        ("workflow.started", None),
        ("workflow.status-changed", "running"),
        ("task.started", "/states/1"),
        ("workflow.correlation-started", None),
        ("workflow.status-changed", "waiting"),
        ("workflow.correlation-completed", None),
        ("workflow.status-changed", "running"),
        ("task.completed", "/states/1"),
        ("task.started", "/states/0"),
        ("task.faulted", "/states/0"),
        ("workflow.faulted", None),
        ("workflow.status-changed", "faulted"),
    ]
    started, *_, faulted, _ = outside.published
    assert isinstance(started.data, dict)
    assert started.data["definition"] == {"name": topic, "version": "1.0"}
    assert isinstance(faulted.data, dict)
    assert faulted.data["error"] == {
        "type": "https://serverlessworkflow.io/errors/Broken", "title": "Broken", "detail": "no", "status": 500
    }  # fmt: skip
    assert len({event.id for event in outside.published}) == len(outside.published)
    assert {event.attributes["swfinstanceid"] for event in outside.published} == {topic}
    ordered = OperatorOptions(lifecycle=frozenset(_ALL), ordered=True)
    await replays(handle)
    for options in (OperatorOptions(), ordered):
        await replays(handle, OperatorOptionsInterceptor(options))


TASKS = """
name: ID
schemaVersion: '0.1'
tasks:
- {name: First, type: inject, start: {kind: default}, data: {}, end: {kind: default}}
"""


async def test_the_tasks_of_a_draft_are_pointed_to_where_they_stand(bench: Bench, topic: str) -> None:
    """Not under the key that later versions have for states."""
    definition = load(TASKS.replace("ID", topic))
    async with working(bench, definition, "task") as outside:
        await swf.result(await outside.start(definition))
    assert [told(event) for event in outside.published] == [
        ("task.started", "/tasks/0"),
        ("task.completed", "/tasks/0"),
    ]


async def test_a_cancelled_instance_tells_so(bench: Bench, topic: str) -> None:
    """Before it ends; what no sink ever takes is left out."""
    definition = load(WAITING.replace("ID", topic))
    async with working(bench, definition, "workflow") as outside:
        outside.refuses = "correlation"
        handle = await outside.start(definition)
        await until(lambda: bool(outside.published))
        await handle.cancel()
        with pytest.raises(RunEnded):
            await swf.result(handle)
    assert [told(event)[0] for event in outside.published] == ["workflow.started", "workflow.cancelled"]


PARALLEL = """
id: ID
version: '1.0'
specVersion: '0.8'
start: All
events: [{name: Made, type: made, kind: produced}]
states:
- name: All
  type: foreach
  inputCollection: '${ [1, 2, 3, 4, 5] }'
  iterationParam: n
  actions: [{eventRef: {triggerEventRef: Made, data: '${ .n }'}}]
  end: true
"""


@pytest.mark.parametrize("ordered", [True, False])
async def test_events_of_parallel_paths_are_delivered_in_order_where_asked(
    bench: Bench, topic: str, *, ordered: bool
) -> None:
    definition = load(PARALLEL.replace("ID", topic))
    async with working(bench, definition, ordered=ordered) as outside:
        handle = await outside.start(definition)
        await swf.result(handle)
    if ordered:
        assert [event.data for event in outside.published] == [1, 2, 3, 4, 5]
        assert outside.most_at_once == 1
    else:
        assert outside.most_at_once > 1
    markers = [event for event in await events_of(handle) if event.HasField("marker_recorded_event_attributes")]
    assert len(markers) == (4 if ordered else 0)
    await replays(handle)


def undoing(id_: str, rest: dict[str, Any]) -> Definition:
    return define(
        {"name": "Book", "type": "operation", "actions": [{"functionRef": "book"}], "compensatedBy": "Undo"},
        rest,
        {"name": "Undo", "type": "operation", "actions": [{"functionRef": "undo"}], "usedForCompensation": True},
        functions=("book", "undo"), metadata={"compensateOnCancel": True}, id=id_,
    )  # fmt: skip


async def test_one_that_is_cancelled_as_it_continues_as_another_has_one_end(bench: Bench, topic: str) -> None:
    """Once it is told that it is completed, the other is cancelled: nothing is undone."""
    other = define({"name": "Wait", "type": "sleep", "duration": "PT1H"}, id=f"{topic}-other")
    rest = {"name": "Rest", "type": "sleep", "duration": "PT0.01S", "end": {"continueAs": {"workflowId": other.id}}}
    definition = undoing(topic, rest)
    async with working(bench, definition, "workflow") as outside:
        is_told, publish = asyncio.Event(), outside.publish

        async def late(event: CloudEvent) -> list[str]:
            if "workflow.completed" in event.type:
                outside.is_there.clear()
                is_told.set()
            return await publish(event)

        outside.publish = late  # type: ignore[method-assign]  # a sink that is away for a while
        handle = await outside.start(definition, other)
        await asyncio.wait_for(is_told.wait(), 30)
        await bench.client.get_workflow_handle(topic).cancel()
        await asyncio.sleep(0.5)
        outside.is_there.set()
        with suppress(RunEnded):
            await swf.result(handle)
    begun_and_ended = [("workflow.started", None), ("workflow.completed", None)]
    assert [told(event) for event in outside.published[:2]] == begun_and_ended
    assert [told(event)[0] for event in outside.published[2:]] == ["workflow.started", "workflow.cancelled"]
    assert outside.called == ["book"]


async def test_an_instance_that_continues_as_new_goes_on_telling(bench: Bench, topic: str) -> None:
    states = [{"name": f"S{number}", "type": "sleep", "duration": "PT0.01S"} for number in range(5)]
    definition = define(*states, id=topic)
    async with working(bench, definition, "workflow", "task") as outside:
        handle = await outside.start(definition, suspend_after=20)
        await swf.result(handle)
        description = await bench.client.get_workflow_handle(topic).describe()
    assert description.run_id != handle.first_execution_run_id
    tasks = [(f"task.{what}", f"/states/{number}") for number in range(5) for what in ("started", "completed")]
    assert [told(event) for event in outside.published] == [
        ("workflow.started", None), *tasks, ("workflow.completed", {}),
    ]  # fmt: skip
    assert len({event.id for event in outside.published}) == len(outside.published)


@pytest.mark.parametrize(("suspend_after", "last", "called", "end"), [
    (10, "state-left Book", ["book", "undo"], "workflow.cancelled"),
    (1000, "state-left Rest", ["book", "undo"], "workflow.cancelled"),
    (1000, "workflow-completed ", ["book"], "workflow.completed"),
], ids=["between two steps", "about to continue as another", "complete"])  # fmt: skip
async def test_one_that_is_cancelled_while_its_events_wait_for_a_sink(
    bench: Bench, topic: str, suspend_after: int, last: str, called: list[str], end: str
) -> None:
    """One that is about to continue undoes what it did, once; for one that is complete it comes too late."""
    rest: dict[str, Any] = {"name": "Rest", "type": "sleep", "duration": "PT0.01S"}
    rest["end"] = True if "complete" in last else {"continueAs": topic}
    definition = undoing(topic, rest)
    async with working(bench, definition, "workflow") as outside:
        outside.is_there.clear()
        handle = await outside.start(definition, suspend_after=suspend_after)
        async with asyncio.timeout(30):
            while "{kind} {state}".format(**(await handle.query("trace"))[-1]) != last:
                await asyncio.sleep(0.02)
        await handle.cancel()
        await until(lambda: outside.called == called)
        outside.is_there.set()
        with suppress(RunEnded):
            await swf.result(handle)
    assert [told(event)[0] for event in outside.published] == ["workflow.started", end]
    assert outside.called == called
    await replays(handle)


TASKS_OF_DSL = """
document: {dsl: 1.0.3, namespace: shop, name: ID, version: 1.0.0}
do:
- tried:
    try: [{fails: {raise: {error: {type: "https://errors.example/full", status: 507}}}}]
    catch: {retry: {limit: {attempt: {count: 1}}}, do: [{handles: {set: {handled: true}}}]}
- hear: {listen: {to: {one: {with: {type: paid}}}}}
- fault: {raise: {error: {type: "https://errors.example/gone", status: 410}}}
"""


async def test_the_life_of_tasks(bench: Bench, topic: str) -> None:
    """Tasks of DSL 1.0 are named by their pointers; data are those of its text."""
    definition = load(TASKS_OF_DSL.replace("ID", topic))
    async with working(bench, definition, *_ALL) as outside:
        handle = await outside.start(definition)
        await until(lambda: any(told(event)[1] == "waiting" for event in outside.published))
        await handle.signal("paid", {})
        with pytest.raises(RunEnded):
            await swf.result(handle)
    assert [told(event) for event in outside.published] == [
        ("workflow.started", None),
        ("workflow.status-changed", "running"),
        ("task.started", "/do/0/tried"),
        ("task.started", "/do/0/tried/try/0/fails"),
        ("task.retried", "/do/0/tried"),
        ("task.started", "/do/0/tried/try/0/fails"),
        ("task.faulted", "/do/0/tried"),
        ("task.started", "/do/0/tried/catch/do/0/handles"),
        ("task.completed", "/do/0/tried/catch/do/0/handles"),
        ("task.completed", "/do/0/tried"),
        ("task.started", "/do/1/hear"),
        ("workflow.correlation-started", None),
        ("workflow.status-changed", "waiting"),
        ("workflow.correlation-completed", None),
        ("workflow.status-changed", "running"),
        ("task.completed", "/do/1/hear"),
        ("task.started", "/do/2/fault"),
        ("task.faulted", "/do/2/fault"),
        ("workflow.faulted", None),
        ("workflow.status-changed", "faulted"),
    ]
    data = [event.data for event in outside.published if isinstance(event.data, dict)]
    assert data[0]["definition"] == {"name": topic, "namespace": "shop", "version": "1.0.0"}
    assert {"startedAt", "retriedAt", "faultedAt", "completedAt", "updatedAt"} <= {key for one in data for key in one}
    assert [one["error"] for one in data if "error" in one] == [
        {"type": "https://errors.example/full", "status": 507, "instance": "/do/0/tried/try/0/fails"},
        *[{"type": "https://errors.example/gone", "status": 410, "instance": "/do/2/fault"}] * 2,
    ]
