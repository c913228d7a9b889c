"""Compensation: undoing what completed states did.

Every completed execution of a state that names a `compensatedBy` state goes into the record. When a transition or
an end asks for compensation, they are undone in reverse order: for each, the chain of states that begins with its
compensatedBy state runs to its end, the current data going through. Then the record is empty
(section "Workflow Compensation").

A workflow's timeout may break undoing off. If the states that run before the end ask for compensation again, it goes on
where it was: in the middle of a chain, and of the actions of a state, on the data as they are by then.

Undoing is not recursive: what the states that undo say of ends, and of compensation on their way, is ignored.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.frames import CompensationFrame, WalkFrame, forget_calls
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.model.states import End, Transition
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.progress import Value, forget_deadlines


class CompensationLog:
    """The states that were completed and can be undone, in their order, by their paths."""

    def __init__(self, record: list[str]) -> None:
        self._paths = record
        self.is_undoing = False
        """Whether what was done is being undone; only `undoing` sets it."""

    def __bool__(self) -> bool:
        return bool(self._paths)

    @property
    def latest(self) -> str:
        """The state that is undone next."""
        return self._paths[-1]

    def add(self, path: str) -> None:
        """Take in a state that was completed."""
        self._paths.append(path)

    def drop_latest(self) -> None:
        """Forget the state that was undone, or that did not complete after all."""
        if self._paths:
            self._paths.pop()

    def clear(self) -> None:
        """Forget all: nothing is to be undone."""
        self._paths.clear()

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """Be undoing as long as the context lasts."""
        self.is_undoing = True
        try:
            yield
        finally:
            self.is_undoing = False


async def compensate(data: JSON, frame: CompensationFrame, lane: Lane) -> JSON:
    """Undo all that is in the record and return the data as it is then."""
    log = lane.execution.compensation
    with log.undoing():
        return await _undo(data, frame, lane)


def while_undoing(leaving: Transition | End) -> Transition | End:
    """Return how a state that undoes is left: an end of it only ends the chain."""
    return End() if isinstance(leaving, End) else leaving


async def _undo(data: JSON, frame: CompensationFrame, lane: Lane) -> JSON:
    execution = lane.execution
    if frame.data is not None:
        data = frame.data.value
    while execution.compensation and not frame.done:
        state = execution.compensation.latest
        scope, name = execution.program.locate(state)
        first = scope.state(name).compensated_by
        if first is not None:
            if frame.walk is None:
                frame.walk = _broken_off(data, lane)
            if frame.walk is None:
                lane.emit(TraceKind.COMPENSATING, state, by=first)
                frame.walk = WalkFrame(first, data)
            data = (await execution.walk(frame.walk, scope)).data
        execution.compensation.drop_latest()
        frame.walk, frame.data = None, Value(data)
    frame.done, frame.data = True, Value(data)
    return data


def _broken_off(data: JSON, lane: Lane) -> WalkFrame | None:
    """Return the progress of the chain that the workflow's timeout broke off, to go on with *data*, if there is one."""
    main = lane.execution.frame.walk
    broken_off = None if main is None or main.run is None else main.run.compensation
    if not lane.execution.is_expired or broken_off is None or broken_off.walk is None:
        return None
    walk, broken_off.walk = broken_off.walk, None
    # While it did not run, its time did not either.
    forget_deadlines(walk)
    forget_calls(walk)
    walk.data = data
    walk.latest_data = data
    if walk.run is not None and walk.run.input is not None:
        walk.run.input.value = data
    return walk
