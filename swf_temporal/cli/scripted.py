"""How do functions answer on Temporal as a scenario scripts them, in virtual time?

Theory of operation. The server's clock for a workflow jumps over timers and over the pauses between the attempts at
an activity, but never while an attempt is under way. So an answer that takes an hour is given in two attempts: the
first asks for another one after an hour, and that gives the answer. A jump can begin an attempt too early; it asks for
another again. Attempts that only wait are not counted: the retries of a definition see none of this.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from temporalio import activity
from temporalio.exceptions import ApplicationError

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed, TimedOut, WorkflowFault
from swf_temporal.interpreter.host import FunctionCall
from swf_temporal.interpreter.retrying import Draw
from swf_temporal.model.cloudevent import CloudEvent
from swf_temporal.simulation.arguments import arguments_of
from swf_temporal.simulation.scenario import Scenario, chance_of, outside_of, scripted
from swf_temporal.temporal.activities import decided

if TYPE_CHECKING:
    from swf_temporal.simulation.services.outside import Outside

_TICK = timedelta(milliseconds=1)


@dataclass(slots=True)
class Call:
    """A call that is not over: it waits for its next attempt."""

    due: datetime
    """When the next attempt should begin."""
    attempt: int
    """The number of that attempt, not counting those that only waited."""
    outcome: JSON | WorkflowFault = None
    """What that attempt comes to, if it is known already."""
    is_known: bool = False


@dataclass(slots=True)
class Session:
    """One scenario while it runs: its script, and what was seen of it."""

    functions: Mapping[str, Callable[[JSON], Awaitable[JSON]]]
    secrets: Mapping[str, JSON]
    chance: Callable[[str], Draw]
    outside: "Outside | None" = None
    """Where functions are called that have no script."""
    calls: list[tuple[str, JSON]] = field(default_factory=list)
    produced: list[Mapping[str, JSON]] = field(default_factory=list)
    delays: list[tuple[str, timedelta]] = field(default_factory=list)
    waiting: dict[tuple[str, str], Call] = field(default_factory=dict)
    """By the ids of the instance and of the activity."""
    took: timedelta = timedelta()
    """How long the latest answer takes."""

    @classmethod
    def of(cls, scenario: Scenario) -> "Session":
        """Return a session for one run of *scenario*."""

        async def take(time: timedelta) -> None:
            session.took = time

        session = cls(scripted(scenario.functions, take), scenario.secrets, chance_of(scenario), outside_of(scenario))
        return session

    async def close(self) -> None:
        """Stop the services."""
        if self.outside is not None:
            await asyncio.to_thread(self.outside.close)


class ScriptedCalls:
    """Performs the calls of every scenario that runs, each in its session, and keeps the events that are produced."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        """By the id of the main instance; the ids of sub-workflows begin with it."""

    async def perform(self, call: FunctionCall, *, source: str, key: str, attempt: int) -> JSON:  # noqa: ARG002 - counts what only waited
        """Answer as the script says."""
        info = activity.info()
        workflow_id = info.workflow_id or ""
        session, place = self._session(workflow_id), (workflow_id, info.activity_id)
        waited = session.waiting.get(place)
        if waited is not None and info.started_time + _TICK < waited.due:
            raise _later(waited.due - info.started_time)
        session.waiting.pop(place, None)
        if waited is None or not waited.is_known:
            number = 1 if waited is None else waited.attempt
            waited = await _answered(session, call, number, source=source, key=key)
            if session.took:
                raise _postponed(session, place, waited)
        if not isinstance(waited.outcome, WorkflowFault):
            return waited.outcome
        failure = decided(call, waited.outcome, waited.attempt, key, session.chance)
        if failure.next_retry_delay is not None:
            session.delays.append((call.function.name, failure.next_retry_delay))
            session.waiting[place] = Call(info.started_time + failure.next_retry_delay, waited.attempt + 1)
        raise failure

    async def publish(self, event: CloudEvent) -> None:
        """Keep the event."""
        self._session(activity.info().workflow_id or "").produced.append(event.to_json())

    def _session(self, workflow_id: str) -> Session:
        return self.sessions[workflow_id.partition("/")[0]]


async def _answered(session: Session, call: FunctionCall, attempt: int, *, source: str, key: str) -> Call:
    """Return what an attempt at *call* comes to; `session.took` says after which time."""
    session.took = timedelta()
    outcome: JSON | WorkflowFault
    try:
        outcome = await _outcome(session, call, attempt, source=source, key=key)
    except WorkflowFault as fault:
        outcome = fault
    return Call(activity.info().started_time, attempt, outcome, is_known=True)


async def _outcome(session: Session, call: FunctionCall, attempt: int, *, source: str, key: str) -> JSON:
    name, arguments = call.function.name, arguments_of(call, session.secrets)
    session.calls.append((name, arguments))
    if name in session.functions:
        return await session.functions[name](arguments)
    if session.outside is not None:
        return await session.outside.perform(call, source=source, key=key, attempt=attempt)
    message = f"function {name!r} has no scripted result: give it one in `functions`"
    raise CallFailed(message, code="NotScripted", retryable=False)


def _postponed(session: Session, place: tuple[str, str], answer: Call) -> ApplicationError:
    """Return what asks for the next attempt when *answer* is due, or when its time is up if that is sooner."""
    info = activity.info()
    answer.due = info.started_time + session.took
    if info.schedule_to_close_timeout:
        # The engine does not wait for an attempt that would come too late: it would fail the call at once.
        end = info.scheduled_time + info.schedule_to_close_timeout - 5 * _TICK
        if end < answer.due:
            action = info.activity_id.rpartition("/")[2].rpartition("#")[0]
            answer.due, answer.outcome = end, TimedOut(f"action {action!r} took longer than it may", retryable=False)
    session.waiting[place] = answer
    return _later(answer.due - info.started_time)


def _later(delay: timedelta) -> ApplicationError:
    return ApplicationError("the answer takes its time", type="Later", next_retry_delay=max(delay, _TICK))
