"""Functions that answer on Temporal as a scenario scripts them, in virtual time.

Theory of operation. A call waits in its activity for its turn, and for the time that its answer takes. The pause before
another attempt is part of that attempt: the server gets the shortest backoff, so that the attempts, and the decision
whether there is another, are Temporal's own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio import activity
from temporalio.exceptions import ApplicationError

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, WorkflowFault
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.runtime.namespace_files import read_file
from swf_temporal.runtime.retrying import JitterSource
from swf_temporal.runtime.variables import NotLocal, Variable, VariableRef, is_local
from swf_temporal.sdk.scenarios.family import Family, PendingCall
from swf_temporal.sdk.scenarios.virtual_time import TOO_LATE, ActivationReport
from swf_temporal.simulation.clock import MICROSECOND
from swf_temporal.simulation.scenario import Scenario, stub_services_of
from swf_temporal.simulation.script import arguments_of, jitter_in, scripted
from swf_temporal.temporal.activities import decided
from swf_temporal.temporal.call_records import application_error
from swf_temporal.temporal.local_calls import GoesOn
from swf_temporal.temporal.publishing import without_origin

if TYPE_CHECKING:
    from swf_temporal.simulation.services.stub_services import StubServices

_MIN_DELAY = timedelta(milliseconds=1)


@dataclass(slots=True)
class Session:
    """A running scenario: its script, and what was observed."""

    family: Family
    functions: Mapping[str, Callable[[JSON], Awaitable[JSON]]]
    secrets: Mapping[str, JSON]
    jitter: Callable[[str], JitterSource]
    stub_services: "StubServices | None" = None
    """The services for functions that have no script."""
    calls: list[tuple[str, JSON]] = field(default_factory=list)
    produced: list[Mapping[str, JSON]] = field(default_factory=list)
    delays: list[tuple[str, timedelta]] = field(default_factory=list)
    variables: dict[VariableRef, Variable] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables of the environment that definitions see."""
    folder: Path = Path()
    """The folder with the files of the namespace."""

    @classmethod
    def of(cls, scenario: Scenario, family: Family) -> "Session":
        async def take(time: timedelta) -> None:
            if is_local():
                raise NotLocal("time does not pass within a workflow task")
            call = await _turn(family)
            family.park(call, time // MICROSECOND)
            await _turn(family)

        return cls(
            family,
            scripted(scenario.answers, take),
            scenario.secrets,
            jitter_in(scenario),
            stub_services_of(scenario),
            folder=scenario.file.parent,
            environment=scenario.environment,
        )

    async def close(self) -> None:
        if self.stub_services is not None:
            await asyncio.to_thread(self.stub_services.close)


class ScriptedCalls:
    """Performs the calls of every running scenario, each in its session, and records the produced events."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        """By the id of the main instance; the ids of sub-workflows begin with it."""
        self._loop = asyncio.get_running_loop()

    def listen(self, report: ActivationReport) -> None:
        """Process the jobs and commands of a workflow. Called in the thread of the workflow."""
        self._loop.call_soon_threadsafe(self._on_report, report)

    def _on_report(self, report: ActivationReport) -> None:
        session = self.sessions.get(_main(report.workflow_id))
        if session is not None and report.workflow_id in session.family.members:
            session.family.take(report)

    async def perform(self, call: FunctionCall, *, source: str, key: str, attempt: int) -> JSON:
        session = self._session()
        if is_local():
            return await _local_outcome(session, call, attempt, source=source, key=key)
        turn = await _turn(session.family)
        made = attempt - activity.info().attempt
        try:
            return await _outcome(session, call, made + turn.attempt, source=source, key=key)
        except WorkflowFault as fault:
            failure = decided(call, fault, made + turn.attempt, key, session.jitter)
            delay = failure.next_retry_delay
            if delay is None:
                raise failure from None
            session.delays.append((call.function.name, delay))
            after = 0 if delay <= _MIN_DELAY else delay // MICROSECOND
            if turn.end is not None and session.family.agenda.now + after > turn.end:
                # Temporal sees that the next attempt would come too late, and makes none.
                raise application_error(fault, next_retry_delay=TOO_LATE) from None
            turn.attempt += 1
            session.family.park(turn, after)
            raise application_error(fault, next_retry_delay=_MIN_DELAY) from None

    async def publish(self, event: CloudEvent) -> None:
        session = self._session()
        await _turn(session.family)
        session.produced.append(without_origin(event).to_json())

    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Return the value of a variable in this scenario; files are those beside it."""
        session = self._session()
        await _turn(session.family)
        if of.scope == "file":
            return await asyncio.to_thread(read_file, of.key, [session.folder])
        return session.variables.get(of)

    async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:  # noqa: ARG002 - no attempt is lost
        session = self._session()
        await _turn(session.family)
        for of, value in values.items():
            if value is None:
                session.variables.pop(of, None)
            else:
                session.variables[of] = value

    def environment(self, workflow_id: str) -> Mapping[str, str]:
        """Return the variables of the environment that the scenario of an instance has."""
        session = self.sessions.get(_main(workflow_id))
        return {} if session is None else session.environment

    async def has_ended(self, owner: str) -> bool:  # noqa: ARG002 - the variables of a scenario end with it
        """Return true: no workflow holds variables here."""
        return True

    def _session(self) -> Session:
        session = self.sessions.get(_main(activity.info().workflow_id or ""))
        if session is None:
            raise _not_awaited()
        return session


async def _turn(family: Family) -> PendingCall:
    """Wait until it is this activity's turn."""
    info = activity.info()
    call = family.agenda.call(info.workflow_run_id or "", info.activity_id)
    if call is None:
        raise _not_awaited()
    call.asked = info.attempt
    await call.turn.wait()
    if call.is_over or call.asked != info.attempt:  # Temporal considered this attempt lost, and made another
        raise _not_awaited()
    return call


def _not_awaited() -> ApplicationError:
    return ApplicationError("the answer is no longer awaited", type="Over", non_retryable=True)


def _main(workflow_id: str) -> str:
    # The id of a definition may be a path, which begins with a slash.
    return f"/{workflow_id[1:].partition('/')[0]}" if workflow_id.startswith("/") else workflow_id.partition("/")[0]


async def _local_outcome(session: Session, call: FunctionCall, attempt: int, *, source: str, key: str) -> JSON:
    """Return the result of a local call. Time does not pass within the workflow task, so any pause makes it fail."""
    try:
        return await _outcome(session, call, attempt, source=source, key=key)
    except NotLocal:
        session.calls.pop()  # it was not made yet
        raise
    except WorkflowFault as fault:
        failure = decided(call, fault, attempt, key, session.jitter)
        delay = failure.next_retry_delay
        if delay is None:
            raise failure from None
        session.delays.append((call.function.name, delay))
        pause = timedelta() if delay <= _MIN_DELAY else delay
        raise GoesOn(attempt, pause, f"{fault.name}: {fault.message}").to_error() from None


async def _outcome(session: Session, call: FunctionCall, attempt: int, *, source: str, key: str) -> JSON:
    name, arguments = call.function.name, arguments_of(call, session.secrets)
    session.calls.append((name, arguments))
    if name in session.functions:
        return await session.functions[name](arguments)
    if session.stub_services is not None:
        return await session.stub_services.perform(call, source=source, key=key, attempt=attempt)
    message = f"function {name!r} has no scripted result: give it one in `functions`"
    raise CallFailed(message, code="NotScripted", retryable=False)
