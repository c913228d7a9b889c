"""Running an instance again from the beginning of a state or an action that it has come to before.

Theory of operation. Temporal resets a run to one of its workflow tasks. In which task a state was entered follows from
the history: it is replayed here, as a worker would do, and each entry of the trace tells how long the history was then.
All that the task began is begun again, and what came before it stays as it was.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import uuid4

from temporalio.api.enums.v1 import ContinueAsNewInitiator
from temporalio.client import Client as TemporalClient

from swf_temporal.app.client import Client
from swf_temporal.app.histories import Execution, converter_used_by, executions_of
from swf_temporal.app.instances import described, is_open
from swf_temporal.client_errors import InstanceEndedError, InstanceError
from swf_temporal.data import JSON
from swf_temporal.errors import UsageError
from swf_temporal.grammar import listed
from swf_temporal.routing.keys import MAILBOX_PREFIX
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.runtime.names import WORKFLOW_TYPES
from swf_temporal.temporal import summaries
from swf_temporal.temporal.constants import ROUTED
from swf_temporal.temporal.given_back import Posted, regain
from swf_temporal.temporal.going_on import Beginning, beginning_at
from swf_temporal.temporal.place_records import Asking
from swf_temporal.temporal.places import ask
from swf_temporal.temporal.replaying import Retraced, retrace
from swf_temporal.temporal.resetting import After, Came, Done, after_length, after_task, end_of_task, reset
from swf_temporal.text.suggestions import did_you_mean

RETRIED: Final = ("failed", "timed-out", "terminated")
"""The statuses of instances that can be retried. One that was cancelled may have undone what it did."""


class NotFailedError(InstanceError):
    """An instance that has not failed."""


class GoneOnError(InstanceError):
    """An instance that has gone on since it was planned what becomes of it."""


class NeverThereError(InstanceError):
    """An instance that has never come to the state or the action from which it is to go on."""


class SubWorkflowError(InstanceError):
    """An instance that another began, which does not wait for it again."""


class Place(NamedTuple):
    """A place among the instances that run at once."""

    id: str
    """Of what gives such places."""
    limit: int

    async def take_back(self, client: TemporalClient, workflow_id: str) -> None:
        """Take note that an instance has the place again that it gave back, however many have one by now."""
        found = await client.get_workflow_handle(workflow_id).describe()
        request = Asking(
            instance=workflow_id,
            run=found.raw_description.workflow_execution_info.first_run_id,
            ask=str(uuid4()),
            definition=found.workflow_type,
            limit=self.limit,
            runs=True,
        )
        await ask(client, self.id, request, found.task_queue)


@dataclass(frozen=True, slots=True)
class Rerun:
    """What becomes of an instance that goes on from a state, or an action of it, once more."""

    workflow_id: str
    definition: str
    status: str
    state: str
    action: str | None
    entered: datetime
    """When it had come there."""
    times: int
    """How often it had come there. It goes on from the last of these times."""
    run_id: str
    task: int
    """The event with which the workflow task ended that is done once more."""
    again: tuple[str, ...]
    """The states that it has entered since."""
    done: tuple[Done, ...]
    """What was begun outside since, and is not undone."""
    events: tuple[Came, ...]
    """The events that have come since."""
    leading: tuple[Came, ...]
    """The events with which it came there."""
    posted: tuple[Posted, ...]
    """The messages that it sent to mailboxes since."""
    overdue: tuple[str, ...]
    """The timers that are due at once."""
    latest: tuple[str, int]
    """Its latest execution, and how many events that had."""
    place: Place | None
    """The place that it had when it came there; None where nothing bounds how many run at once."""
    entry: int
    """The number of the entry of that execution's trace with which it came there."""
    patch: JSON = None
    """The JSON merge patch that changes the data with which it enters the state; None leaves them as they were."""

    @property
    def is_running(self) -> bool:
        """Whether it has not ended: its run is terminated then."""
        return is_open(self.status)

    @property
    def place_name(self) -> str:
        """The state from which it goes on, and the action if it is from one."""
        return self.state if self.action is None else f"{self.state}/{self.action}"

    def facts(self) -> dict[str, Any]:
        """Return it as JSON."""
        found: dict[str, Any] = {"id": self.workflow_id, "definition": self.definition, "status": self.status}
        found |= {"from": self.state} | ({} if self.action is None else {"action": self.action})
        found |= {} if self.patch is None else {"data": self.patch}
        return found | {
            "entered": self.entered.isoformat(timespec="milliseconds"),
            "times": self.times,
            "again": list(self.again),
            "done": [{"id": one.id, "name": one.name, "kind": one.kind, "outcome": one.outcome} for one in self.done],
            "events": len(self.events),
            "overdue": list(self.overdue),
        }

    async def begin(self, client: Client, *, drop_events: bool = False) -> str:
        """Let the instance go on there, and return the id of its new run. If it still runs, that run is terminated.

        Events that have come since are given to it again, unless they are dropped. Raises UsageError if the server
        refuses or the data are too large, and GoneOnError if the instance has gone on since this was planned: it may
        have done more by now, and got events. Once it is begun, being cancelled does not stop it halfway.
        """
        now = await client.temporal.get_workflow_handle(self.workflow_id).describe()
        if (now.run_id, now.history_length) != self.latest:
            hint = "look again at what is done again, and answer sooner"
            raise GoneOnError(f"{self.workflow_id!r} has gone on meanwhile", hint, instance=self.workflow_id)
        return await _to_its_end(self._go_on(client, drop_events=drop_events))

    async def _go_on(self, client: Client, *, drop_events: bool) -> str:
        reason = f"rerun from {self.place_name}"
        # A worker is handed signals before updates, and so later ones before those with which it came there.
        by_server, leading = not (drop_events or self.leading), self.leading
        events = () if drop_events else self.events
        beginning = await self._beginning(client, events)
        if beginning is None:
            run = await reset(client.temporal, self.workflow_id, self.run_id, self.task, reason, with_events=by_server)
        else:
            run, by_server = await beginning.start(client.temporal, self.workflow_id), beginning.has_events
            leading = leading[len(leading) - beginning.early_updates :]  # it begins with the others
        if self.place is not None:
            await self.place.take_back(client.temporal, self.workflow_id)
        has_late = self.is_running and not drop_events
        late = await after_length(client.temporal, self.workflow_id, *self.latest) if has_late else After()
        await regain(client.temporal, () if drop_events else (*self.posted, *late.posted))
        again = [] if by_server else [*leading, *events]
        if beginning is not None or not by_server:
            again += [*late.leading, *late.events]  # a reset has these
        with suppress(InstanceEndedError):  # it went on, and needed none of these
            for event in again:
                await event.send(client.temporal, self.workflow_id)
        return run

    async def _beginning(self, client: Client, events: Sequence[Came]) -> Beginning | None:
        """Return what another execution begins with there; None where a reset does.

        A run that was reset is sent later events after those with which it came there. It may end before that, and
        those of a mailbox would not go back there: with its data as they were, too, it begins with them if it can.
        """
        is_changed = self.patch is not None
        gives_back = self.leading and any(one.signal == ROUTED for one in events)
        if not (is_changed or gives_back):
            return None
        # Not kept since it was planned: many may be planned at once.
        handle = client.temporal.get_workflow_handle(self.workflow_id, run_id=self.run_id)
        try:
            beginning = await beginning_at(
                await handle.fetch_history(),
                converter_used_by(client),
                self.entry,
                self.patch,
                leading=[await one.sent(client.temporal) for one in self.leading],
                events=[await one.sent(client.temporal) for one in events],
            )
        except UsageError:  # it has too much to carry on
            if is_changed:
                raise
            return None
        return beginning if is_changed or beginning.has_events else None


Plan: TypeAlias = Callable[[Client, str], Awaitable[Rerun]]
"""Plans what becomes of one instance. Raises UsageError if it cannot go on."""


async def _to_its_end(work: Coroutine[Any, Any, str]) -> str:
    """Return what *work* returns. It comes to its end even if who waits for it is cancelled."""
    working = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise


async def plan_rerun(
    client: Client, workflow_id: str, state: str, action: str | None = None, patch: JSON = None
) -> Rerun:
    """Return what becomes of an instance that goes on from *state*, or *action* in it, where it last came there.

    By *patch*, a JSON merge patch, the data are changed with which it enters the state. Raises NeverThereError if it
    has never come there, and UsageError if it cannot go on from there, and for data of an action.
    """
    if patch is not None and not isinstance(patch, dict):
        raise UsageError("data are changed by a JSON merge patch, which is an object", 'such as {"amount": 12}')
    if patch is not None and action is not None:
        raise UsageError(f"the data of the action {action!r} cannot be changed", "go on from its state, without it")
    plan = await _planned(client, workflow_id, await described(client, workflow_id), state, action)
    return replace(plan, patch=patch)


async def plan_retry(client: Client, workflow_id: str) -> Rerun:
    """Return what becomes of an instance that has failed, and goes on from the state that it was in.

    Raises NotFailedError if it has not failed, and UsageError if it cannot go on from there.
    """
    row = await described(client, workflow_id)
    if row["status"] not in RETRIED:
        hint, why = "`swf rerun` with --from lets it go on from a state", f"is {row['status']}, and has not failed"
        raise NotFailedError(f"the instance {workflow_id!r} {why}", hint, instance=workflow_id)
    return await _planned(client, workflow_id, row, None, None)


async def _planned(
    client: Client, workflow_id: str, row: dict[str, Any], state: str | None, action: str | None
) -> Rerun:
    if row["definition"] in WORKFLOW_TYPES:
        raise UsageError(f"{workflow_id!r} is not an instance of a definition")
    since: list[tuple[Execution, Retraced]] = []
    async for execution in executions_of(client, workflow_id):
        started = execution.history.events[0].workflow_execution_started_event_attributes
        parent = started.parent_workflow_execution.workflow_id
        if parent and not parent.startswith(MAILBOX_PREFIX):
            hint = f"let that go on from the state that began it: swf rerun {parent} --from STATE"
            what = f"{workflow_id!r} was begun by {parent!r}, which does not wait for it again"
            raise SubWorkflowError(what, hint, instance=workflow_id)
        retraced = await retrace(execution.history, converter_used_by(client))
        if retraced.failure is not None:
            raise UsageError(f"this release cannot follow the history of {workflow_id!r}: {retraced.failure}")
        since.insert(0, (execution, retraced))
        places = list(_places(retraced.trace, state, action))
        if places:
            return _plan(row, since, places[-1], action)
        if started.initiator > ContinueAsNewInitiator.CONTINUE_AS_NEW_INITIATOR_WORKFLOW:
            break  # by a schedule or a policy: the one before was another instance
    raise _never_came(workflow_id, [entry for _, one in since for entry in one.trace], state, action)


def _places(trace: Sequence[TraceEntry], state: str | None, action: str | None) -> Iterator[int]:
    """Yield where in *trace* the instance came to *state*, or to *action* in it; no state is any."""
    for place, entry in enumerate(trace):
        if action is not None:
            if entry.kind is TraceKind.ACTION_STARTED and (entry.state, entry.name) == (state, action):
                yield place
        elif _is_entered(entry) and state in (None, entry.state):
            yield place


def _is_entered(entry: TraceEntry) -> bool:
    """Tell whether a state was entered that is in no branch or iteration of another one."""
    return entry.kind is TraceKind.STATE_ENTERED and entry.lane == entry.state


def _plan(row: dict[str, Any], since: Sequence[tuple[Execution, Retraced]], place: int, action: str | None) -> Rerun:
    """Return what becomes of an instance that goes on from *place* in the first of the executions *since*."""
    workflow_id: str = row["id"]
    (execution, retraced), *later = since
    entry = retraced.trace[place]
    task = end_of_task(execution.history.events, retraced.lengths[place])
    if task is None:
        raise UsageError(f"{workflow_id!r} has just come to {entry.state!r}: nothing has been done there")
    now = datetime.now(UTC)
    first = after_task(execution.history.events, task, now)
    parts = [first, *(after_task(one.history.events, 0, now) for one, _ in later)]
    expired = [one for one in first.overdue if summaries.is_of_workflow(one)]
    if expired:
        hint = "start another instance, with the data of this one"
        raise UsageError(f"the time of {workflow_id!r} is over: it would end at once ({expired[0]})", hint)
    if first.stopped:
        beside = f"{first.stopped[0]!r} ran beside {action!r}, and was cancelled since"
        what = f"{workflow_id!r} would fail at once: {beside}"
        raise UsageError(what, f"go on from the state {entry.state!r}, without the action")
    trace = [*retraced.trace[place:], *(each for _, one in later for each in one.trace)]
    return Rerun(
        workflow_id=workflow_id,
        definition=row["definition"],
        status=row["status"],
        state=entry.state,
        action=action,
        entered=entry.at,
        times=sum(1 for _ in _places(retraced.trace, entry.state, action)),
        run_id=execution.run_id,
        task=task,
        again=tuple(dict.fromkeys([entry.state, *(one.state for one in trace if _is_entered(one))])),
        done=tuple(one for part in parts for one in part.done),
        events=tuple(one for part in parts for one in part.events),
        leading=tuple(first.leading),
        posted=tuple(one for part in parts for one in part.posted),
        overdue=tuple(first.overdue),
        place=_place(retraced),
        entry=place,
        latest=(since[-1][0].run_id, len(since[-1][0].history.events)),
    )


def _place(retraced: Retraced) -> Place | None:
    asked = None if retraced.definition is None else retraced.definition.concurrency
    return None if retraced.place is None or asked is None else Place(retraced.place, asked.limit)


def _never_came(workflow_id: str, trace: Sequence[TraceEntry], state: str | None, action: str | None) -> UsageError:
    entered = list(dict.fromkeys(one.state for one in trace if _is_entered(one)))
    hint: str | None
    if state is None or not entered:
        what, hint = f"{workflow_id!r} has entered no state", "start another instance"
    elif action is not None and state in entered:
        begun = sorted({one.name for one in trace if one.kind is TraceKind.ACTION_STARTED and one.state == state})
        hint = did_you_mean(action, begun) or (f"it has begun {listed(begun)}" if begun else None)
        what = f"{workflow_id!r} has begun no action {action!r} of {state!r}"
    elif inside := next((one for one in trace if one.kind is TraceKind.STATE_ENTERED and one.state == state), None):
        hint = f"name the state that has it: {inside.lane.partition('/')[0]}"
        what = f"{state!r} of {workflow_id!r} belongs to a branch or an iteration, beside which others run"
    else:
        hint = did_you_mean(state, entered) or f"it has entered {listed(entered)}"
        what = f"{workflow_id!r} has never entered a state {state!r}"
    return NeverThereError(what, hint, instance=workflow_id)
