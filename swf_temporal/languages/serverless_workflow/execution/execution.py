"""Running a Serverless Workflow definition from its first state to its end.

`walk` runs states from a given one until one of them ends; it is re-entrant, so that compensation and the states of a
timeout's `runBefore` are separate walks. All waiting goes through the run.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import NotActive, TransitionRefused, WorkflowFault
from swf_temporal.base.records import nested
from swf_temporal.expressions.compiled import Several
from swf_temporal.expressions.evaluation import NOTHING
from swf_temporal.languages.metadata import attribute_values, concurrency_key
from swf_temporal.languages.serverless_workflow.execution.active_window import is_active
from swf_temporal.languages.serverless_workflow.execution.compensation import CompensationLog, compensate, while_undoing
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
from swf_temporal.languages.serverless_workflow.execution.parameters import for_run, truth_of
from swf_temporal.languages.serverless_workflow.execution.program import Program, Scope
from swf_temporal.languages.serverless_workflow.execution.run_state import StateResult, left_by_error, run_state
from swf_temporal.languages.serverless_workflow.execution.step import Ended, Terminated
from swf_temporal.languages.serverless_workflow.model.states import End, State, Transition
from swf_temporal.languages.serverless_workflow.model.workflow import REQUEST_FACTS
from swf_temporal.runtime.correlation import CorrelationKeys
from swf_temporal.runtime.host import Completed, ContinuedAs, TraceKind
from swf_temporal.runtime.iterations import DetachedBranches
from swf_temporal.runtime.progress import TimedFrame, Value
from swf_temporal.runtime.run import Run, walk

_MESSAGE: Final = "errorMessage"


class Execution:
    def __init__(self, program: "Program", run: Run, frame: InstanceFrame) -> None:
        """Make an execution of *program* for *run*, with the progress in *frame*."""
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
        """Return the value of the key of `metadata.concurrency` for the input."""
        return await concurrency_key(self.program.workflow.metadata, self._of_input)

    async def search_attributes(self) -> Mapping[str, JSON | WorkflowFault]:
        """Return the values of `metadata.searchAttributes` for the input."""
        return await attribute_values(self.program.workflow.metadata, self._of_input)

    async def _of_input(self, written: JSON) -> JSON:
        """Return the value of a part of the metadata, as *written*, for the input. Raises WorkflowFault."""
        compiled = self.program.expressions.template(written)
        data, variables = self.run.input, self.variables()
        yielded = await self.run.evaluated(lambda: compiled(data, variables))
        return None if yielded is NOTHING else list(yielded) if isinstance(yielded, Several) else yielded

    @property
    def deadline(self) -> float | None:
        """The time at which the workflow's timeout ends."""
        return self.frame.deadline

    @property
    def under_way(self) -> Sequence[str]:
        """The ids of the calls and sub-workflows that are in progress or have failed."""
        return [action.id for action in nested(self.frame, ActionFrame) if action.id is not None]

    def begin_again(self) -> None:
        """Reset the timeouts and attempts of everything in progress."""
        for timed in nested(self.frame, TimedFrame):
            timed.forget_deadlines()
            timed.forget_attempts()

    def abandon(self) -> None:
        """Disable compensation: ending a run that only waits is not a cancellation."""
        self.compensation.clear()

    @property
    def compensated_on_cancel(self) -> Sequence[str]:
        """The completed states that can be undone, if its metadata asks for that."""
        is_asked = truth_of(self.program.workflow.metadata.get("compensateOnCancel")) is True
        return self.compensation.in_order if is_asked else ()

    @property
    def is_cancelled(self) -> bool:
        """Whether it was cancelled and is compensating."""
        return self.frame.cancelled is not None

    def answer(self, query: str) -> JSON:
        """Raise LookupError: definitions of this language answer no queries."""
        raise LookupError(query)

    @property
    def metadata(self) -> JSON:
        """None: in this language, metadata belong to the definition and not to an instance."""
        return None

    @property
    def is_expired(self) -> bool:
        """Whether the workflow timed out before it ended."""
        return self.frame.expired

    @property
    def error(self) -> JSON:
        """The error caught last, as expressions see it."""
        return self.frame.error

    def caught(self, fault: WorkflowFault) -> None:
        """Make *fault* visible to expressions from now on."""
        self.frame.error = public(fault)
        self._update_variables(error=self.frame.error)

    @property
    def request(self) -> Mapping[str, JSON]:
        """The facts passed to sub-workflows about the request that started the instance; empty in versions without."""
        if not self.program.workflow.language_version.tells_of_requests:
            return {}
        noted = self.frame.noted
        return {**self.run.instance.request, **({"headers": noted["headers"]} if "headers" in noted else {})}

    def note(self, **facts: JSON) -> None:
        """Make *facts* visible to expressions as `$WORKFLOW` from now on, if the language version has them."""
        if self.program.workflow.language_version.tells_of_requests:
            self.frame.noted |= facts
            self._update_variables(**facts)

    @contextmanager
    def soft_deadline(self, moment: float) -> Iterator[None]:
        """Inside the context, begin no further state after *moment*, except to finish compensation."""
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
        """The data that the running state started with."""
        walk = self.frame.innermost_walk
        return self.run.input if walk is None else walk.data

    @property
    def latest_data(self) -> JSON:
        """The data as changed so far by the actions of the running state."""
        return self.frame.latest_data(self.run.input)

    @latest_data.setter
    def latest_data(self, data: JSON) -> None:
        self.frame.set_latest_data(data)

    # For lanes

    def is_starting(self, state: State) -> bool:
        """Return True if the instance, or a round of one kept active, starts in *state* without a transition."""
        walk = self.frame.walk
        is_first = state.name == self.program.scope.start and (walk is None or not walk.moved)
        return is_first and not self.compensation.is_undoing and not self.is_expired

    # Walking

    async def walk(self, frame: WalkFrame, scope: Scope | None = None, within: Lane | None = None) -> Ended:
        """Run states of *scope*, or of the workflow, from the current one of *frame* until one of them ends.

        The states of a branch or an iteration run *within* its lane and see its variables.
        """
        step = partial(self._walk_step, frame, self.program.scope if scope is None else scope, within)
        return await walk(self.run, step)

    async def _walk_step(self, frame: WalkFrame, scope: Scope, within: Lane | None) -> Ended | None:
        """Run the current state of *frame* and set the next one in the frame; return the end if it ends there.

        Raises Expired if no further state is to begin.
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
        if _requires_work(leaving) or _has_message(leaving, state, lane) or self.compensation.is_undoing:
            data, leaving = await self._leave(state, left, lane)
        lane.leave_state(lane.state_path, data)
        if isinstance(leaving, End):
            run.end_with(data)
            return Ended(data, leaving)
        frame.run, frame.data = None, data
        frame.state, frame.moved = leaving.next_state, True
        return None

    async def walk_to_end(self, frame: WalkFrame) -> Ended:
        """Run states until one of them ends, along with detached branches."""
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
        """Return the exception that ends the instance because one of its paths *ended*.

        The other paths take no further step, as when a run is suspended: the outcome must not depend on the order in
        which paths are woken at the same instant.
        """
        self.run.suspend()
        return Terminated(ended)

    def detach(self, path: str, data: JSON, lane: Lane) -> None:
        """Run the states of the branch at *path* concurrently with everything else, to the end of the instance."""
        own = self.variables()
        variables = {name: value for name, value in lane.variables.items() if name not in own}
        self._detached.add(DetachedBranchFrame(lane.state_path, lane.branch, lane.path, path, data, variables))

    def detached_lane(self, frame: DetachedBranchFrame) -> Lane[PartFrame]:
        """Return the lane of a detached branch."""
        scope, name = self.program.locate(frame.state)
        variables = {**frame.variables, **self.variables()}
        return Lane(self, scope.state(name), frame.part, variables, frame.lane, scope, frame.branch)

    async def _run_detached(self, frame: DetachedBranchFrame) -> None:
        await self.detached_lane(frame).run_scope(frame.scope, frame.data)

    async def _leave(self, state: State, left: StateResult, lane: Lane[StateFrame]) -> tuple[JSON, Transition | End]:
        """Do what the transition or end asks for, in the order of the specification: compensate, then produce events.

        Return the data, and how the state was left: an event that cannot be produced is an error of the state.
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
        """Return the variables of expressions in a state that was entered at *now*; `$WORKFLOW` is kept up to date."""
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
                self._about |= {
                    **REQUEST_FACTS,
                    **instance.request,
                    "variables": dict(instance.variables),
                    **frame.noted,
                }
            if frame.error is not None:
                self._about["error"] = frame.error
        now = self.run.time() if now is None else now
        return {"WORKFLOW": self._about, "CONST": self.program.constants, "__now": now}

    def _update_variables(self, **facts: JSON) -> None:
        if self._about is not None:
            self._about |= facts

    def note_timeout(self) -> None:
        """Record in the trace that the workflow timed out."""
        self.run.emit(TraceKind.WORKFLOW_TIMED_OUT, self.program.workflow.id)

    def _check_active(self) -> None:
        """Raise NotActive if this run starts outside the interval in which the workflow is active."""
        window = self.program.scope.window
        if self.run.is_new and not is_active(window, self.run.host.now()):
            self.run.emit(TraceKind.NOT_ACTIVE, self.program.id, interval=window)
            raise NotActive(f"workflow {self.program.id!r} is active in {window} only: this run was not started")

    async def set_parameters(self) -> None:
        """Evaluate parameters of the workflow that are expressions, as of the start time."""
        if self.program.has_open_parameters:
            variables = {**self.variables(), "__now": self.run.started}
            self.program = await self.run.evaluated(lambda: for_run(self.program, self.run.input, variables))
            self._about = None


def _requires_work(leaving: Transition | End) -> bool:
    """Return True if leaving a state this way involves events, compensation or a condition."""
    if leaving.produce_events or leaving.compensate:
        return True
    return isinstance(leaving, Transition) and leaving.condition is not None


def _has_message(leaving: Transition | End, state: State, lane: Lane) -> bool:
    """Return True if *state* ends and its metadata may have a message with which the instance fails."""
    has_some = isinstance(leaving, End) and _MESSAGE in state.metadata
    return has_some and lane.program.workflow.language_version.tells_of_requests


async def _check_message(state: State, data: JSON, lane: Lane) -> None:
    """Raise WorkflowFault with the message in the metadata of *state*, if it evaluates to a text."""
    message = await lane.fill(state.metadata[_MESSAGE], data)
    if isinstance(message, str) and message.strip():
        raise lane.locate(WorkflowFault(message, name="ErrorMessage"))


async def _check_transition(state: State, transition: Transition, data: JSON, lane: Lane) -> None:
    """Raise TransitionRefused if the condition of *transition* does not hold for the state's output."""
    if not await lane.holds(transition.condition, data):
        message = f"{state.name!r} may not lead to {transition.next_state!r}: {transition.condition!r} is not true"
        raise lane.locate(TransitionRefused(f"{message} of its data output"))


class PreparedProgram(Program):
    def begin(self, run: Run, frame: Mapping[str, Any] | None) -> Execution:
        """Return the execution for *run*, resumed from the *frame* of an earlier execution if there is one."""
        return Execution(self, run, InstanceFrame() if frame is None else InstanceFrame.from_json(frame))
