"""Letting an instance go on from where it failed, or from a state or an action that it has come to before.

Theory of operation. Where that was follows from the history: it is replayed here, as a worker would do, which gives the
trace, and tells how long the history was at each of its entries. From there the instance goes on in another execution
(`temporal/going_on.py`), which knows the one before: so what happened before that is known still.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import uuid4

from temporalio.api.common.v1 import Payload
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
from swf_temporal.runtime.host import FunctionCall, TraceEntry, TraceKind
from swf_temporal.runtime.names import WORKFLOW_TYPES
from swf_temporal.temporal.given_back import Posted, regain
from swf_temporal.temporal.going_on import Beginning, Point, beginning_at
from swf_temporal.temporal.happened_since import After, Came, Done, after_length, after_task, end_of_task
from swf_temporal.temporal.place_records import Asking
from swf_temporal.temporal.places import ask
from swf_temporal.temporal.records import Wanted
from swf_temporal.temporal.replaying import Retraced, has_begun
from swf_temporal.text.suggestions import did_you_mean

_TIMED_OUT: Final = [TraceKind.WORKFLOW_TIMED_OUT, TraceKind.WORKFLOW_FAILED]
"""How a trace ends of an instance that failed because its time was over."""

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
    """What becomes of an instance that goes on from where it failed, or from a state or an action of it, once more."""

    workflow_id: str
    definition: str
    status: str
    state: str
    action: str | None
    entered: datetime
    """When it had come to the state, or the action."""
    times: int
    """How often it had come there. It goes on from the last of these times."""
    run_id: str
    again: tuple[str, ...]
    """The states that are done again, or go on."""
    done: tuple[Done, ...]
    """What was begun outside since, and is made again, with the same idempotency keys, if it comes to it again."""
    events: tuple[Came, ...]
    """The events that have come since."""
    leading: tuple[Came, ...]
    """The events with which it came there."""
    posted: tuple[Posted, ...]
    """The messages that it sent to mailboxes since."""
    latest: tuple[str, int]
    """Its latest execution, and how many events that had."""
    place: Place | None
    """The place that it had when it came there; None where nothing bounds how many run at once."""
    point: Point
    """Where in the trace of the execution that is."""
    is_retry: bool = False
    """Whether it goes on from where it failed, within the state."""
    results: Mapping[str, Payload | None] = field(default_factory=dict)
    """By their ids, what calls and sub-workflows yielded that were under way there, and have completed since."""
    children: Mapping[str, "Rerun"] = field(default_factory=dict)
    """By the ids of their calls, what becomes of its sub-workflows that have failed, and go on from there."""
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
        leading = self.leading
        beginning = await self.beginning(client, drop_events=drop_events)
        run = await beginning.start(client.temporal, self.workflow_id)
        if self.place is not None:
            await self.place.take_back(client.temporal, self.workflow_id)
        has_late = self.is_running and not drop_events
        late = await after_length(client.temporal, self.workflow_id, *self.latest) if has_late else After()
        await regain(client.temporal, () if drop_events else (*self.posted, *late.posted))
        leading = leading[len(leading) - beginning.early_updates :]  # it begins with the others
        again = [] if beginning.has_events else [*leading, *(() if drop_events else self.events)]
        with suppress(InstanceEndedError):  # it went on, and needed none of these
            for event in [*again, *late.leading, *late.events]:
                await event.send(client.temporal, self.workflow_id)
        return run

    async def beginning(self, client: Client, *, drop_events: bool = False) -> Beginning:
        """Return what another execution begins with there. Raises UsageError if that is too much."""
        events = () if drop_events else self.events
        state = None if self.is_retry else self.state
        wanted = Wanted(self.latest[0], state, self.action, self.patch, drop_events)
        # Not kept since it was planned: many may be planned at once.
        handle = client.temporal.get_workflow_handle(self.workflow_id, run_id=self.run_id)
        beginning = await beginning_at(
            await handle.fetch_history(),
            converter_used_by(client),
            self.point,
            wanted,
            leading=[await one.sent(client.temporal) for one in self.leading],
            events=[await one.sent(client.temporal) for one in events],
        )
        if not (self.results or self.children):
            return beginning
        children = {call: await one.beginning(client) for call, one in self.children.items()}
        results = {call: await _value(client, payload) for call, payload in self.results.items()}
        return beginning.knowing(results, children)


async def _value(client: Client, payload: Payload | None) -> JSON:
    if payload is None:
        return None
    [value] = await client.temporal.data_converter.decode([payload])
    return value  # type: ignore[no-any-return]  # JSON, as it was yielded


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
    plan = await plan_of(client, workflow_id, await described(client, workflow_id), state, action)
    return replace(plan, patch=patch)


async def plan_retry(client: Client, workflow_id: str) -> Rerun:
    """Return what becomes of an instance that has failed, and goes on from there: what is complete is not done again.

    Raises NotFailedError if it has not failed, and UsageError if it cannot go on from there.
    """
    row = await described(client, workflow_id)
    if row["status"] not in RETRIED:
        hint, why = "`swf rerun` with --from lets it go on from a state", f"is {row['status']}, and has not failed"
        raise NotFailedError(f"the instance {workflow_id!r} {why}", hint, instance=workflow_id)
    return await plan_of(client, workflow_id, row, None, None)


async def plan_of(
    client: Client,
    workflow_id: str,
    row: dict[str, Any],
    state: str | None,
    action: str | None,
    *,
    is_child: bool = False,
    latest: str | None = None,
) -> Rerun:
    """Return what becomes of the instance of *row*, as it was in its *latest* execution; None is the last of all.

    No *state* is where it failed. A sub-workflow goes on with its parent alone, of which it *is_child*. Raises
    UsageError if it cannot go on from there.
    """
    if row["definition"] in WORKFLOW_TYPES:
        raise UsageError(f"{workflow_id!r} is not an instance of a definition")
    since: list[tuple[Execution, Retraced]] = []
    async for execution in executions_of(client, workflow_id, latest):
        started = execution.history.events[0].workflow_execution_started_event_attributes
        parent = started.parent_workflow_execution.workflow_id
        if parent and not parent.startswith(MAILBOX_PREFIX) and not is_child:
            hint = f"let that go on from the state that began it: swf rerun {parent} --from STATE"
            what = f"{workflow_id!r} was begun by {parent!r}, which does not wait for it again"
            raise SubWorkflowError(what, hint, instance=workflow_id)
        if not has_begun(execution.history):
            raise NeverThereError(f"{workflow_id!r} has not begun", instance=workflow_id)
        retraced = await execution.retraced(converter_used_by(client))
        if retraced.failure is not None:
            raise UsageError(f"this release cannot follow the history of {workflow_id!r}: {retraced.failure}")
        since.insert(0, (execution, retraced))
        places = list(_places(retraced.trace, state, action))
        if places:
            if state is None:
                return await _retry(client, row, since, places[-1])
            return _rerun(row, since, places[-1], action)
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


_Since: TypeAlias = Sequence[tuple[Execution, Retraced]]
"""The executions of an instance since it came to a place, which is in the first of them."""


def _rerun(row: dict[str, Any], since: _Since, place: int, action: str | None) -> Rerun:
    """Return what becomes of an instance that goes on from *place*, before a state or an action."""
    (execution, retraced), *later = since
    entry = retraced.trace[place]
    _check_time(row["id"], since, place)
    first = _after(row["id"], execution, retraced, place, entry.state)
    parts = [first, *(after_task(one.history.events, 0) for one, _ in later)]
    begun = _latest_of([one for part in parts for one in part.done])
    results = _results(retraced, retraced.open_before(place), begun)
    over = retraced.known_as({*retraced.over_before(place), *results})
    trace = [*retraced.trace[place:], *(each for _, one in later for each in one.trace)]
    return Rerun(
        workflow_id=row["id"],
        definition=row["definition"],
        status=row["status"],
        state=entry.state,
        action=action,
        entered=entry.at,
        times=sum(1 for _ in _places(retraced.trace, entry.state, action)),
        run_id=execution.run_id,
        again=tuple(dict.fromkeys([entry.state, *(one.state for one in trace if _is_entered(one))])),
        done=tuple(one for one in begun.values() if one.id not in over),
        events=tuple(one for part in parts for one in part.events),
        leading=tuple(first.leading),
        posted=tuple(one for part in parts for one in part.posted),
        place=_place(retraced),
        point=Point(place),
        results=results,
        latest=_latest(since),
    )


async def _retry(client: Client, row: dict[str, Any], since: _Since, entered: int) -> Rerun:
    """Return what becomes of an instance that goes on from its end, in the state that it had *entered*."""
    workflow_id: str = row["id"]
    entry = since[0][1].trace[entered]
    execution, retraced = since[-1]
    trace = retraced.trace
    if not trace:
        raise UsageError(f"{workflow_id!r} ended before it went on", f"go on from a state: swf rerun {workflow_id}")
    if any(one.kind is TraceKind.COMPENSATING for one in trace) and row["status"] == "cancelled":
        raise UsageError(f"{workflow_id!r} has undone what it did")
    last = len(trace) - 1
    has_failed = trace[last].kind is TraceKind.WORKFLOW_FAILED
    _check_time(workflow_id, since, last)
    after = _after(workflow_id, execution, retraced, last, entry.state)
    begun = _latest_of(after_task(execution.history.events, 0).done)
    results = _results(retraced, retraced.under_way, begun)
    done = list(_made_again(retraced, begun, results))
    begun_children = {one.id for one in done if one.kind == "subflow"} & begun.keys()
    children = await _broken_off(client, retraced, begun_children)
    return Rerun(
        workflow_id=workflow_id,
        definition=row["definition"],
        status=row["status"],
        state=entry.state,
        action=None,
        entered=entry.at,
        times=sum(1 for _ in _places(since[0][1].trace, entry.state, None)),
        run_id=execution.run_id,
        again=(entry.state,),
        done=(*done, *(each for one in children.values() for each in one.done)),
        events=tuple(after.events),
        leading=tuple(after.leading),
        posted=tuple(after.posted),
        place=_place(retraced),
        point=Point(last, is_after=not has_failed),
        is_retry=True,
        results=results,
        children=children,
        latest=_latest(since),
    )


def _latest_of(done: Iterable[Done]) -> dict[str, Done]:
    """Return what became of each call last, by its id: one that is completed stays so."""
    found: dict[str, Done] = {}
    for one in done:
        if one.id not in found or found[one.id].outcome != "completed":
            found[one.id] = one
    return found


def _made_again(retraced: Retraced, begun: Mapping[str, Done], results: Mapping[str, Payload | None]) -> Iterator[Done]:
    """Yield the calls that were under way at the end, and whose results nobody knows."""
    for call_id, call in retraced.under_way.items():
        if call_id in results:
            continue
        known = next(iter(retraced.known_as([call_id]) & begun.keys()), None)
        if known is not None:
            yield begun[known]
        elif isinstance(call, FunctionCall):
            yield Done(call_id, call.function.name, "call")
        else:
            yield Done(call_id, call.workflow_id, "subflow")


def _results(retraced: Retraced, under_way: Iterable[str], begun: Mapping[str, Done]) -> dict[str, Payload | None]:
    """Return what those yielded of the calls *under_way* that are completed, by their ids."""
    found: dict[str, Payload | None] = {}
    for call in under_way:
        for known in retraced.known_as([call]) & begun.keys():
            if begun[known].outcome == "completed":
                found[call] = begun[known].result
    return found


async def _broken_off(client: Client, parent: Retraced, ids: AbstractSet[str]) -> dict[str, Rerun]:
    """Return what becomes of the sub-workflows with these *ids* that go on where they failed, or were broken off."""
    found: dict[str, Rerun] = {}
    for call in parent.under_way:
        for child in parent.known_as([call]) & ids:
            row = await described(client, child)
            with suppress(UsageError):  # it cannot go on, and begins anew
                if row["status"] in (*RETRIED, "cancelled"):
                    found[call] = await plan_of(client, child, row, None, None, is_child=True)
    return found


def _after(workflow_id: str, execution: Execution, retraced: Retraced, place: int, state: str) -> After:
    """Return what the history of *execution* has after the workflow task in which it came to *place*."""
    task = end_of_task(execution.history.events, retraced.lengths[place])
    if task is None:
        raise UsageError(f"{workflow_id!r} has just come to {state!r}: nothing has been done there")
    return after_task(execution.history.events, task)


def _check_time(workflow_id: str, since: _Since, place: int) -> None:
    """Raise UsageError if the time of the instance is over, and that has not been dealt with before *place*."""
    deadline = since[-1][1].deadline
    if deadline is None or deadline > datetime.now(UTC).timestamp():
        return
    before = [entry.kind for _, one in since[:1] for entry in one.trace[: place + 1]]
    if TraceKind.WORKFLOW_TIMED_OUT not in before or before[-2:] == _TIMED_OUT:
        hint = "start another instance, with the data of this one"
        raise UsageError(f"the time of {workflow_id!r} is over: it would end at once", hint)


def _latest(since: _Since) -> tuple[str, int]:
    execution, _ = since[-1]
    return execution.run_id, len(execution.history.events)


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
