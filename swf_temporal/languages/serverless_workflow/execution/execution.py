"""Running a Serverless Workflow definition from its first state to its end.

`walk` runs states from a given one until one of them ends; it is re-entrant, so that compensation and the states that
run before a timeout are walks of their own. Everything that waits asks the run.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import NotActive, TransitionRefused, WorkflowFault
from swf_temporal.base.records import nested
from swf_temporal.languages.serverless_workflow.execution.active_window import is_active
from swf_temporal.languages.serverless_workflow.execution.compensation import CompensationLog, compensate, while_undoing
from swf_temporal.languages.serverless_workflow.execution.concurrency import concurrency_key
from swf_temporal.languages.serverless_workflow.execution.error_data import public
from swf_temporal.languages.serverless_workflow.execution.events import produce_all
from swf_temporal.languages.serverless_workflow.execution.execution_timeout import Expired, run_in_time
from swf_temporal.languages.serverless_workflow.execution.frames import (
    ActionFrame,
    CompensationFrame,
    DetachedBranchFrame,
    InstanceFrame,
    PartFrame,
    StateFrame,
    WalkFrame,
)
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.parameters import for_run
from swf_temporal.languages.serverless_workflow.execution.program import Program, Scope
from swf_temporal.languages.serverless_workflow.execution.run_state import StateResult, left_by_error, run_state
from swf_temporal.languages.serverless_workflow.execution.search_attributes import attribute_values
from swf_temporal.languages.serverless_workflow.execution.step import Ended, Terminated
from swf_temporal.languages.serverless_workflow.model.states import End, State, Transition
from swf_temporal.languages.serverless_workflow.model.version import REQUEST_FACTS
from swf_temporal.runtime.correlation import CorrelationKeys
from swf_temporal.runtime.host import Completed, ContinuedAs, TraceKind
from swf_temporal.runtime.iterations import DetachedBranches
from swf_temporal.runtime.progress import TimedFrame, Value
from swf_temporal.runtime.run import Run, walk

_MESSAGE: Final = "errorMessage"


class Execution:
    def __init__(self, program: "Program", run: Run, frame: InstanceFrame) -> None:
        """Make an execution of *program* for *run*, which is as far as *frame* says."""
        self.run = run
        self.frame = frame
        self.program = program
        self.compensation = CompensationLog(frame.completed)
        self.correlation = CorrelationKeys(frame.correlation)
        self._soft_deadline: float | None = None
        self._detached = DetachedBranches(frame.running, self._run_detached)
        self._about: dict[str, JSON] | None = None

    # For the run

    async def execute(self) -> Completed | ContinuedAs:
        """Run to the end. Raises the WorkflowFault that the workflow failed with."""
        self._check_active()
        return await run_in_time(self)

    async def concurrency_key(self) -> JSON:
        """Return what the key of `metadata.concurrency` yields for the input."""
        return await concurrency_key(self)

    async def search_attributes(self) -> Mapping[str, JSON | WorkflowFault]:
        """Return what the values of `metadata.searchAttributes` yield for the input."""
        return await attribute_values(self)

    @property
    def deadline(self) -> float | None:
        """When the workflow's time is over."""
        return self.frame.deadline

    @property
    def under_way(self) -> Sequence[str]:
        """The ids of the calls and sub-workflows that are under way, or have failed."""
        return [action.id for action in nested(self.frame, ActionFrame) if action.id is not None]

    def begin_again(self) -> None:
        """Let what was under way have its time, and its attempts, anew."""
        for timed in nested(self.frame, TimedFrame):
            timed.forget_deadlines()
            timed.forget_attempts()

    def abandon(self) -> None:
        """Undo nothing when what waits is ended: a run that only waits was not cancelled."""
        self.compensation.clear()

    @property
    def is_cancelled(self) -> bool:
        """Whether it was cancelled, and undoes what it did."""
        return self.frame.cancelled is not None

    @property
    def metadata(self) -> JSON:
        """Nothing: metadata of these definitions belong to the definition, and not to an instance."""
        return None

    @property
    def is_expired(self) -> bool:
        """Whether the workflow's time was over before it ended."""
        return self.frame.expired

    @property
    def error(self) -> JSON:
        """The error that was caught last, as expressions see it."""
        return self.frame.error

    def caught(self, fault: WorkflowFault) -> None:
        """Let expressions see *fault* from now on."""
        self.frame.error = public(fault)
        self._tell(error=self.frame.error)

    @property
    def request(self) -> Mapping[str, JSON]:
        """What sub-workflows are told of the request that began the instance; nothing where expressions see none."""
        if not self.program.workflow.language_version.tells_of_requests:
            return {}
        noted = self.frame.noted
        return {**self.run.instance.request, **({"headers": noted["headers"]} if "headers" in noted else {})}

    def note(self, **facts: JSON) -> None:
        """Let expressions see *facts* as `$WORKFLOW` from now on, where the language version has such."""
        if self.program.workflow.language_version.tells_of_requests:
            self.frame.noted |= facts
            self._tell(**facts)

    @contextmanager
    def soft_deadline(self, moment: float) -> Iterator[None]:
        """As long as the context lasts, begin no further state after *moment*, but to finish undoing."""
        self._soft_deadline = moment
        try:
            yield
        finally:
            self._soft_deadline = None

    @property
    def deadline_passed(self) -> bool:
        return self._soft_deadline is not None and self.run.time() >= self._soft_deadline

    @property
    def state(self) -> str | None:
        walk = self.frame.innermost_walk
        return None if walk is None else walk.state

    @property
    def data(self) -> JSON:
        """The data that the running state began with."""
        walk = self.frame.innermost_walk
        return self.run.input if walk is None else walk.data

    @property
    def latest_data(self) -> JSON:
        """The data as the actions of the running state have left it."""
        return self.frame.latest_data(self.run.input)

    @latest_data.setter
    def latest_data(self, data: JSON) -> None:
        self.frame.set_latest_data(data)

    # For lanes

    def is_starting(self, state: State) -> bool:
        """Tell whether *state* is where the instance, or a round of one that is kept active, starts: none led there."""
        walk = self.frame.walk
        is_first = state.name == self.program.scope.start and (walk is None or not walk.moved)
        return is_first and not self.compensation.is_undoing and not self.is_expired

    # Walking

    async def walk(self, frame: WalkFrame, scope: Scope | None = None, within: Lane | None = None) -> Ended:
        """Run states, from the one where *frame* is, until one of them ends: those of *scope*, or of the workflow.

        The states of a branch or an iteration run *within* its lane, and see its variables.
        """
        step = partial(self._walk_step, frame, self.program.scope if scope is None else scope, within)
        return await walk(self.run, step)

    async def _walk_step(self, frame: WalkFrame, scope: Scope, within: Lane | None) -> Ended | None:
        """Run the state where *frame* is, and have the frame say which is next; return the end if there is none.

        Raises Expired where no further state is to begin.
        """
        if frame.run is None and self.deadline_passed and not self.compensation.is_undoing:
            raise Expired
        name = frame.state
        state = scope.state(name)
        run = frame.run
        if run is None:
            run = frame.run = StateFrame(since=self.run.time())
        variables = self.variables(run.since)
        if within is None:
            lane = Lane(self, state, run, variables, scope.path_of(name), scope)
        else:
            seen = {**within.variables, **variables}
            lane = Lane(self, state, run, seen, f"{within.path}/{name}", scope, within.branch)
        left = await run_state(state, frame.data, lane)
        if (
            not self.compensation.is_undoing
            and left.completed
            and state.compensated_by is not None
            and not run.recorded
        ):
            run.recorded = True
            self.compensation.add(lane.state_path)
        data, leaving = left.data, left.leaving
        if _asks_more(leaving) or _has_message(leaving, state, lane) or self.compensation.is_undoing:
            data, leaving = await self._leave(state, left, lane)
        lane.emit(TraceKind.STATE_LEFT, lane.state_path)
        if isinstance(leaving, End):
            run.end_with(data)
            return Ended(data, leaving)
        frame.run, frame.data = None, data
        frame.state, frame.moved = leaving.next_state, True
        return None

    async def walk_to_end(self, frame: WalkFrame) -> Ended:
        """Run states until one of them ends, and the branches that were left running on the way."""
        if not self.program.leaves_running:
            return await self.walk(frame)

        async def own() -> Ended:
            if self.frame.ended is None:
                ended = await self.walk(frame)
                if ended.end.terminate:
                    raise self.terminated(ended)
                self.frame.ended = Value(ended.data)
            return Ended(self.frame.ended.value, End())

        return await self._detached.run_beside(own)

    def terminated(self, ended: Ended) -> Terminated:
        """Return what ends the instance where one of its paths *ended*.

        The others take no further step, as where a run is suspended: which of them come at the same instant is no
        matter of the order in which they are woken.
        """
        self.run.suspend()
        return Terminated(ended)

    def detach(self, path: str, data: JSON, lane: Lane) -> None:
        """Run the states that the branch at *path* holds beside everything else, to the end of the instance."""
        own = self.variables()
        variables = {name: value for name, value in lane.variables.items() if name not in own}
        self._detached.add(DetachedBranchFrame(lane.state_path, lane.branch, lane.path, path, data, variables))

    def detached_lane(self, frame: DetachedBranchFrame) -> Lane[PartFrame]:
        """Return the lane of a branch that was left running."""
        scope, name = self.program.locate(frame.state)
        variables = {**frame.variables, **self.variables()}
        return Lane(self, scope.state(name), frame.part, variables, frame.lane, scope, frame.branch)

    async def _run_detached(self, frame: DetachedBranchFrame) -> None:
        await self.detached_lane(frame).run_scope(frame.scope, frame.data)

    async def _leave(self, state: State, left: StateResult, lane: Lane[StateFrame]) -> tuple[JSON, Transition | End]:
        """Do what leaving a state asks for, in the order of the specification: compensate, then produce events.

        Return the data, and which way it was left: what cannot be produced is an error of the state like any other.
        """
        leaving = while_undoing(left.leaving) if self.compensation.is_undoing else left.leaving
        if _has_message(leaving, state, lane):
            await _check_message(state, left.data, lane)
        if isinstance(leaving, Transition) and leaving.condition is not None:
            await _check_transition(state, leaving, left.data, lane)
        if not (leaving.compensate or leaving.produce_events):
            return left.data, leaving
        frame, data = lane.frame, left.data
        if leaving.compensate and not self.compensation.is_undoing:
            frame.compensation = frame.compensation or CompensationFrame()
            data = await compensate(data, frame.compensation, lane)
        if leaving.produce_events:
            try:
                await produce_all(leaving.produce_events, data, lane)
            except WorkflowFault as fault:
                if not left.completed:
                    raise
                instead = await left_by_error(state, fault, data, lane)
                if frame.recorded:
                    frame.recorded = False
                    self.compensation.drop_latest()
                return await self._leave(state, instead, lane)
        return data, leaving

    def variables(self, now: float | None = None) -> dict[str, JSON]:
        """Return the variables of every expression, of a state that was entered at *now*; `$WORKFLOW` is up to date."""
        if self._about is None:
            instance, frame = self.run.instance, self.frame
            self._about = {
                **self.program.about,
                "instanceId": instance.instance_id,
                "runId": instance.run_id,
                "startTime": self.run.started,
                "input": self.run.input,
            }
            if self.program.workflow.language_version.tells_of_requests:
                self._about |= {**REQUEST_FACTS, **instance.request, **frame.noted}
            if frame.error is not None:
                self._about["error"] = frame.error
        now = self.run.time() if now is None else now
        return {"WORKFLOW": self._about, "CONST": self.program.constants, "__now": now}

    def _tell(self, **facts: JSON) -> None:
        if self._about is not None:
            self._about |= facts

    def note_timeout(self) -> None:
        """Take note that the workflow has timed out."""
        self.run.emit(TraceKind.WORKFLOW_TIMED_OUT, self.program.workflow.id)

    def _check_active(self) -> None:
        """Raise NotActive if this run begins before or after the time in which the workflow is active."""
        window = self.program.scope.window
        if self.run.is_new and not is_active(window, self.run.host.now()):
            self.run.emit(TraceKind.NOT_ACTIVE, self.program.id, interval=window)
            raise NotActive(f"workflow {self.program.id!r} is active in {window} only: this run does not begin")

    async def set_parameters(self) -> None:
        """Evaluate the workflow's own parameters where they are expressions; their time is that of the start."""
        if self.program.has_open_parameters:
            variables = {**self.variables(), "__now": self.run.started}
            self.program = await self.run.evaluated(lambda: for_run(self.program, self.run.input, variables))
            self._about = None


def _asks_more(leaving: Transition | End) -> bool:
    """Tell whether anything is to be done or to hold where a state is left this way."""
    if leaving.produce_events or leaving.compensate:
        return True
    return isinstance(leaving, Transition) and leaving.condition is not None


def _has_message(leaving: Transition | End, state: State, lane: Lane) -> bool:
    """Tell whether the metadata of *state*, which ends, may have a message that the instance fails with."""
    has_some = isinstance(leaving, End) and _MESSAGE in state.metadata
    return has_some and lane.program.workflow.language_version.tells_of_requests


async def _check_message(state: State, data: JSON, lane: Lane) -> None:
    """Raise WorkflowFault with the message that the metadata of *state* have for its output, if that is a text."""
    message = await lane.fill(state.metadata[_MESSAGE], data)
    if isinstance(message, str) and message.strip():
        raise lane.locate(WorkflowFault(message, name="ErrorMessage"))


async def _check_transition(state: State, transition: Transition, data: JSON, lane: Lane) -> None:
    """Raise TransitionRefused if what *transition* asks for does not hold of the state's output."""
    if not await lane.holds(transition.condition, data):
        message = f"{state.name!r} may not lead to {transition.next_state!r}: {transition.condition!r} is not true"
        raise lane.locate(TransitionRefused(f"{message} of its data output"))


class PreparedProgram(Program):
    def begin(self, run: Run, frame: Mapping[str, Any] | None) -> Execution:
        """Return what runs for *run*, going on from the *frame* of an execution before."""
        return Execution(self, run, InstanceFrame() if frame is None else InstanceFrame.from_json(frame))
