"""Retrying an instance from where it failed, or rerunning it from a state or an action that it has reached before.

Theory of operation. A plan follows from the history of the instance and the request alone: the point from which it
continues, what is repeated, and what was received since. Another run carries it out (`temporal/restarting.py`); it
has a record of the run before, so what happened earlier remains known.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import uuid4

from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.client import Client as TemporalClient
from temporalio.exceptions import ApplicationError

from swf_temporal.base.client_errors import InstanceEndedError, InstanceError, InstanceNotFoundError
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.base.grammar import listed
from swf_temporal.events.routing import MAILBOX_PREFIX
from swf_temporal.operations.client import Client
from swf_temporal.operations.instance_history import FollowedInstance, FollowedRun, followed
from swf_temporal.operations.instances import described
from swf_temporal.operations.listing import is_open
from swf_temporal.runtime.host import FunctionCall, TraceEntry, TraceKind
from swf_temporal.runtime.ids import WORKFLOW_TYPES
from swf_temporal.temporal.happened_since import (
    HappenedSince,
    MailboxMessage,
    ReceivedEvent,
    StartedCall,
    end_of_task,
    latest_of,
    reclaim,
    repeating,
    since_length,
    since_task,
)
from swf_temporal.temporal.place_records import Asking
from swf_temporal.temporal.places import ask
from swf_temporal.temporal.records import CARRIED, NOT_CARRIED, Wanted
from swf_temporal.temporal.replaying import ReplayedRun
from swf_temporal.temporal.restarting import RestartInput, RestartPoint, restart_input_at
from swf_temporal.text.suggestions import did_you_mean

_TIMED_OUT: Final = [TraceKind.WORKFLOW_TIMED_OUT, TraceKind.WORKFLOW_FAILED]
"""The end of the trace of an instance that failed because its time was over."""

_CAUGHT: Final = (TraceKind.ERROR_CAUGHT, TraceKind.STATE_RETRIED)
RETRIED: Final = ("failed", "timed-out", "terminated")
"""The statuses of instances that can be retried. One that was cancelled may have undone what it did."""


class NotFailedError(InstanceError):
    """The instance has not failed."""


class GoneOnError(InstanceError):
    """The instance has progressed since its rerun was planned."""


class NeverThereError(InstanceError):
    """The instance has never reached the state or the action from which it is to continue."""


class SubWorkflowError(InstanceError):
    """The instance was begun by another, which no longer waits for it."""


@dataclass(slots=True)
class Reached:
    """A state that an instance has entered, from which it can be rerun."""

    state: str
    entered: datetime
    """When it entered it, the last time."""
    times: int = 0
    actions: list[str] = field(default_factory=list)
    """The actions that it has begun there."""


class Place(NamedTuple):
    """A place of an instance where its definition limits how many run at once."""

    id: str
    """The id of the workflow that assigns the places."""
    limit: int

    async def take_back(self, client: TemporalClient, workflow_id: str) -> None:
        """Claim the place again that an instance released, even if that exceeds the limit."""
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
    """A plan for an instance that continues from where it failed, or repeats a state or an action."""

    workflow_id: str
    definition: str
    status: str
    wanted: Wanted
    state: str
    entered: datetime
    """When it had reached the state or the action."""
    times: int
    """How often it had reached it. It continues from the last of these times."""
    run_id: str
    again: tuple[str, ...]
    """The states that are repeated, or continue."""
    done: tuple[StartedCall, ...]
    """Calls and sub-workflows begun since: if reached again, they are repeated with the same idempotency keys."""
    events: tuple[ReceivedEvent, ...]
    """The events received since."""
    leading: tuple[ReceivedEvent, ...]
    """The events with which it reached that point."""
    messages: tuple[MailboxMessage, ...]
    """The messages that it has sent to mailboxes since."""
    latest: tuple[str, int]
    """Its latest execution, and the number of events in its history."""
    place: Place | None
    """The place that it held at that point; None if its definition does not limit how many run at once."""
    point: RestartPoint
    """The position of that point in the trace of the execution."""
    results: Mapping[str, Payload | None] = field(default_factory=dict)
    """The results of calls and sub-workflows in progress at that point that have completed since, by their ids."""
    word: str = "state"
    """Its language's word for a state."""
    children: Mapping[str, "Rerun"] = field(default_factory=dict)
    """The plans for its sub-workflows that have failed and continue from there, by the ids of their calls."""

    @property
    def is_running(self) -> bool:
        """Whether it has not ended, so that its run will be terminated."""
        return is_open(self.status)

    @property
    def place_name(self) -> str:
        """The state, and the action if any, from which it continues."""
        return self.state if self.wanted.action is None else f"{self.state}/{self.wanted.action}"

    @property
    def is_retry(self) -> bool:
        """Whether it continues from where it failed, within the state."""
        return self.wanted.state is None

    def facts(self) -> dict[str, Any]:
        """Return it as JSON."""
        found: dict[str, Any] = {"id": self.workflow_id, "definition": self.definition, "status": self.status}
        found |= {"from": self.state} | ({} if self.wanted.action is None else {"action": self.wanted.action})
        found |= {} if self.wanted.patch is None else {"data": self.wanted.patch}
        return found | {
            "entered": self.entered.isoformat(timespec="milliseconds"),
            "times": self.times,
            "again": list(self.again),
            "done": [{"id": one.id, "name": one.name, "kind": one.kind, "outcome": one.outcome} for one in self.done],
            "events": len(self.events),
        }

    async def begin(self, client: Client, *, drop_events: bool = False) -> str:
        """Continue the instance from there, and return the id of its new run. If it still runs, that run is terminated.

        It gets events received since again, unless they are dropped. Raises UsageError if the server refuses or the
        data is too large, and GoneOnError if the instance has progressed since this was planned: it may have done more
        by now, and received events. Once begun, cancellation does not stop this halfway.
        """
        now = await client.temporal.get_workflow_handle(self.workflow_id).describe()
        if (now.run_id, now.history_length) != self.latest:
            hint = "check the new plan of what is repeated, and confirm it sooner"
            raise GoneOnError(f"{self.workflow_id!r} has continued meanwhile", hint, instance=self.workflow_id)
        return await _to_its_end(self._go_on(client, drop_events=drop_events))

    async def _go_on(self, client: Client, *, drop_events: bool) -> str:
        leading = self.leading
        following = await self.restart_input(client, drop_events=drop_events)
        run = await following.start(client.temporal, self.workflow_id)
        if self.place is not None:
            await self.place.take_back(client.temporal, self.workflow_id)
        has_late = self.is_running and not drop_events
        late = await since_length(client.temporal, self.workflow_id, *self.latest) if has_late else HappenedSince()
        await reclaim(client.temporal, () if drop_events else (*self.messages, *late.messages))
        leading = leading[len(leading) - following.early_updates :]  # it starts with the others
        again = [] if following.has_events else [*leading, *(() if drop_events else self.events)]
        with suppress(InstanceEndedError):  # it continued, and needed none of these
            for event in [*again, *late.leading, *late.events]:
                await event.send(repeating(client.temporal), self.workflow_id)
        return run

    async def restart_input(self, client: Client, *, drop_events: bool = False) -> RestartInput:
        """Return the input of the run that continues there. Raises UsageError if it is too large."""
        events = () if drop_events else self.events
        converter = client.temporal.data_converter
        # Not kept since it was planned: many may be planned at once.
        handle = client.temporal.get_workflow_handle(self.workflow_id, run_id=self.run_id)
        found = await restart_input_at(
            await handle.fetch_history(),
            converter,
            self.point,
            replace(self.wanted, drops_events=drop_events),
            leading=[await one.sent(client.temporal) for one in self.leading],
            events=[await one.sent(client.temporal) for one in events],
        )
        if not (self.results or self.children):
            return found
        children = {call: await one.restart_input(client) for call, one in self.children.items()}
        results = {call: await _value(client, payload) for call, payload in self.results.items()}
        return found.knowing(results, children)


async def _value(client: Client, payload: Payload | None) -> JSON:
    if payload is None:
        return None
    [value] = await client.temporal.data_converter.decode([payload])
    return value  # type: ignore[no-any-return]  # JSON, the call's result


Plan: TypeAlias = Callable[[Client, str], Awaitable[Rerun]]
"""Makes the plan for one instance. Raises UsageError if it cannot continue."""


async def _to_its_end(work: Coroutine[Any, Any, str]) -> str:
    """Return what *work* returns. It runs to its end even if the caller is cancelled."""
    working = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise


async def reached(client: Client, workflow_id: str) -> tuple[str, list[Reached]]:
    """Return its language's word for a state, and the states that an instance has entered, the latest last.

    Raises UsageError if its history cannot be followed.
    """
    history = await followed(client, await described(client, workflow_id), lambda _: False)
    found = dict[str, Reached]()
    for entry in history.trace:
        if entry.enters_state:
            one = found.pop(entry.state, Reached(entry.state, entry.at))
            one.entered, one.times = entry.at, one.times + 1
            found[entry.state] = one
        elif entry.kind is TraceKind.ACTION_STARTED and (at := found.get(entry.state)) is not None:
            at.actions += [] if entry.name in at.actions else [entry.name]
    return _word(history), list(found.values())


async def plan_rerun(
    client: Client, workflow_id: str, state: str, action: str | None = None, patch: JSON = None
) -> Rerun:
    """Return the plan for an instance to continue from *state*, or *action* in it, where it last reached it.

    *patch*, a JSON merge patch, changes the data with which it enters the state. Raises NeverThereError if it has
    never reached it, and UsageError if it cannot continue from there, or if there is a patch for an action.
    """
    if patch is not None and not isinstance(patch, dict):
        raise UsageError("the data is changed by a JSON merge patch, which is an object", 'such as {"amount": 12}')
    if patch is not None and action is not None:
        raise UsageError(f"the data of the action {action!r} cannot be changed", "continue from its state instead")
    return await plan_for(client, await described(client, workflow_id), state, action, patch)


async def plan_retry(client: Client, workflow_id: str) -> Rerun:
    """Return the plan for an instance that has failed to continue from there: what is complete is not repeated.

    Raises NotFailedError if it has not failed, and UsageError if it cannot continue from there.
    """
    row = await described(client, workflow_id)
    if row["status"] not in RETRIED:
        hint, why = (
            "`swf rerun` with --from lets it continue from a state or a task",
            f"is {row['status']}, and has not failed",
        )
        raise NotFailedError(f"the instance {workflow_id!r} {why}", hint, instance=workflow_id)
    return await plan_for(client, row)


async def plan_for(
    client: Client,
    row: Mapping[str, Any],
    state: str | None = None,
    action: str | None = None,
    patch: JSON = None,
    latest: str | None = None,
) -> Rerun:
    """Return the plan for the instance of *row*, as it was in its *latest* run; None is the last of all.

    Without a *state*, it continues where it failed. Raises UsageError if it cannot continue from there.
    """
    if row["definition"] in WORKFLOW_TYPES:
        raise UsageError(f"{row['id']!r} is not an instance of a definition")
    history = await followed(
        client, row, lambda trace: bool(list(_places(trace, state, action))), latest, with_interrupted=state is None
    )
    if not history.runs:
        raise InstanceNotFoundError(f"there is no instance {row['id']!r}", instance=row["id"])
    wanted = Wanted(history.runs[-1].source.run_id, state, action, patch)
    return plan(history, wanted, datetime.now(UTC).timestamp())


def plan(history: FollowedInstance, wanted: Wanted, now: float, *, is_child: bool = False) -> Rerun:
    """Return the plan for an instance with this *history* to continue from where it is *wanted*, at the time *now*.

    A sub-workflow (*is_child*) only continues together with its parent. Raises UsageError if it cannot continue from
    there.
    """
    for source, replayed in reversed(history.runs):
        parent = source.start.parent_workflow_execution.workflow_id
        if parent and not parent.startswith(MAILBOX_PREFIX) and not is_child:
            word = _word(history)
            hint = f"rerun that from the {word} that began it: swf rerun {parent} --from {word.upper()}"
            what = f"{history.id!r} was begun by {parent!r}, which no longer waits for it"
            raise SubWorkflowError(what, hint, instance=history.id)
        if not replayed.has_begun:
            raise NeverThereError(f"{history.id!r} has not begun", instance=history.id)
        if replayed.failure is not None:
            raise UsageError(f"this release cannot follow the history of {history.id!r}: {replayed.failure}")
    for number in range(len(history.runs) - 1, -1, -1):
        places = list(_places(history.runs[number].replayed.trace, wanted.state, wanted.action))
        if places:
            since = replace(history, runs=history.runs[number:])
            if wanted.state is None:
                place = where(history.runs[number].replayed.trace)
                return _retry(since, wanted, places[-1] if place is None else place, now)
            return _rerun(since, wanted, places[-1], now)
    raise _never_came(history, wanted.state, wanted.action)


def where(trace: Sequence[TraceEntry]) -> int | None:
    """Return the index in *trace* at which the instance entered its current state; None if it has entered none.

    That is the last state entered and not left, or else the last one left: a state that is compensated is left after
    the states that compensate it. What happened before the time of the instance was over has ended with that, and what
    is inside of a state ends when that is left, or has caught an error.
    """
    left = dict[str, None]()
    caught = set[str]()
    entered = dict[str, int]()
    for place in range(len(trace) - 1, -1, -1):
        entry = trace[place]
        if entry.kind is TraceKind.WORKFLOW_TIMED_OUT and entered:
            break
        is_whole = entry.lane == entry.state and not entry.is_in_branch
        if entry.kind is TraceKind.STATE_LEFT and is_whole:
            left.setdefault(entry.state)
        elif entry.kind in _CAUGHT and is_whole:
            caught.add(entry.state)
        elif entry.enters_state:
            is_over = entry.state in left or any(entry.state.startswith(f"{one}/") for one in (*left, *caught))
            if not is_over:
                return place
            entered.setdefault(entry.state, place)
    return entered.get(next(iter(left), ""))


def _places(trace: Sequence[TraceEntry], state: str | None, action: str | None) -> Iterator[int]:
    """Yield the indices in *trace* at which the instance reached *state*, or *action* in it; None matches any state.

    A state is known by its path or its name. If several have the name, they all match.
    """
    paths = {state, *(one.state for one in trace if one.enters_state and one.name == state)}
    for place, entry in enumerate(trace):
        if action is not None:
            if entry.kind is TraceKind.ACTION_STARTED and entry.name == action and entry.state in paths:
                yield place
        elif entry.enters_state and (state is None or entry.state in paths):
            yield place


def _rerun(history: FollowedInstance, wanted: Wanted, place: int, now: float) -> Rerun:
    """Return the plan for an instance to continue from *place* in its first run, before a state or an action."""
    (execution, replayed), *later = history.runs
    entry = replayed.trace[place]
    _check_time(history, place, now)
    first = _after(history.runs[0], place, entry.state)
    parts = [first, *(since_task(one.history.events, 0) for one, _ in later)]
    begun = latest_of(one for part in parts for one in part.done)
    results = _results(replayed, replayed.open_before(place), begun)
    over = replayed.known_as({*replayed.over_before(place), *results})
    trace = history.trace[place:]
    return Rerun(
        workflow_id=history.id,
        definition=history.row["definition"],
        status=history.row["status"],
        wanted=wanted,
        state=entry.state,
        entered=entry.at,
        times=sum(1 for _ in _places(replayed.trace, entry.state, wanted.action)),
        run_id=execution.run_id,
        again=tuple(dict.fromkeys([entry.state, *(one.state for one in trace if one.enters_state)])),
        done=tuple(one for one in begun.values() if one.id not in over),
        # What a rerun sent once more is among the events of the run before.
        events=tuple(one for part in parts for one in part.events if part is first or not one.is_repeated),
        leading=tuple(first.leading),
        messages=tuple(one for part in parts for one in part.messages),
        place=_place(replayed),
        point=RestartPoint(place),
        word=_word(history),
        results=results,
        latest=_latest(history),
    )


def _retry(history: FollowedInstance, wanted: Wanted, entered: int, now: float) -> Rerun:
    """Return the plan for an instance to continue from its end, in the state that it *entered* in its first run."""
    first, latest = history.runs[0].replayed, history.runs[-1]
    entry, trace = first.trace[entered], latest.replayed.trace
    if not trace:
        raise UsageError(
            f"{history.id!r} ended before it continued", f"continue from a {_word(history)}: swf rerun {history.id}"
        )
    if any(one.kind is TraceKind.COMPENSATING for one in trace) and history.row["status"] == "cancelled":
        raise UsageError(f"{history.id!r} has undone what it did")
    last = len(trace) - 1
    has_failed = trace[last].kind is TraceKind.WORKFLOW_FAILED
    _check_time(history, last, now)
    since = _after(latest, last, entry.state)
    begun = latest.calls
    results = _results(latest.replayed, latest.replayed.under_way, begun)
    done = list(_made_again(latest.replayed, begun, results))
    children = _interrupted(history, now)
    return Rerun(
        workflow_id=history.id,
        definition=history.row["definition"],
        status=history.row["status"],
        wanted=wanted,
        state=entry.state,
        entered=entry.at,
        times=sum(1 for _ in _places(first.trace, entry.state, None)),
        run_id=latest.source.run_id,
        again=(entry.state,),
        done=(*done, *(each for one in children.values() for each in one.done)),
        events=tuple(since.events),
        leading=tuple(since.leading),
        messages=tuple(since.messages),
        place=_place(latest.replayed),
        point=RestartPoint(last, is_after=not has_failed),
        word=_word(history),
        results=results,
        children=children,
        latest=_latest(history),
    )


def _made_again(
    replayed: ReplayedRun, begun: Mapping[str, StartedCall], results: Mapping[str, Payload | None]
) -> Iterator[StartedCall]:
    """Yield the calls that were in progress at the end, and whose results are not known."""
    for call_id, call in replayed.under_way.items():
        if call_id in results:
            continue
        known = next(iter(replayed.known_as([call_id]) & begun.keys()), None)
        if known is not None:
            yield begun[known]
        elif isinstance(call, FunctionCall):
            yield StartedCall(call_id, call.function.name, "call")
        else:
            yield StartedCall(call_id, call.workflow_id, "subflow")


def _results(
    replayed: ReplayedRun, under_way: Iterable[str], begun: Mapping[str, StartedCall]
) -> dict[str, Payload | None]:
    """Return the results of the completed ones among *under_way*, by their ids."""
    found: dict[str, Payload | None] = {}
    for call in under_way:
        for known in replayed.known_as([call]) & begun.keys():
            if begun[known].outcome == "completed":
                found[call] = begun[known].result
    return found


def _interrupted(history: FollowedInstance, now: float) -> dict[str, Rerun]:
    """Return the plans for the sub-workflows that continue where they failed or were interrupted, by their calls."""
    found: dict[str, Rerun] = {}
    for call, child in history.interrupted.items():
        if child.row["status"] in (*RETRIED, "cancelled") and child.runs:
            with suppress(UsageError):  # it cannot continue, and starts from the beginning
                found[call] = plan(child, Wanted(child.runs[-1].source.run_id), now, is_child=True)
    return found


def _after(run: FollowedRun, place: int, state: str) -> HappenedSince:
    """Return what the history of *run* has after the workflow task in which it reached *place*."""
    events, replayed = run.source.history.events, run.replayed
    task = end_of_task(events, replayed.lengths[place])
    if task is None:
        raise UsageError(f"{replayed.workflow_id!r} has just reached {state!r}: nothing has been done there")
    return since_task(events, task)


def _check_time(history: FollowedInstance, place: int, now: float) -> None:
    """Raise UsageError if the time of the instance is over, and this was not handled before *place*."""
    deadline = history.runs[-1].replayed.deadline
    if deadline is None or deadline > now:
        return
    before = [entry.kind for entry in history.runs[0].replayed.trace[: place + 1]]
    if TraceKind.WORKFLOW_TIMED_OUT not in before or before[-2:] == _TIMED_OUT:
        hint = "start another instance, with the data of this one"
        raise UsageError(f"the timeout of {history.id!r} has passed: it would end at once", hint)


def _latest(history: FollowedInstance) -> tuple[str, int]:
    run, _ = history.runs[-1]
    return run.run_id, len(run.history.events)


def _place(replayed: ReplayedRun) -> Place | None:
    asked = None if replayed.definition is None else replayed.definition.concurrency
    return None if replayed.place is None or asked is None else Place(replayed.place, asked.limit)


def _word(history: FollowedInstance) -> str:
    """Return the word for a state in the language of an instance."""
    known = (one.replayed.definition for one in reversed(history.runs))
    return next((one.words.state for one in known if one is not None), "state")


def _never_came(history: FollowedInstance, state: str | None, action: str | None) -> UsageError:
    workflow_id, trace, word = history.id, history.trace, _word(history)
    entered = list(dict.fromkeys(one.state for one in trace if one.enters_state))
    hint: str | None
    if state is None or not entered:
        what, hint = f"{workflow_id!r} has entered no {word}", "start another instance"
    elif action is not None and any(one.enters_state and state in (one.state, one.name) for one in trace):
        paths = {one.state for one in trace if _is_entry_of(one, state)}
        begun = sorted({one.name for one in trace if one.kind is TraceKind.ACTION_STARTED and one.state in paths})
        hint = did_you_mean(action, begun) or (f"it has begun {listed(begun)}" if begun else None)
        what = f"{workflow_id!r} has begun no action {action!r} of {state!r}"
    elif inside := next((one for one in trace if _is_entry_of(one, state)), None):
        around = [one for one in entered if inside.state.startswith(f"{one}/")]
        hint = f"name the {word} that has it: {max(around, key=len, default=inside.lane.partition('/')[0])}"
        what = f"{state!r} of {workflow_id!r} is in a branch or an iteration"
    else:
        hint = did_you_mean(state, entered) or f"it has entered {listed(entered)}"
        what = f"{workflow_id!r} has never entered a {word} {state!r}"
    return NeverThereError(what, hint, instance=workflow_id)


def _is_entry_of(entry: TraceEntry, state: str) -> bool:
    return entry.kind is TraceKind.STATE_ENTERED and state in (entry.state, entry.name)


class Carried:
    """The activity that finds an instance's pin, on a worker that only runs definitions that it serves."""

    def __init__(self, client: TemporalClient) -> None:
        self._client = Client(client)

    @activity.defn(name=CARRIED)
    async def carried(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the pin with which the calling instance continues, by its history; *given* is a `Wanted`."""
        info, wanted = activity.info(), Wanted.from_json(given)
        instance = str(info.workflow_id)
        row = {"id": instance, "definition": info.workflow_type, "status": "failed"}
        try:
            plan = await plan_for(self._client, row, wanted.state, wanted.action, wanted.patch, wanted.latest)
            following = await plan.restart_input(self._client, drop_events=wanted.drops_events)
        except UsageError as error:
            raise _refused(str(error)) from None
        if following.task_queue != info.task_queue:
            raise _refused(f"it ran on the task queue {following.task_queue!r}")
        if following.parts:
            raise _refused("it carries more than one payload holds")
        return following.pin.to_json()


def _refused(why: str) -> ApplicationError:
    return ApplicationError(why, type=NOT_CARRIED, non_retryable=True)
