"""A real Temporal server and a worker for the whole session, on free loopback ports."""

import asyncio
import inspect
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import temporalio.client
from temporalio.api.common import v1 as proto
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import (
    Client,
    OutboundInterceptor,
    QueryWorkflowInput,
    WorkflowExecution,
    WorkflowExecutionStatus,
    WorkflowHistory,
)
from temporalio.converter import DataConverter
from temporalio.runtime import MetricBuffer, Runtime, TelemetryConfig
from temporalio.worker import Interceptor, Replayer, UnsandboxedWorkflowRunner, Worker, WorkflowRunner

from swf_temporal import RunEnded
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.languages.performing import filled
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.budgets import InstanceLimits
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.runtime.ids import id_of_child
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.constants import GIVE_WAY
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.instance_part import OperatorOptions
from swf_temporal.temporal.records import Pin
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.statuses import answer_of
from swf_temporal.temporal.worker import make_worker
from swf_temporal.temporal.workflows import ALL_WORKFLOWS
from tests.processes import ending_with_us
from tests.temporal.suspending import SUSPEND_AFTER, SUSPENDING, suspending

AT_ONCE = ("--dynamic-config-value", 'history.workflowIdReuseMinimalInterval="0s"')
"""Lets a run that continues as new begin its next execution at once, and not a second after the one before."""

PATIENCE = 110
"""Seconds in which an instance has to end: what a busy machine needs, and less than a test may take."""

Answer = Callable[[JSON], Any]


@dataclass
class Scripted:
    functions: Mapping[str, Answer]
    secrets: Mapping[str, JSON] = field(default_factory=dict)
    calls: list[tuple[str, JSON, str, int]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    published: list[CloudEvent] = field(default_factory=list)
    takers: list[str] | None = None
    """The names of the sinks that take events."""
    is_unreachable: bool = False
    """Whether no event can be sent."""

    async def perform(self, call: FunctionCall, *, source: str, key: str, attempt: int) -> JSON:
        self.sources.append(source)
        arguments = filled(call, self.secrets)
        self.calls.append((call.function.name, arguments, key, attempt))
        answer = self.functions[call.function.name](arguments)
        result: JSON = await answer if isinstance(answer, Awaitable) else answer
        return result

    async def publish(self, event: CloudEvent) -> list[str] | None:
        if self.is_unreachable:
            raise ConnectionError("the broker is away")
        self.published.append(event)
        return self.takers


class AskingAgain(temporalio.client.Interceptor):
    """Asks a query again that came too early, as our own client does."""

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002 - the SDK's name
        return _AskingAgain(next)


class _AskingAgain(OutboundInterceptor):
    async def query_workflow(self, input: QueryWorkflowInput) -> Any:  # noqa: A002 - as above
        return await answer_of(partial(self.next.query_workflow, input))


class Bench:
    """Runs definitions on the session's server, each test on a task queue of its own."""

    numbers = count(1)

    def __init__(self, server: Server) -> None:
        self.server = server
        config = server.client.config()
        config["interceptors"] = [AskingAgain()]
        self.client = Client(**config)

    def handle(self, workflow: str | swf.Handle, run: str | None = None) -> swf.Handle:
        """Return a handle of the latest run of a workflow, or of *run*."""
        return self.client.get_workflow_handle(workflow if isinstance(workflow, str) else workflow.id, run_id=run)

    def first(self, handle: swf.Handle) -> swf.Handle:
        """Return a handle of the first execution of a run, which may have continued as new."""
        return self.handle(handle, handle.first_execution_run_id)

    async def child(self, parent: str | swf.Handle, child: str) -> swf.Handle:
        """Return a handle of the workflow that the latest run of *parent* begins for *child*."""
        described = await self.handle(parent).describe()
        first = described.raw_description.workflow_execution_info.first_run_id
        return self.handle(id_of_child(described.id, first, child))

    async def run(self, definitions: Definition | Sequence[Definition], data: JSON = None, **options: Any) -> JSON:
        """Run an instance of the first of *definitions* on a worker with these *options*, and return its output."""
        async with self.worker(*_all(definitions), **options) as worker:
            return await worker.run(data)

    async def failure(
        self, definitions: Definition | Sequence[Definition], data: JSON = None, **options: Any
    ) -> RunEnded:
        async with self.worker(*_all(definitions), **options) as worker:
            return await worker.failure(data)

    @asynccontextmanager
    async def worker(  # noqa: PLR0913 - what tests say of a worker
        self,
        *definitions: Definition,
        runner: WorkflowRunner | None = None,
        secrets: Mapping[str, JSON] | None = None,
        queue: str | None = None,
        only_known: bool = False,
        limits: InstanceLimits | None = None,
        interceptors: Sequence[Interceptor] = (),
        activities: Sequence[Callable[..., Any]] = (),
        options: OperatorOptions | None = None,
        **functions: Any,
    ) -> AsyncIterator["Running"]:
        """Run a worker for *definitions* whose functions are constants or callables."""
        answers = {name: f if callable(f) else (lambda _, f=f: f) for name, f in functions.items()}
        scripted = Scripted(answers, secrets or {})
        queue = queue or f"test-{os.getpid()}-{next(self.numbers)}"
        worker = make_worker(
            self.client,
            Catalogue(definitions),
            scripted,
            scripted,
            task_queue=queue,
            runner=runner,
            limits=limits,
            interceptors=interceptors,
            activities=activities,
            operator_options=options or suspending(only_known=only_known),
            # On a busy machine a task may take the two seconds after which the SDK would break it off in this process.
            debug_mode=runner is None,
        )
        async with worker:
            yield Running(self, list(definitions), scripted, queue, worker)


def _all(definitions: Definition | Sequence[Definition]) -> Sequence[Definition]:
    return [definitions] if isinstance(definitions, Definition) else definitions


@dataclass
class Running:
    bench: Bench
    definitions: list[Definition]
    scripted: Scripted
    queue: str
    worker: Worker

    async def start(self, data: JSON = None, *, definition: int = 0, **options: Any) -> swf.Handle:
        first = self.definitions[definition]
        others = [one for one in self.definitions if one is not first]
        if SUSPEND_AFTER in options:
            options["others"] = {SUSPEND_AFTER: options.pop(SUSPEND_AFTER)}
        workflow_id = options.pop("workflow_id", f"{first.id}-{os.getpid()}-{next(Bench.numbers)}")
        return await swf.start(
            self.bench.client, [first, *others], data, workflow_id=workflow_id, task_queue=self.queue, **options
        )

    async def start_awaiting(self, event: str, data: JSON = None, **options: Any) -> swf.Handle:
        """Start an instance, and wait until it awaits *event*."""
        handle = await self.start(data, **options)
        await self.awaiting(handle, event)
        return handle

    async def run(self, data: JSON = None, **options: Any) -> JSON:
        return await outcome(await self.start(data, **options))

    async def failure(self, data: JSON = None, **options: Any) -> RunEnded:
        return await failure_of(await self.start(data, **options))

    async def deliver(self, handle: swf.Handle, event: str, data: JSON = None) -> str:
        """Deliver the event of that name, and return what became of it."""
        return await swf.deliver(self.bench.client, handle.id, {"name": event, "data": data})

    async def send(self, handle: swf.Handle, event: CloudEvent | dict[str, Any]) -> None:
        """Send a CloudEvent as a signal."""
        await swf.send_event(self.bench.client, handle.id, event.to_json() if isinstance(event, CloudEvent) else event)

    @property
    def called(self) -> list[str]:
        """The names of the functions that were called, in order."""
        return [name for name, *_ in self.scripted.calls]

    async def begin(self, workflow_type: str, *args: Any, workflow_id: str, **options: Any) -> swf.Handle:
        """Start a workflow as any client of the server does: by its type."""
        return await self.bench.client.start_workflow(
            workflow_type, args=args, id=workflow_id, task_queue=self.queue, **options
        )

    async def start_pinned(self, pin: Pin, workflow_id: str, data: JSON = None, *, definition: int = 0) -> swf.Handle:
        """Start an instance with a *pin* that the test has written."""
        return await self.begin(self.definitions[definition].id, data or {}, pin.to_json(), workflow_id=workflow_id)

    async def awaiting(self, handle: swf.Handle, event: str) -> None:
        """Wait until the instance awaits *event*."""
        await until(
            lambda: handle.query("status"),
            lambda status: any(event in (one["name"] for one in wait["events"]) for wait in status["awaiting"]),
        )


def define(*states: dict[str, Any], functions: tuple[str | dict[str, Any], ...] = (), **rest: Any) -> Definition:
    """Return a workflow of *states*; the last one ends, the others lead to the next."""
    whole = []
    for index, state in enumerate(states):
        free = not state.keys() & {"end", "transition", "dataConditions", "eventConditions", "usedForCompensation"}
        way: dict[str, Any] = {}
        if free:
            way = {"end": True} if index == len(states) - 1 else {"transition": states[index + 1]["name"]}
        whole.append({**state, **way})
    return load(
        {
            "id": "sample",
            "version": "1.0.0",
            "specVersion": "0.8",
            "functions": [
                one if isinstance(one, dict) else {"name": one, "type": "custom", "operation": one} for one in functions
            ],
            "states": whole,
            **rest,
        }
    )


def calling(name: str, *functions: str, **rest: Any) -> dict[str, Any]:
    """Return an operation state that calls *functions* one after the other."""
    return {"name": name, "type": "operation", "actions": [{"functionRef": f} for f in functions], **rest}


def gives_way(event: HistoryEvent) -> bool:
    """Tell whether with *event* a run gave way that worked long, or had to send more than one workflow task may."""
    return event.activity_task_scheduled_event_attributes.activity_type.name == GIVE_WAY


async def events_of(handle: swf.Handle) -> list[Any]:
    history: WorkflowHistory = await handle.fetch_history()
    return list(history.events)


async def outcome(handle: swf.Handle) -> JSON:
    """Return the output of an instance that ends in time."""
    return await asyncio.wait_for(swf.result(handle), PATIENCE)


async def failure_of(handle: swf.Handle) -> RunEnded:
    with pytest.raises(RunEnded) as failed:
        await outcome(handle)
    return failed.value


async def told_in(handle: swf.Handle, kind: str) -> list[Any]:
    """Return the attributes of the events of a *kind*, such as `timer_started`, in the history of a workflow."""
    name = f"{kind}_event_attributes"
    return [getattr(event, name) for event in await events_of(handle) if event.HasField(name)]


async def was_continued(handle: swf.Handle) -> bool:
    """Tell whether an instance has continued as new: whether *handle* leads to a later execution than the first."""
    described = await handle.describe()
    return bool(described.raw_description.workflow_execution_info.first_run_id != described.run_id)


async def until(ask: Callable[[], Any], holds: Callable[[Any], object] = bool, patience: float = PATIENCE) -> Any:
    """Ask again and again until the answer *holds*, and return it."""
    async with asyncio.timeout(patience):
        while True:
            answer = ask()
            if inspect.isawaitable(answer):
                answer = await answer
            if holds(answer):
                return answer
            await asyncio.sleep(0.02)


async def until_ready(client: httpx.AsyncClient) -> None:
    """Wait until a gateway says that it can serve: on a busy machine its server may answer too late for that."""
    await until(lambda: client.get("/readyz"), lambda answer: answer.status_code == 200)


async def failed_tasks(handle: swf.Handle) -> list[str]:
    """Return why workflow tasks of an instance have failed."""
    return [str(one.failure.message) for one in await told_in(handle, "workflow_task_failed")]


async def failed_task(handle: swf.Handle) -> str:
    """Wait until a workflow task of an instance has failed, and return why; the instance is running still."""
    first, *_ = await until(lambda: failed_tasks(handle))
    assert (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
    return str(first)


async def listed(client: Client, query: str, number: int) -> list[WorkflowExecution]:
    """Return the executions that *query* finds once there are so many; the server lists them some time late."""
    await until(lambda: client.count_workflows(query), lambda found: found.count >= number)
    return [one async for one in client.list_workflows(query)]


async def replays(
    history: WorkflowHistory, *interceptors: Interceptor, converter: DataConverter = CONVERTER
) -> Exception | None:
    """Replay a history without a server. Return what that failed with."""
    replayer = Replayer(
        workflows=ALL_WORKFLOWS, interceptors=interceptors or SUSPENDING,
        unsandboxed_workflow_runner=UnsandboxedWorkflowRunner(), data_converter=converter, debug_mode=True,
    )  # fmt: skip
    return (await replayer.replay_workflow(history, raise_on_replay_failure=False)).replay_failure


async def reset(handle: swf.Handle, client: Client, **rest: Any) -> swf.Handle:
    """Have the server take an instance back to its first workflow task; return the run that begins there."""
    found = client.get_workflow_handle(handle.id, run_id=handle.run_id or handle.first_execution_run_id)
    first = next(one for one in await events_of(found) if one.HasField("workflow_task_completed_event_attributes"))
    request = ResetWorkflowExecutionRequest(
        namespace=client.namespace,
        workflow_execution=proto.WorkflowExecution(workflow_id=handle.id, run_id=(await found.describe()).run_id),
        workflow_task_finish_event_id=first.event_id, request_id=str(uuid4()), **rest,
    )  # fmt: skip
    answer = await client.workflow_service.reset_workflow_execution(request)
    return client.get_workflow_handle(handle.id, run_id=answer.run_id)


def with_converter(bench: "Bench", converter: DataConverter) -> "Bench":
    """Return a bench on the same server whose client writes payloads by *converter*."""
    config = bench.client.config()
    config["data_converter"] = converter
    return Bench(replace(bench.server, client=Client(**config)))


def start_worker(bench: "Bench", folder: Path, queue: str, *arguments: str, **env: str) -> "subprocess.Popen[bytes]":
    """Start `swf worker` for the definitions in *folder*, in a process of its own."""
    address = bench.client.service_client.config.target_host
    paths = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([str(folder), str(Path.cwd())])}
    return subprocess.Popen(
        [
            *ending_with_us(), sys.executable, "-m", "tests.temporal.missed_soon", "worker", str(folder),
            "--task-queue", queue, *arguments,
        ],
        env={**paths, "TEMPORAL_ADDRESS": address, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def killed(worker: "subprocess.Popen[bytes]") -> None:
    worker.kill()
    worker.wait(30)


HEAD = "id: ID\nversion: '1.0'\nspecVersion: '0.8'\n"


def named(text: str, id_: str | None = None) -> Definition:
    """Return the definition in *text*, which need not begin with what all have, under an id of its own, or that."""
    text = text if re.search("^id:", text, re.MULTILINE) else HEAD + text
    return load(text.replace("ID", id_ or f"named-{os.getpid()}-{next(Bench.numbers)}"))


def pytest_itemcollected(item: pytest.Item) -> None:
    if {"bench", "measured"} & set(getattr(item, "fixturenames", ())):
        item.add_marker("temporal")


@pytest.fixture(scope="session")
async def bench() -> AsyncIterator[Bench]:
    async with local_server(extra=AT_ONCE) as server:
        yield Bench(server)


class Measured(Bench):
    def __init__(self, server: Server, metrics: MetricBuffer) -> None:
        super().__init__(server)
        self._metrics = metrics
        self._updates: list[Any] = []

    def counted(self, name: str, *labels: str) -> list[tuple[str, ...]]:
        self._updates += self._metrics.retrieve_updates()
        found = (one.attributes for one in self._updates if one.metric.name == name)
        return [tuple(str(attributes[label]) for label in labels) for attributes in found]

    def measured(self, name: str, label: str) -> dict[str, float]:
        """Return the latest values of a gauge by those of a label."""
        self.counted(name)
        found = [one for one in self._updates if one.metric.name == name]
        return {str(one.attributes[label]): one.value for one in found}


async def measured_at(address: str) -> Measured:
    metrics = MetricBuffer(10_000)
    runtime = Runtime(telemetry=TelemetryConfig(metrics=metrics))
    client = await Client.connect(address, data_converter=CONVERTER, runtime=runtime)
    return Measured(Server(client, None), metrics)


@pytest.fixture
async def measured(bench: Bench) -> Measured:
    """Return what runs definitions on the session's server, and keeps what is counted."""
    return await measured_at(bench.client.service_client.config.target_host)
