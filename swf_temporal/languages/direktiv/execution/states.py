"""The logic of each type of state."""

import re
from base64 import b64decode
from datetime import timedelta
from typing import Final, assert_never

from swf_temporal.base.cloud_event import FIXED, CloudEvent
from swf_temporal.base.data import JSON, json_or_base64
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.expressions.json_schema import BadSchema, DataSchemaValidator
from swf_temporal.expressions.patterns import PatternTooSlow
from swf_temporal.expressions.structured import as_text
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.calls import perform, store, value_of, variable_of
from swf_temporal.languages.direktiv.execution.frames import (
    ActionFrame,
    DelayBody,
    ForeachBody,
    GetterBody,
    ParallelBody,
    SetterBody,
    StateFrame,
)
from swf_temporal.languages.direktiv.execution.lane import (
    Lane,
    StateExit,
    all_of,
    begin_waiting,
    next_of,
    not_object,
    with_result,
)
from swf_temporal.languages.direktiv.model import (
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
    kind_of,
)
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.iterations import Iterations, begin_front, first_to_succeed
from swf_temporal.runtime.joining import MISSING, Path, join
from swf_temporal.runtime.progress import Front
from swf_temporal.runtime.variables import JSON_TYPE

_DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"
_DRAFT_4: Final = "http://json-schema.org/draft-04/schema#"


def validator_of(schema: JSON) -> DataSchemaValidator:
    """Return a validator for *schema*. Raises BadSchema.

    Without `$schema`, it is read as the latest draft that Direktiv supported or, if it is invalid there, the earliest.
    """
    if not isinstance(schema, dict) or "$schema" in schema:
        return DataSchemaValidator(schema, checks_formats=True)
    try:
        return DataSchemaValidator({**schema, "$schema": _DRAFT_7}, checks_formats=True)
    except BadSchema as refused:
        try:
            return DataSchemaValidator({**schema, "$schema": _DRAFT_4}, checks_formats=True)
        except BadSchema:
            raise refused from None


async def run_action(state: ActionState, frame: ActionFrame, lane: Lane) -> StateExit:
    """Make the call, and wait for its result unless it is `async`."""
    result = await perform(state.action, frame, lane.child("action"), forget=state.async_)
    data = lane.data if state.async_ else with_result(lane.data, "return", result)
    return StateExit(data, state.transform, state.transition)


async def run_consume_event(state: ConsumeEventState, frame: StateFrame, lane: Lane) -> StateExit:
    wait = await begin_waiting([(state.event.type, state.event.context)], frame, lane)
    _, event = await next_of(wait, [0], lane)
    return StateExit(with_result(lane.data, event.type, event.to_json()), state.transform, state.transition)


async def run_delay(state: DelayState, frame: StateFrame, lane: Lane) -> StateExit:
    """Wait for the duration of the state."""
    if not isinstance(frame.body, DelayBody):
        frame.body = DelayBody(lane.run.time() + parse_duration(state.duration).total_seconds())
        lane.emit(TraceKind.SLEEPING, state.id, duration=state.duration)
    await lane.sleep_until(frame.body.until)
    return StateExit(lane.data, state.transform, state.transition)


_VERB = re.compile(r"%([vsdq%])")


async def run_error(state: ErrorState, lane: Lane) -> StateExit:
    """Record the error with which the instance fails when it ends."""
    message = as_text(await lane.evaluate(state.message, lane.data))
    if state.args:
        message = _formatted(message, [await lane.evaluate(one, lane.data) for one in state.args])
    lane.execution.fail_at_end(state.error, message)
    return StateExit(lane.data, state.transform, state.transition)


def _formatted(text: str, values: list[JSON]) -> str:
    """Return *text* with `%v` and similar verbs replaced by *values*, one after the other."""
    rest = iter(values)

    def replaced(match: re.Match[str]) -> str:
        if match[1] == "%":
            return "%"
        value = next(rest, None)
        return f'"{as_text(value)}"' if match[1] == "q" else as_text(value)

    return _VERB.sub(replaced, text)


async def run_events_and(state: EventsAndState, frame: StateFrame, lane: Lane) -> StateExit:
    wait = await begin_waiting([(one.type, one.context) for one in state.events], frame, lane)
    events = [event.to_json() for event in await all_of(wait, lane)]
    data: dict[str, JSON] = {**(lane.data if isinstance(lane.data, dict) else {}), **by_type(events)}
    return StateExit(data, state.transform, state.transition)


def by_type(events: list[dict[str, JSON]]) -> dict[str, JSON]:
    """Return *events* by type; the key of a further one of the same type ends with a dot and its index."""
    found: dict[str, JSON] = {}
    for index, event in enumerate(events):
        key = str(event["type"])
        found[f"{key}.{index}" if key in found else key] = event
    return found


async def run_events_xor(state: EventsXorState, frame: StateFrame, lane: Lane) -> StateExit:
    """Wait for the first event; its entry may override the transform and the transition of the state."""
    wait = await begin_waiting([kind_of(one)[:2] for one in state.events], frame, lane)
    index, event = await next_of(wait, range(len(wait.kinds)), lane)
    entry = state.events[index]
    transform = state.transform if entry.transform is None else entry.transform
    return StateExit(
        with_result(lane.data, event.type, event.to_json()), transform, entry.transition or state.transition
    )


async def run_foreach(state: ForeachState, frame: StateFrame, lane: Lane) -> StateExit:
    """Make the calls; the first failure fails the state and ends the other calls."""
    values = await _in_turn(state, await _elements(state, frame, lane), frame, lane)
    return StateExit(with_result(lane.data, "return", values), state.transform, state.transition)


async def _in_turn(state: ForeachState, elements: list[JSON], frame: StateFrame, lane: Lane) -> list[JSON]:
    """Return the results of the calls. Completed calls, from the first without gaps, are reduced to their results."""
    if not isinstance(frame.body, ForeachBody):
        frame.body = ForeachBody(begin_front(Front, len(elements), lane))
    front, actions = frame.body.front, frame.body.actions

    async def run_one(index: int) -> None:
        action = actions.setdefault(index, ActionFrame())
        await perform(state.action, action, lane.iteration(index, elements[index]))

    def keep(action: ActionFrame) -> None:
        assert action.result is not None  # noqa: S101 - it is complete
        front.outputs.append(action.result.value)

    await Iterations(
        lane,
        front,
        actions,
        run_one=run_one,
        is_complete=lambda action: action.result is not None,
        keep=keep,
        calls={state.action.function},
    ).run()
    return await front.all_outputs(lane.run.host)


async def _elements(state: ForeachState, frame: StateFrame, lane: Lane) -> list[JSON]:
    """Return the elements, evaluated as of the state's start so that they are the same in each execution of the run."""
    elements = await _given(state, frame.since, lane)
    if not isinstance(elements, list):
        raise codes.fault(codes.BAD_ARRAY, "jq returned a value that is not an array")
    for index, element in enumerate(elements):
        if not isinstance(element, dict):
            raise not_object(f"element {index} of the array is not an object")
    return elements


async def _given(state: ForeachState, since: float, lane: Lane) -> JSON:
    match lane.execution.program.compat.array:
        case "results":
            return await lane.results(state.array, lane.data, since)
        case "one":
            return await lane.evaluate(state.array, lane.data, since)
        case "any":
            results = await lane.results(state.array, lane.data, since)
            # A query with several results, such as .list[], yields the elements themselves.
            return results if len(results) > 1 else results[0]


IMMEDIATE = "immediate"
"""The delay that means no delay."""


async def run_generate_event(state: GenerateEventState, lane: Lane) -> StateExit:
    """Send the event, at once or after its delay, without waiting for that."""
    lane.run.checkpoint()
    event = await _event(state, lane)
    after = parse_duration(state.delay) if state.delay and state.delay != IMMEDIATE else timedelta()
    lane.emit_event(TraceKind.EVENT_PRODUCED, event.type, event)
    await lane.run.host.publish(event, after)
    return StateExit(lane.data, state.transform, state.transition)


async def _event(state: GenerateEventState, lane: Lane) -> CloudEvent:
    given = state.event
    data, content_type = _payload(await lane.evaluate(given.data, lane.data), given.datacontenttype)
    context = {} if given.context is None else await lane.object_of(given.context, lane.data, "the context of an event")
    own = {key: _attribute(value) for key, value in context.items() if key.lower() not in FIXED and value is not None}
    attributes: dict[str, JSON] = {**own, "datacontenttype": content_type}
    return CloudEvent(lane.run.host.new_id(), given.source, given.type, data, attributes)


def _attribute(value: JSON) -> JSON:
    """Return *value* as an attribute: a text, a whole number, true or false; anything else is written as JSON."""
    return value if isinstance(value, str | int) else as_text(value)


def _payload(data: JSON, content_type: str | None) -> tuple[JSON, str]:
    """Return the payload of an event, and its type. A text of a type other than JSON may be in base64."""
    if not isinstance(data, str) or not content_type or content_type == JSON_TYPE:
        return data, JSON_TYPE
    try:
        content = b64decode(data, validate=True)
        text = content.decode()
    except ValueError:
        return data, content_type
    return text if isinstance(json_or_base64(content), str) else json_or_base64(content), content_type


async def run_getter(state: GetterState, body: GetterBody, lane: Lane) -> StateExit:
    """Load the variables, one after the other."""
    for one in state.variables[len(body.found) :]:
        lane.run.checkpoint()
        body.found[one.as_ or one.key] = await value_of(one.scope, one.key, lane)
    return StateExit(with_result(lane.data, "var", dict(body.found)), state.transform, state.transition)


async def run_noop(state: NoopState, lane: Lane) -> StateExit:
    return StateExit(lane.data, state.transform, state.transition)


async def run_parallel(state: ParallelState, body: ParallelBody, lane: Lane) -> StateExit:
    """Wait for all calls or, in the mode `or`, for the first that succeeds; then the others are ended."""
    paths = [_call(index, state, body, lane) for index in range(len(state.actions))]
    if state.mode == "and":
        results = await join(paths)
    else:
        results = await first_to_succeed(
            paths, body.failed, lane, lambda: codes.fault(codes.ALL_FAILED, "all branches failed")
        )
    values: list[JSON] = [None if one is MISSING else one for one in results]
    return StateExit(with_result(lane.data, "return", values), state.transform, state.transition)


def _call(index: int, state: ParallelState, body: ParallelBody, lane: Lane) -> Path[JSON]:
    frame = body.actions.setdefault(index, ActionFrame())
    return lambda: perform(state.actions[index], frame, lane.child(str(index)))


async def run_setter(state: SetterState, body: SetterBody, lane: Lane) -> StateExit:
    """Store the variables, one after the other."""
    for one in state.variables[body.stored :]:
        lane.run.checkpoint()
        value = await lane.evaluate(one.value, lane.data)
        await store(one.scope, one.key, variable_of(value, one.mime_type, lane.execution.program.compat), lane)
        body.stored += 1
    return StateExit(lane.data, state.transform, state.transition)


async def run_switch(state: SwitchState, lane: Lane) -> StateExit:
    """Return the exit of the first condition that is met, or the default."""
    for one in state.conditions:
        await lane.run.pacing.give_way()
        if is_met(await lane.evaluate(one.condition, lane.data)):
            return StateExit(lane.data, one.transform, one.transition)
    return StateExit(lane.data, state.default_transform, state.default_transition)


def is_met(value: JSON) -> bool:
    """Return True if a condition with this value is met: anything but null, false, 0 and empty values."""
    return not (value is None or value is False or value in ("", [], {}) or value == 0)


async def run_validate(state: ValidateState, lane: Lane) -> StateExit:
    """Check that the subject fits the schema."""
    subject = await lane.evaluate(state.subject, lane.data)
    try:
        schema = lane.execution.program.schema(state.id, state.schema_)
        violations = await lane.run.evaluated(lambda: schema.violations(subject, slow_is_fatal=True))
    except BadSchema as error:
        raise codes.internal(f"the schema is not a JSON Schema: {error.message}") from None
    except PatternTooSlow as error:
        raise ExpressionLimitExceeded(str(error)) from None
    if violations:
        raise codes.fault(codes.SCHEMA_FAILED, f"subject does not fit its schema: {'; '.join(violations)}")
    return StateExit(lane.data, state.transform, state.transition)


async def logic_of(state: State, frame: StateFrame, lane: Lane) -> StateExit:  # noqa: C901, PLR0912 - a case for each type
    """Run the logic of *state*, from the progress in *frame*, and return its exit."""
    match state:
        case ActionState():
            return await run_action(state, frame.body_as(ActionFrame), lane)
        case ConsumeEventState():
            return await run_consume_event(state, frame, lane)
        case DelayState():
            return await run_delay(state, frame, lane)
        case ErrorState():
            return await run_error(state, lane)
        case EventsAndState():
            return await run_events_and(state, frame, lane)
        case EventsXorState():
            return await run_events_xor(state, frame, lane)
        case ForeachState():
            return await run_foreach(state, frame, lane)
        case GenerateEventState():
            return await run_generate_event(state, lane)
        case GetterState():
            return await run_getter(state, frame.body_as(GetterBody), lane)
        case NoopState():
            return await run_noop(state, lane)
        case ParallelState():
            return await run_parallel(state, frame.body_as(ParallelBody), lane)
        case SetterState():
            return await run_setter(state, frame.body_as(SetterBody), lane)
        case SwitchState():
            return await run_switch(state, lane)
        case ValidateState():
            return await run_validate(state, lane)
        case _:
            assert_never(state)


def waits(state: State) -> bool:
    """Return True if time can pass in *state*: other states need no timer."""
    return not isinstance(state, ErrorState | NoopState | SwitchState | ValidateState)
