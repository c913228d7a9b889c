"""Durations, schedules, schemas, retries, scopes and types of media that can be read."""

import re
from collections.abc import Iterator
from typing import Final

from swf_temporal.base.calendars.moments import InvalidTime
from swf_temporal.base.calendars.pitfalls import pitfall_of_days
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import Problem, Severity
from swf_temporal.expressions.json_schema import BadSchema
from swf_temporal.languages.direktiv.execution.states.generate_event import IMMEDIATE
from swf_temporal.languages.direktiv.model.node import Node
from swf_temporal.languages.direktiv.model.states import (
    DelayState,
    EventsXorState,
    GenerateEventState,
    GetterState,
    SetterState,
    State,
    TimedState,
    ValidateState,
    actions_of,
    variables_of,
)
from swf_temporal.languages.direktiv.model.workflow import EventsAndStart, ScheduledStart, StartEvent, Workflow
from swf_temporal.languages.direktiv.schedules import compiled, parts_of
from swf_temporal.languages.direktiv.schemas import validator_of
from swf_temporal.text.located import plain
from swf_temporal.text.origin import Source
from swf_temporal.text.suggestions import did_you_mean

_STORED: Final = ("instance", "workflow", "namespace", "thread")
_SCOPES: Final[dict[type, tuple[str, ...]]] = {SetterState: _STORED, GetterState: (*_STORED, "file", "system")}
_OF_FILES: Final = (*_STORED, "file")
_MIME_TYPE: Final = re.compile(r"\w+/[-+.\w]+")


def check(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield the values in *workflow* that cannot be read."""
    if workflow.timeouts is not None:
        yield from _duration("timeouts", workflow.timeouts, "interrupt", source)
        yield from _duration("timeouts", workflow.timeouts, "kill", source)
    if isinstance(workflow.start, ScheduledStart):
        try:
            compiled(workflow.start.cron)
        except InvalidTime as error:
            yield source.problem("schedule", str(error), workflow.start.where.value("cron"))
        else:
            text, *_ = parts_of(workflow.start.cron)
            days = None if text is None else pitfall_of_days(text)
            if days is not None:
                position = workflow.start.where.value("cron")
                yield source.problem("schedule", days.message, position, days.hint, Severity.WARNING)
    if isinstance(workflow.start, EventsAndStart):
        yield from _duration("start", workflow.start, "lifespan", source)
    for event in workflow.start_events:
        yield from _filters(event, source)
    for state in workflow.states:
        yield from _of_state(state, f"state {state.id!r}", source)


def _of_state(state: State, who: str, source: Source) -> Iterator[Problem]:
    if isinstance(state, TimedState):
        yield from _duration(who, state, "timeout", source)
    yield from _retries(state, who, source)
    yield from _scopes(state, who, source)
    match state:
        case DelayState():
            yield from _duration(who, state, "duration", source)
        case GenerateEventState() if state.delay != IMMEDIATE:
            yield from _duration(who, state, "delay", source)
        case ValidateState():
            yield from _schema(state, who, source)
        case EventsXorState():
            for entry in state.events:
                if entry.event is None and entry.type is None:
                    yield source.problem("missing", f"{who}: an event has no type", entry.where.position)
        case SetterState():
            yield from _media_types(state, who, source)


def _filters(event: StartEvent, source: Source) -> Iterator[Problem]:
    for key in ("filters", "context"):
        value = getattr(event, key)
        if value is not None and not isinstance(value, dict):
            yield source.problem("type", f"event of start: {key} must be an object", event.where.value(key))


def _retries(state: State, who: str, source: Source) -> Iterator[Problem]:
    for action in actions_of(state):
        for policy in action.retries:
            yield from _duration(f"{who}: retries", policy, "delay", source)
            if policy.max_attempts < 1:
                message = f"{who}: max_attempts is {policy.max_attempts}, and has to be 1 or more"
                yield source.problem("retry", message, policy.where.value("max_attempts"))


def _duration(who: str, node: Node, key: str, source: Source) -> Iterator[Problem]:
    text = getattr(node, key)
    if not text:
        return
    try:
        is_possible = parse_duration(text).total_seconds() >= 0
    except ValueError:
        is_possible = False
    if not is_possible:
        message = f"{who}: {key} {text!r} is not an ISO 8601 duration such as PT15M"
        yield source.problem("duration", message, node.where.value(key))


def _schema(state: ValidateState, who: str, source: Source) -> Iterator[Problem]:
    try:
        validator_of(plain(state.schema_))
    except BadSchema as error:
        yield source.problem("data-schema", f"{who}: {error.message}", state.where.value("schema"))


def _scopes(state: State, who: str, source: Source) -> Iterator[Problem]:
    known = _SCOPES.get(type(state), _OF_FILES)
    for one in variables_of(state):
        if one.scope == "file" and isinstance(state, SetterState):
            message = f"{who}: files of the namespace can be read, and not written"
            yield source.problem("enum", message, one.where.value("scope"), f"store it in {', '.join(known)}")
        elif one.scope and one.scope not in known:
            message = f"{who}: scope {one.scope!r} is not one of {', '.join(known)}"
            yield source.problem("enum", message, one.where.value("scope"), did_you_mean(one.scope, known))


def _media_types(state: SetterState, who: str, source: Source) -> Iterator[Problem]:
    for one in state.variables:
        if one.mime_type and _MIME_TYPE.search(one.mime_type) is None:
            message = f"{who}: mimeType {one.mime_type!r} is not a type of media such as text/plain"
            yield source.problem("media-type", message, one.where.value("mimeType"))
