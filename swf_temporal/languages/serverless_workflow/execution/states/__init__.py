"""The state types: a file for each, with `run(state, data, lane) -> Step`."""

from typing import assert_never

from swf_temporal.data import JSON
from swf_temporal.languages.serverless_workflow.execution.frames import BodyFrame
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.states import (
    callback,
    event,
    event_expression,
    foreach,
    inject,
    operation,
    parallel,
    sleep,
    switch,
)
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


async def run_body(state: State, data: JSON, lane: Lane[BodyFrame]) -> Step:
    """Run the body of *state*."""
    match state:
        case OperationState():
            return await operation.run(state, data, lane)
        case SwitchState():
            return await switch.run(state, data, lane)
        case InjectState():
            return inject.run(state, data, lane)
        case EventState() if expectations(state):
            return await event_expression.run(state, data, lane)
        case EventState():
            return await event.run(state, data, lane)
        case ForeachState():
            return await foreach.run(state, data, lane)
        case ParallelState():
            return await parallel.run(state, data, lane)
        case SleepState():
            return await sleep.run(state, data, lane)
        case CallbackState():
            return await callback.run(state, data, lane)
    assert_never(state)
