"""Validation of a Direktiv workflow beyond its form: expressions, names, references and values."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from swf_temporal.base.calendars.moments import InvalidTime
from swf_temporal.base.calendars.wording import pitfall_of_days
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.js import EngineMissing
from swf_temporal.expressions.json_schema import BadSchema
from swf_temporal.expressions.structured import compile_ahead, problems_in
from swf_temporal.languages.direktiv.execution.states import IMMEDIATE, validator_of
from swf_temporal.languages.direktiv.model import (
    DelayState,
    EventsAndStart,
    EventsXorState,
    Function,
    GenerateEventState,
    GetterState,
    Node,
    ScheduledStart,
    SetterState,
    StartEvent,
    State,
    SubflowFunction,
    TimedState,
    ValidateState,
    Workflow,
    actions_of,
    targets_of,
    variables_of,
)
from swf_temporal.languages.direktiv.starts import compiled, parts_of
from swf_temporal.runtime.ids import too_long
from swf_temporal.text.origin import Array, Object, Source, plain
from swf_temporal.text.suggestions import NEVER_ENTERED, did_you_mean, meant_or_known


def check_expressions(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield problems for queries in *workflow* that do not compile, and scripts without an installed engine."""
    fields = [(state, *field) for state in workflow.states for field in structured_fields(state)]
    compile_ahead([getattr(node, name) for _, node, name, _ in fields])
    for state, node, name, key in fields:
        for path, error in problems_in(getattr(node, name)):
            where = _position(node, key, path)
            yield _problem(f"state {state.id!r}: {key}", error, where, source)


def structured_fields(node: Node) -> Iterator[tuple[Node, str, str]]:
    """Yield the fields of *node* and nodes in it that may contain queries: the node, the name and the key."""
    for name, info in type(node).model_fields.items():
        value = getattr(node, name)
        if info.annotation is Any and name != "schema_":
            yield node, name, info.alias or name
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Node):
                yield from structured_fields(one)


def _problem(who: str, error: BadExpression, where: Position, source: Source) -> Problem:
    if isinstance(error, EngineMissing):
        return source.problem("expression-syntax", f"{who}: {error.message}", where)
    message = f"{who}: {error.message}; the state fails with direktiv.jq.badCommand"
    return source.problem("expression-syntax", message, where, severity=Severity.WARNING)


def _position(node: Node, key: str, path: Sequence[str | int]) -> Position:
    """Return the position of the element at *path* inside the value of *key*."""
    position = node.where.value(key)
    value: Any = getattr(node, next(n for n, info in type(node).model_fields.items() if (info.alias or n) == key))
    for step in path:
        if isinstance(value, Object) and isinstance(step, str):
            position = value.where.value(step)
        elif isinstance(value, Array) and isinstance(step, int):
            position = value.positions[step]
        value = value[step]
    return position


_REGEX: Final = re.compile(r"\.[*+]|^\^|\$$|\(.*\)|\\[.dws]|\|")
"""Matches what has a meaning in a regular expression, and hardly is part of a code."""


def check_globs(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield problems for codes of errors in *workflow* that look like regular expressions."""
    for state in workflow.states:
        globs = [(one.error, one.where.value("error")) for one in state.catch]
        for action in actions_of(state):
            globs += [
                (code, _position(one, "codes", [n])) for one in action.retries for n, code in enumerate(one.codes)
            ]
        for glob, where in globs:
            if glob == ".*" or (_REGEX.search(glob) is not None and not glob.endswith(".*")):
                message = f"state {state.id!r}: {glob!r} looks like a regular expression, and is compared as a glob"
                hint = "a glob matches a whole code: write '*' for any characters, and {a,b} for alternatives"
                yield source.problem("error-glob", message, where, hint, Severity.WARNING)


_ID: Final = re.compile(r"[a-z]([a-z0-9_\-]*[a-z0-9])?")
_KEY: Final = re.compile(r"[a-zA-Z]([a-zA-Z0-9_.\-]*[a-zA-Z0-9])?")
"""With dots and hyphens, as in later releases: the text does not mention them."""


def check_names(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield problems for invalid names in *workflow*."""
    yield from _ids("state", workflow.states, source)
    yield from _ids("function", workflow.functions, source)
    for state in workflow.states:
        if isinstance(state, GetterState | SetterState):
            for one in state.variables:
                if one.scope != "file" and _KEY.fullmatch(one.key) is None:
                    yield _bad(f"state {state.id!r}: the variable {one.key!r}", "letters", one, "key", source)


def _ids(what: str, nodes: Sequence[Function | Node], source: Source) -> Iterator[Problem]:
    seen: set[str] = set()
    for node in nodes:
        id_: str = getattr(node, "id", "")
        if _ID.fullmatch(id_) is None:
            yield _bad(f"the {what} id {id_!r}", "lower-case letters", node, "id", source)
        if what == "function" and (trouble := too_long(id_)) is not None:
            message = f"a function is an activity on the server: {trouble}"
            yield source.problem("name-too-long", message, node.where.value("id"))
        if id_ in seen:
            message = f"there are two {what}s with the id {id_!r}"
            yield source.problem("duplicate-name", message, node.where.value("id"))
        seen.add(id_)


def _bad(who: str, letters: str, node: Node, key: str, source: Source) -> Problem:
    others = "digits, '_' and '-'" if key == "id" else "digits, '_', '-' and '.'"
    message = f"{who} has to begin with a letter and end with a letter or digit, and may have {letters}, {others}"
    return source.problem("name-form", message, node.where.value(key))


def check_references(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield problems for references in *workflow* to things that do not exist."""
    states = [state.id for state in workflow.states]
    start = workflow.start
    if start is not None and start.state and start.state not in states:
        message = f"start leads to the state {start.state!r}, which does not exist"
        yield source.problem(
            "transition-target", message, start.where.value("state"), meant_or_known(start.state, states)
        )
    for state in workflow.states:
        for target, node, key in targets_of(state):
            if target not in states:
                message = f"state {state.id!r} leads to the state {target!r}, which does not exist"
                yield source.problem(
                    "transition-target", message, node.where.value(key), meant_or_known(target, states)
                )
    yield from _functions(workflow, source)
    yield from _unreachable(workflow, source)


def _functions(workflow: Workflow, source: Source) -> Iterator[Problem]:
    functions = {function.id: function for function in workflow.functions}
    for state in workflow.states:
        for action in actions_of(state):
            named = functions.get(action.function)
            if named is None:
                message = f"state {state.id!r} refers to the function {action.function!r}, which is not defined"
                where, hint = (
                    action.where.value("function"),
                    meant_or_known(action.function, functions, "define it under functions"),
                )
                yield source.problem("function-undefined", message, where, hint)
            elif isinstance(named, SubflowFunction) and action.files:
                message = f"state {state.id!r}: {action.function!r} is a subflow, which takes no files"
                yield source.problem("not-for-subflows", message, action.where.key("files"))
            elif isinstance(named, SubflowFunction) and action.secrets:
                message = f"state {state.id!r}: secrets for the subflow {action.function!r} would be stored in its data"
                hint = "name them in the subflow's own action"
                yield source.problem("not-for-subflows", message, action.where.key("secrets"), hint)


def _unreachable(workflow: Workflow, source: Source) -> Iterator[Problem]:
    ways = {state.id: [target for target, *_ in targets_of(state)] for state in workflow.states}
    reached: set[str] = set()
    todo = [workflow.first]
    while todo:
        name = todo.pop()
        if name in ways and name not in reached:
            reached.add(name)
            todo += ways[name]
    for state in workflow.states:
        if reached and state.id not in reached:
            message = f"state {state.id!r} is never entered"
            yield source.problem("unreachable-state", message, state.where.value("id"), NEVER_ENTERED, Severity.WARNING)


_STORED: Final = ("instance", "workflow", "namespace", "thread")
_SCOPES: Final[dict[type, tuple[str, ...]]] = {SetterState: _STORED, GetterState: (*_STORED, "file", "system")}
_OF_FILES: Final = (*_STORED, "file")
_MIME_TYPE: Final = re.compile(r"\w+/[-+.\w]+")


def check_values(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield problems for invalid values in *workflow*."""
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
            message = f"{who}: files of the namespace are read-only"
            yield source.problem("enum", message, one.where.value("scope"), f"store it in {', '.join(known)}")
        elif one.scope and one.scope not in known:
            message = f"{who}: scope {one.scope!r} is not one of {', '.join(known)}"
            yield source.problem("enum", message, one.where.value("scope"), did_you_mean(one.scope, known))


def _media_types(state: SetterState, who: str, source: Source) -> Iterator[Problem]:
    for one in state.variables:
        if one.mime_type and _MIME_TYPE.search(one.mime_type) is None:
            message = f"{who}: mimeType {one.mime_type!r} is not a type of media such as text/plain"
            yield source.problem("media-type", message, one.where.value("mimeType"))


def validate(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield all problems of *workflow* beyond its form."""
    for check in (check_names, check_globs, check_references, check_values, check_expressions):
        yield from check(workflow, source)
