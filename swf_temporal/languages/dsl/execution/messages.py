"""Listening to the signals, queries and updates of Temporal, as the listen tasks of zigflow documents do."""

from typing import TYPE_CHECKING, Final

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import TimedOut, WorkflowFault
from swf_temporal.languages.dsl.execution.frames import ListFrame, MessagesBody
from swf_temporal.languages.dsl.model.workflow import DoTask, ListenTask, Task
from swf_temporal.languages.dsl.model.zigflow import QUERY, TIMEOUT, UPDATE, Message, go_seconds, messages_of
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.waiting import EventSelector, next_event

if TYPE_CHECKING:
    from swf_temporal.languages.dsl.execution.program import ListPlan
    from swf_temporal.languages.dsl.execution.zigflow import StateLane

_DEFAULT_WAIT: Final = 60.0
"""The seconds that a listen task waits if it does not say how long."""
_HOUR, _MINUTE = 3600, 60
_TIMEOUT: Final = "no matching event received within"


async def listen(task: ListenTask, body: MessagesBody, state: JSON, lane: "StateLane") -> dict[str, JSON]:
    """Wait for the messages of *task*; return what they carried. Queries are answered from then on, without a wait."""
    assert lane.plan is not None  # noqa: S101 - it is the lane of a task
    messages = messages_of(task)
    for one in messages:
        if one.type == QUERY:
            lane.execution.frame.queries[one.id] = lane.plan.pointer
    awaited = [one for one in messages if one.type != QUERY]
    limit = _wait_of(lane.plan.task)
    if body.deadline is None and awaited:
        body.deadline = lane.run.time() + limit
    while not _is_over(task, awaited, body):
        # An update is answered each time that it comes; a signal is taken until it is accepted.
        wanted = [one for one in awaited if one.type == UPDATE or one.id not in body.done]
        kinds = [lambda event, one=one: event.type == one.id for one in wanted]
        found = await next_event(
            EventSelector([one.id for one in wanted], kinds, None), body, lane, deadline=body.deadline
        )
        if found is None:
            raise lane.locate(TimedOut(f"{_TIMEOUT} {_in_go(limit)}"))
        await _take(wanted[found[0]], found[1], body, state, lane)
    return body.data


def _is_over(task: ListenTask, awaited: list[Message], body: MessagesBody) -> bool:
    if task.listen.to.any is not None:
        return not awaited or bool(body.done)
    return all(one.id in body.done for one in awaited)


async def _take(message: Message, event: CloudEvent, body: MessagesBody, state: JSON, lane: "StateLane") -> None:
    """Keep what *event* carries, see whether it is accepted, and answer it if it is an update."""
    assert lane.plan is not None  # noqa: S101 - it is the lane of a task
    key = message.id if message.type == UPDATE else lane.plan.name
    body.data = {**body.data, key: event.data}
    now = lane.execution.with_data(state, body.data)
    is_accepted, reply = True, None
    try:
        if message.accept_if is not None:
            is_accepted = await lane.fill(message.accept_if, now) is True
        if message.type == UPDATE and message.data is not None:
            reply = await lane.fill(message.data, now)
    except WorkflowFault as fault:
        if message.type != UPDATE or not fault.catchable:
            raise
        lane.run.answer(event, fault)  # the sender is told, and others may follow
        return
    if message.type == UPDATE:
        lane.run.answer(event, reply)
        lane.emit(TraceKind.EVENT_ANSWERED, message.id, answer=reply)
    if is_accepted and message.id not in body.done:
        body.done = [*body.done, message.id]


def _wait_of(task: Task) -> float:
    """Return how many seconds a listen task waits."""
    given = task.metadata.get(TIMEOUT)
    return _DEFAULT_WAIT if given is None else go_seconds(str(given))


def _in_go(seconds: float) -> str:
    """Return a duration as Go writes it."""
    whole = int(seconds)
    if seconds != whole or whole < 1:
        return f"{seconds:g}s" if seconds >= 1 else f"{seconds * 1000:g}ms"
    hours, minutes, rest = whole // _HOUR, whole % _HOUR // _MINUTE, whole % _MINUTE
    return (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "") + f"{rest}s"


def message_in(task: Task, name: str) -> Message | None:
    """Return the message called *name* that *task* listens to, if it is a listen task and there is one."""
    if not isinstance(task, ListenTask):
        return None
    return next((one for one in messages_of(task) if one.id == name), None)


def latest_state(plan: "ListPlan", frame: ListFrame | None, state: JSON) -> JSON:
    """Return the state of a list that runs: a `do` in it shares the state."""
    while frame is not None:
        state = frame.data
        task = plan.tasks[frame.at] if frame.at < len(plan.tasks) else None
        inner = None if frame.task is None else frame.task.body
        if task is None or not isinstance(task.task, DoTask) or inner is None:
            return state
        plan, frame = task.lists["do"], getattr(inner, "tasks", None)
    return state
