"""The state types: a file for each."""

from typing import assert_never

from swf_temporal.languages.direktiv.execution.frames import (
    ActionFrame,
    GetterBody,
    ParallelBody,
    SetterBody,
    StateFrame,
)
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.execution.states import (
    action,
    consume_event,
    delay,
    error,
    events_and,
    events_xor,
    foreach,
    generate_event,
    getter,
    noop,
    parallel,
    setter,
    switch,
    validate,
)
from swf_temporal.languages.direktiv.model.states import (
    ActionState,
    ConsumeEventState,
    DelayState,
    ErrorState,
    EventsAndState,
    EventsXorState,
    ForeachState,
    GenerateEventState,
    GetterState,
    NoopState,
    ParallelState,
    SetterState,
    State,
    SwitchState,
    ValidateState,
)


async def logic_of(state: State, frame: StateFrame, lane: Lane) -> StateExit:  # noqa: C901, PLR0912 - a case for each type
    """Do what *state* does, as far as *frame* does not say that it is done, and return how it is left."""
    match state:
        case ActionState():
            return await action.run(state, frame.body_as(ActionFrame), lane)
        case ConsumeEventState():
            return await consume_event.run(state, frame, lane)
        case DelayState():
            return await delay.run(state, frame, lane)
        case ErrorState():
            return await error.run(state, lane)
        case EventsAndState():
            return await events_and.run(state, frame, lane)
        case EventsXorState():
            return await events_xor.run(state, frame, lane)
        case ForeachState():
            return await foreach.run(state, frame, lane)
        case GenerateEventState():
            return await generate_event.run(state, lane)
        case GetterState():
            return await getter.run(state, frame.body_as(GetterBody), lane)
        case NoopState():
            return await noop.run(state, lane)
        case ParallelState():
            return await parallel.run(state, frame.body_as(ParallelBody), lane)
        case SetterState():
            return await setter.run(state, frame.body_as(SetterBody), lane)
        case SwitchState():
            return await switch.run(state, lane)
        case ValidateState():
            return await validate.run(state, lane)
        case _:
            assert_never(state)


def waits(state: State) -> bool:
    """Tell whether time can pass in *state*: the others need no timer."""
    return not isinstance(state, ErrorState | NoopState | SwitchState | ValidateState)
