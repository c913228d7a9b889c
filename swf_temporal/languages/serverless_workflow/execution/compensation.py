"""Compensation: undoing what completed states did.

Every completed execution of a state with `compensatedBy` is added to the compensation log. When a transition or an end
asks for compensation, they are undone in reverse order: for each, the chain of states that begins with its
compensatedBy state runs to its end on the current data. Then the log is empty (section "Workflow Compensation").

A workflow's timeout may interrupt compensation. If the states that run before the end ask for compensation again, it
resumes where it was, even in the middle of a chain or of a state's actions, on the data as they are by then.

Compensation is not recursive: properties of an end, and further compensation, are ignored in the states that undo.
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
    """The completed states that can be undone, in the order of completion, by their paths."""

    def __init__(self, record: list[str]) -> None:
        self._paths = record
        self.is_undoing = False
        """Whether compensation is running; only `undoing` sets it."""

    def __bool__(self) -> bool:
        return bool(self._paths)

    @property
    def latest(self) -> str:
        """The state to undo next."""
        return self._paths[-1]

    @property
    def in_order(self) -> list[str]:
        """The states in the order in which they are undone."""
        return self._paths[::-1]

    def add(self, path: str) -> None:
        """Add a completed state."""
        self._paths.append(path)

    def drop_latest(self) -> None:
        """Remove the latest state: it was undone, or did not complete after all."""
        if self._paths:
            self._paths.pop()

    def clear(self) -> None:
        """Remove all states: nothing is to be undone."""
        self._paths.clear()

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """Mark compensation as running inside the context."""
        self.is_undoing = True
        try:
            yield
        finally:
            self.is_undoing = False


async def compensate(data: JSON, frame: CompensationFrame, lane: Lane) -> JSON:
    """Undo everything in the compensation log and return the resulting data."""
    log = lane.execution.compensation
    with log.undoing():
        return await _undo(data, frame, lane)


def while_undoing(leaving: Transition | End) -> Transition | End:
    """Return how a compensating state is left: its end only ends the chain."""
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
                frame.walk = _interrupted_walk(data, lane)
            if frame.walk is None:
                lane.emit(TraceKind.COMPENSATING, state, by=first)
                frame.walk = WalkFrame(first, data)
            data = (await execution.walk(frame.walk, scope)).data
        execution.compensation.drop_latest()
        frame.walk, frame.data = None, Value(data)
    frame.done, frame.data = True, Value(data)
    return data


def _interrupted_walk(data: JSON, lane: Lane) -> WalkFrame | None:
    """Return the progress of the chain that the workflow's timeout interrupted, if any, to resume with *data*."""
    main = lane.execution.frame.walk
    interrupted = None if main is None or main.run is None else main.run.compensation
    if not lane.execution.is_expired or interrupted is None or interrupted.walk is None:
        return None
    walk, interrupted.walk = interrupted.walk, None
    # Its timeouts do not count the time during which it did not run.
    forget_deadlines(walk)
    forget_calls(walk)
    walk.data = data
    walk.latest_data = data
    if walk.run is not None and walk.run.input is not None:
        walk.run.input.value = data
    return walk
