"""A server and a worker on which scenarios run."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from temporalio.client import Client, WorkflowQueryFailedError
from temporalio.service import RPCError
from temporalio.worker import Worker

from swf_temporal.base.client_errors import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError, WorkflowFault
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.sdk.scenarios.driver import ScenarioDriver
from swf_temporal.sdk.scenarios.scripted import ScriptedCalls, Session
from swf_temporal.sdk.scenarios.virtual_time import BeginningAt, Listener, VirtualTime
from swf_temporal.settings.payloads import PayloadSettings
from swf_temporal.simulation.clock import MICROSECOND
from swf_temporal.simulation.result import last_answers, retry_delay
from swf_temporal.simulation.scenario import ObservedRun, Scenario, workflows_of
from swf_temporal.simulation.simulate import events_of
from swf_temporal.temporal import schedules
from swf_temporal.temporal.client import Handle, result, start
from swf_temporal.temporal.instance_part import OperatorOptions
from swf_temporal.temporal.instance_parts import OF_SCENARIOS
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.statuses import answer_of
from swf_temporal.temporal.worker import make_worker

_CONFIGURED = (
    # A workflow may continue as new at once; the server would have it wait a second.
    "--dynamic-config-value", 'history.workflowIdReuseMinimalInterval="0s"',
)  # fmt: skip
_TASK_QUEUE = "scenarios"
_ACTIVITIES: Final = 5000
"""The number of concurrent activities: calls that wait for their turn must not block others."""
IN_SCENARIOS = OperatorOptions(answers_all=True, parts=OF_SCENARIOS)
"""The operator's options for workflow code."""


@dataclass(frozen=True, slots=True)
class ScenarioHost:
    """A server and a worker that run scenarios, concurrently if the ids of their definitions differ."""

    client: Client
    calls: ScriptedCalls

    async def observe(self, scenario: Scenario) -> ObservedRun:
        """Run *scenario* once. Raises InvalidDefinition if one of its definitions cannot run."""
        workflows = workflows_of(scenario)
        # An instance of a simulation has its definition's id, too.
        workflow_id = workflows[0].id
        driver = ScenarioDriver(self.client, workflow_id, events_of(scenario.events))
        session = self.calls.sessions[workflow_id] = Session.of(scenario, driver.family)
        try:
            return await self._observe(scenario, workflows, session, driver)
        finally:
            await session.close()

    async def _observe(
        self, scenario: Scenario, workflows: Sequence[Definition], session: Session, driver: ScenarioDriver
    ) -> ObservedRun:
        workflow_id = workflows[0].id
        early = [event.to_json() for event in events_of(scenario.early, "early")]
        try:
            handle = await start(
                _beginning(self.client, scenario),
                workflows,
                scenario.input,
                workflow_id=workflow_id,
                task_queue=_TASK_QUEUE,
                events=early,
                options={"memo": scenario.memo} if scenario.memo else None,
            )
            status = await driver.drive(cancels_waiting=scenario.cancels_waiting, cancel_after=scenario.cancel_after)
            observed = await self._observed(handle, session, status, workflows[0])
        finally:
            await driver.end()  # otherwise its calls would wait forever for their turn, and the worker for them
        return replace(observed, starts=await self._starts(scenario, workflows))

    async def _starts(self, scenario: Scenario, workflows: Sequence[Definition]) -> Sequence[datetime] | UsageError:
        """Ask the server for the schedule's starts that *scenario* asks about; the schedule only exists meanwhile."""
        asked = scenario.expect.starts
        if asked is None:
            return ()
        client, (first, *others) = self.client, workflows
        try:
            await schedules.apply(client, first, others, task_queue=_TASK_QUEUE, paused=True)
            try:
                return await schedules.times(client, first.id, asked.after, asked.before, asked.most)
            finally:
                await schedules.delete(client, first.id)
        except UsageError as error:
            return error

    async def _observed(self, handle: Handle, session: Session, status: str, definition: Definition) -> ObservedRun:
        cancellation = definition.cancellation(by_parent=False)
        output: JSON = None
        error: dict[str, JSON] | None = None
        if status == "cancelled" and cancellation is not None:
            # The server only says that it was cancelled; the name of that error depends on the language.
            error = _error_of(cancellation)
        if status in {"completed", "failed"}:
            try:
                output = await result(handle)
            except RunEnded as ended:
                error = _facts(ended)
        traces = list(session.family.traces.values())
        main = session.family.main
        if main.ended is None:
            with suppress(RPCError):  # one that is stuck does not answer
                traces.append(await answer_of(partial(self.client.get_workflow_handle(handle.id).query, "trace")))
        trace = [_entry(entry) for trace in traces for entry in trace]
        answers = last_answers(trace)
        for name in sorted(definition.queries):
            with suppress(RPCError, WorkflowQueryFailedError):  # no task that answers it has run
                answers[name] = await answer_of(partial(self.client.get_workflow_handle(handle.id).query, name))
        repeated = [(entry.name or "", delay) for entry in trace if (delay := retry_delay(entry)) is not None]
        return ObservedRun(
            status=status,
            output=output,
            error=error,
            produced=session.produced,
            calls=session.calls,
            requests=session.stub_services.recorded.requests if session.stub_services else (),
            unanswered=session.stub_services.recorded.unanswered if session.stub_services else (),
            delays=[*session.delays, *repeated],
            trace=trace,
            answers=answers,
            elapsed=(session.family.main.ended_at if session.family.main.ended else session.family.agenda.now)
            * MICROSECOND,
        )


@asynccontextmanager
async def scenario_host(
    calls_of: Callable[[], ScriptedCalls] = ScriptedCalls,
    runner_of: Callable[[Listener], VirtualTime] = VirtualTime,
    *,
    local_calls: bool = False,
    **options: Any,
) -> AsyncIterator[ScenarioHost]:
    """Start a server, and a worker with virtual time, within the context.

    With *local_calls*, calls are local where possible. *options* are those of the SDK's worker.
    """
    async with local_server(extra=_CONFIGURED, payloads=PayloadSettings.read()) as server:
        calls = calls_of()
        worker = make_worker(
            server.client,
            Catalogue(),
            calls,
            calls,
            task_queue=_TASK_QUEUE,
            max_concurrent_activities=_ACTIVITIES,
            operator_options=IN_SCENARIOS,
            variables=calls,
            environment=calls.environment,
            chooses_local_calls=local_calls,
            unsandboxed_workflow_runner=runner_of(calls.listen),
            **options,
        )
        _disable_deadlock_detection(worker)
        async with worker:
            yield ScenarioHost(server.client, calls)


def _disable_deadlock_detection(worker: Worker) -> None:
    """Allow a step of a workflow to take any time: on a busy machine, two seconds pass quickly.

    The SDK interrupts steps that take longer. Its public switch for that would also move all steps to the thread of the
    event loop.
    """
    workflows: Any = worker._workflow_worker  # noqa: SLF001 - see above
    workflows._deadlock_timeout_seconds = None  # noqa: SLF001 - see above


def _beginning(client: Client, scenario: Scenario) -> Client:
    """Return *client*, or one whose runs begin at the time in *scenario*."""
    if scenario.start_time is None:
        return client
    config = client.config()
    config["interceptors"] = [*config["interceptors"], BeginningAt(scenario.start_time)]
    return Client(**config)


def _facts(ended: RunEnded) -> dict[str, JSON]:
    return {"name": ended.name, "message": ended.message} if ended.fault is None else _error_of(ended.fault)


def _error_of(fault: WorkflowFault) -> dict[str, JSON]:
    return {
        "name": fault.name,
        "code": fault.code,
        "message": fault.message,
        "state": fault.state,
        "action": fault.action,
    }


def _entry(entry: dict[str, Any]) -> TraceEntry:
    fields = {**entry, "kind": TraceKind(entry["kind"]), "at": datetime.fromisoformat(entry["at"])}
    del fields["number"]
    return TraceEntry(**fields)
