"""The state types: each has a function `(state, data, lane) -> Step` in a module here."""

from typing import TypeVar, assert_never

from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.frames import (
    CallbackBody,
    EventBody,
    EventExpressionBody,
    ForeachBody,
    OperationBody,
    ParallelBody,
    SleepBody,
    StateFrame,
    SwitchBody,
)
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.states import event, foreach, parallel, simple
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import (
    CallbackState,
    EventState,
    ForeachState,
    InjectState,
    OperationState,
    ParallelState,
    SleepState,
    State,
    SwitchState,
    expectations,
)

B = TypeVar(
    "B",
    OperationBody,
    SleepBody,
    SwitchBody,
    CallbackBody,
    EventBody,
    EventExpressionBody,
    ForeachBody,
    ParallelBody,
)


async def run_body(state: State, data: JSON, lane: Lane[StateFrame]) -> Step:
    match state:
        case OperationState():
            return await simple.run_operation(state, data, _body(OperationBody, lane))
        case SwitchState():
            return await simple.run_switch(state, data, _body(SwitchBody, lane))
        case InjectState():
            return await simple.run_inject(state, data, lane)
        case EventState() if expectations(state):
            return await event.run_expression(state, data, _body(EventExpressionBody, lane))
        case EventState():
            return await event.run(state, data, _body(EventBody, lane))
        case ForeachState():
            return await foreach.run(state, data, _body(ForeachBody, lane))
        case ParallelState():
            return await parallel.run(state, data, _body(ParallelBody, lane))
        case SleepState():
            return await simple.run_sleep(state, data, _body(SleepBody, lane))
        case CallbackState():
            return await simple.run_callback(state, data, _body(CallbackBody, lane))
    assert_never(state)


def _body(kind: type[B], lane: Lane[StateFrame]) -> Lane[B]:
    """Return the lane of a state's body; create the body's frame if necessary."""
    body = lane.frame.body
    if not isinstance(body, kind):
        body = lane.frame.body = kind()
    return lane.child(body, lane.path)
