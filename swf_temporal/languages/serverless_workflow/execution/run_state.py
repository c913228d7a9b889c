"""Running one state: what surrounds the body of every state, whatever its type.

In the order of the specification: filter the input, run within the state's timeout, catch what the state's onErrors
catch, filter the output. What is special about a type of state stands in its own file under `states/`.
"""

from dataclasses import dataclass

from swf_temporal.data import JSON
from swf_temporal.errors import ExpressionLimitExceeded, WorkflowFault
from swf_temporal.languages.serverless_workflow.execution.catching import handler_of
from swf_temporal.languages.serverless_workflow.execution.frames import StateFrame
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.states import run_body
from swf_temporal.languages.serverless_workflow.execution.states.event import give_back
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import (
    End,
    InjectState,
    Leaving,
    SleepState,
    State,
    SwitchState,
    Transition,
)
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.semantics import FIRST_SEMANTICS, slow_is_fatal


@dataclass(frozen=True, slots=True)
class StateResult:
    """How a state was left: with which data, and where to."""

    data: JSON
    leaving: Transition | End
    completed: bool = True
    """False if it met an error, and one of its onErrors entries leads on."""


async def run_state(state: State, data: JSON, lane: Lane[StateFrame]) -> StateResult:
    """Run *state* on *data*; raises the fault that no onErrors entry of it covers."""
    frame = lane.frame
    if "entered" not in frame:
        lane.emit(TraceKind.STATE_ENTERED, lane.state_path, type=state.type)
        frame["entered"] = True
    if "left" in frame:
        step = Step(frame["left"][1], frame["left"][0])
    else:
        step = await _step(state, data, lane)
    leaving = _leaving(state, step.by)
    if leaving.produce_events or leaving.compensate:
        # Leaving takes more steps, and a suspension between them must not run the state again.
        frame["left"] = [step.by, step.data]
        frame.pop("body", None)
    return StateResult(step.data, leaving, not step.by.startswith("error"))


def left_by_error(state: State, fault: WorkflowFault, data: JSON, lane: Lane[StateFrame]) -> StateResult:
    """Return how *state* is left that met *fault* on its way out; raises it if no onErrors entry covers it."""
    step = _catch(state, lane.locate(fault), data, lane)
    lane.frame["left"] = [step.by, step.data]
    lane.frame.pop("events", None)
    return StateResult(step.data, _leaving(state, step.by), completed=False)


async def _step(state: State, data: JSON, lane: Lane[StateFrame]) -> Step:
    given = state.state_data_filter
    try:
        if given is not None:
            data = lane.filtered(given.input, data)
        step = await _in_time(state, data, lane)
        if given is not None and given.output is not None:
            return Step(lane.filtered(given.output, step.data), step.by)
    except WorkflowFault as fault:
        return _catch(state, lane.locate(fault), data, lane)
    return step


async def _in_time(state: State, data: JSON, lane: Lane[StateFrame]) -> Step:
    """Run the body of *state* within its timeout.

    The state runs once: nothing tries it again. So the times for all of its attempts and for one are for the same
    thing, and the shorter decides.
    """
    body = lane.child(lane.frame.setdefault("body", {}), lane.path)
    timeouts = lane.program.timeouts(state)
    total, single = timeouts.state_exec_timeout, timeouts.single_state_exec_timeout
    if lane.semantics == FIRST_SEMANTICS:
        single = None
        if isinstance(state, InjectState | SleepState):
            total = state.timeouts.state_exec_timeout
    ends = [lane.deadline("deadline", total, data), lane.deadline("single", single, data)]
    deadline = min((end for end in ends if end is not None), default=None)
    return await lane.within(deadline, run_body(state, data, body), f"state {state.name!r}")


def _catch(state: State, fault: WorkflowFault, data: JSON, lane: Lane[StateFrame]) -> Step:
    """Return the step that an onErrors entry asks for.

    Its data is what the state's actions had worked on: the filtered input, with what they had merged until then.
    """
    try:
        entry = handler_of(state, lane.program.errors, fault, slow_is_fatal=slow_is_fatal(lane.semantics))
    except ExpressionLimitExceeded as limit:
        raise lane.locate(limit) from None
    if entry is None:
        raise fault
    lane.execution.caught(fault)
    lane.emit(TraceKind.ERROR_CAUGHT, fault.name, code=fault.code, message=fault.message)
    body = lane.frame.get("body", {})
    give_back(body, lane)
    return Step(body.get("data", data), f"error {state.on_errors.index(entry)}")


def _leaving(state: State, by: str) -> Transition | End:
    """Return the transition or end that *by* names; a path that names neither ends there."""
    kind, _, number = by.partition(" ")
    node: Leaving = state
    if kind == "own":
        pass
    elif kind == "error":
        node = state.on_errors[int(number)]
    elif isinstance(state, SwitchState) and kind == "default" and state.default_condition:
        node = state.default_condition
    elif isinstance(state, SwitchState):
        node = (state.data_conditions or state.event_conditions)[int(number)]
    return node.transition or node.end or End()
