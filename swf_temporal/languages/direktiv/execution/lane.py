"""The lane of a state: its data, the run, the evaluation of its fields, and waiting for events."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, json_or_base64
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.base.strict_json import write_json
from swf_temporal.expressions.structured import NOT_OBJECT, jq_fault
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.frames import AwaitedKind, EventsBody, StateFrame
from swf_temporal.languages.direktiv.globs import is_glob_of
from swf_temporal.languages.direktiv.model import Structured
from swf_temporal.runtime.lanes import LaneBase
from swf_temporal.runtime.waiting import EventSelector, TakenEvents, next_event, next_of_each

if TYPE_CHECKING:
    from swf_temporal.languages.direktiv.execution.execution import DirektivExecution

T = TypeVar("T")


class Lane(LaneBase):
    """A path of execution in one state: the state itself, or one of its parallel actions."""

    __slots__ = ("data", "execution")

    def __init__(self, execution: "DirektivExecution", state: str, data: JSON, path: str = "") -> None:
        super().__init__(execution.run, state, path or state)
        self.execution = execution
        self.data = data

    def child(self, key: str) -> "Lane":
        """Return the lane of the parallel action *key*."""
        return Lane(self.execution, self.state_path, self.data, f"{self.path}/{key}")

    def iteration(self, index: int, data: JSON) -> "Lane":
        """Return the lane of one of many similar calls, whose ids the state counts."""
        return Lane(self.execution, self.state_path, data, f"{self.path}[{index}]")

    async def evaluate(self, value: JSON, data: JSON, at: float | None = None) -> JSON:
        """Return *value* with the results of its queries on *data*; null is the data itself.

        *at* is the time for an evaluation that must yield the same in a later execution; the default is now.
        """
        self.run.pacing.charge()
        jq, now = self.execution.program.jq, self.run.time() if at is None else at
        return await self._coded(lambda: jq.evaluate(value, data, now))

    async def results(self, value: JSON, data: JSON, at: float) -> list[JSON]:
        """Return all results of *value*, a query that may have several; *at* is as for `evaluate`."""
        self.run.pacing.charge()
        jq = self.execution.program.jq
        return await self._coded(lambda: jq.results(value, data, at))

    async def _coded(self, work: Callable[[], T]) -> T:
        try:
            return await self.run.evaluated(work)
        except ExpressionFailed as error:
            raise codes.coded(error) from None

    async def object_of(self, value: JSON, data: JSON, what: str) -> dict[str, JSON]:
        result = await self.evaluate(value, data)
        if not isinstance(result, dict):
            raise not_object(f"{what} must be an object")
        return result


def not_object(message: str) -> ExpressionFailed:
    """Return the error of a query whose result is not an object where one is needed."""
    return codes.coded(jq_fault(message, NOT_OBJECT))


_UNCHANGED = ("", ".")
"""Transforms that change nothing."""


def instance_data(given: JSON | bytes) -> dict[str, JSON]:
    """Return the data of an instance that is started with *given*: an object as it is, anything else under `input`."""
    if isinstance(given, bytes):
        given = json_or_base64(given)
    return given if isinstance(given, dict) else {"input": given}


async def transformed(transform: JSON, data: JSON, lane: Lane) -> JSON:
    if transform is None or transform in _UNCHANGED:
        return data
    try:
        return await lane.object_of(transform, data, "its result")
    except ExpressionFailed as fault:
        fault.message = f"unable to apply transform: {fault.message}"
        raise


def with_result(data: JSON, key: str, value: JSON) -> dict[str, JSON]:
    """Return *data* with the value of *key* replaced by *value*."""
    return {**(data if isinstance(data, dict) else {}), key: value}


@dataclass(frozen=True, slots=True)
class StateExit:
    """The exit of a state: its data, the transform of it, and the next state."""

    data: JSON
    transform: Any = None
    transition: str | None = None


def attributes_match(wanted: Mapping[str, JSON], event: CloudEvent) -> bool:
    """Return True if *event* has every attribute of *wanted*; a text there is a glob."""
    return all(_matches(value, event.attribute(name)) for name, value in wanted.items())


def _matches(wanted: JSON, value: JSON) -> bool:
    if value is None:
        return False
    if isinstance(wanted, str):
        return is_glob_of(wanted, value if isinstance(value, str) else write_json(value))
    # To Python, true is 1.
    return (wanted == value and isinstance(wanted, bool) == isinstance(value, bool)) or write_json(wanted) == value


async def begin_waiting(kinds: Sequence[tuple[str, Structured]], frame: StateFrame, lane: Lane) -> EventsBody:
    """Return the body of a state that waits for events. An error in evaluating a context cannot be caught."""
    if not isinstance(frame.body, EventsBody):
        try:
            frame.body = EventsBody(kinds=[AwaitedKind(kind, await _context(context, lane)) for kind, context in kinds])
        except ExpressionFailed as fault:
            raise codes.uncatchable(codes.BAD_EVENT, fault.message) from None
    return frame.body


def _is_like(kind: AwaitedKind, event: CloudEvent) -> bool:
    return event.type == kind.type and attributes_match(kind.context, event)


async def _context(context: Structured, lane: Lane) -> dict[str, JSON]:
    return {} if context is None else await lane.object_of(context, lane.data, "the context of an event")


async def next_of(wait: EventsBody, refs: Sequence[int], lane: Lane) -> tuple[int, CloudEvent]:
    """Return the next event that matches one of the kinds of *wait* numbered by *refs*, with the number."""
    kinds = [wait.kinds[index] for index in refs]
    criterion = write_json([[kind.type, kind.context] for kind in kinds])
    selector = EventSelector([kind.type for kind in kinds], [partial(_is_like, kind) for kind in kinds], criterion)
    found = await next_event(selector, wait, lane, until=lane.execution.due(lane.state_path))
    assert found is not None  # noqa: S101 - there is no deadline
    return refs[found[0]], found[1]


async def all_of(wait: EventsBody, lane: Lane) -> list[CloudEvent]:
    """Return an event of each kind, in the order of the kinds, regardless of the order of arrival."""
    refs, events = [str(index) for index in range(len(wait.kinds))], TakenEvents()

    def fits(ref: str, event: CloudEvent) -> bool:
        return _is_like(wait.kinds[int(ref)], event)

    async def next_(free: list[str]) -> tuple[int, CloudEvent]:
        index, event = await next_of(wait, [int(ref) for ref in free], lane)
        return free.index(str(index)), event

    while len(wait.taken) < len(refs):
        await next_of_each(refs, wait, events, fits, next_)
    return [events.event_of(record) for ref in refs if isinstance(record := wait.taken[ref], dict)]
