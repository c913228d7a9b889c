"""The rules of the draft of November 2019, in the words of the draft."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from swf_temporal.base.durations import parse_duration, what_is_wrong
from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.base.function_types import operation_type
from swf_temporal.expressions.comparing import NUMERIC_OPERATORS, number_in
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.early import LANGUAGE, SpelCondition
from swf_temporal.expressions.early_paths import EarlyPath, early_text
from swf_temporal.languages.expression_hints import hint_for_condition, hint_for_path
from swf_temporal.languages.serverless_workflow.drafts.lowering import repetition_of
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.event_expressions import (
    BadEventExpression,
    names_in,
    parsed,
)
from swf_temporal.languages.serverless_workflow.drafts.november_2019.lowering import called, functions_in, rules_of
from swf_temporal.languages.serverless_workflow.drafts.rules import DraftContext
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import parts
from swf_temporal.text.suggestions import NEVER_ENTERED, NEVER_USED, known_ones, meant_or_known, nearest

_NAMED: Final[tuple[tuple[type[Node], str], ...]] = (
    (model.StateBase, "state"),
    (model.Branch, "branch"),
    (model.Trigger, "trigger"),
    (model.Action, "action"),
)
_NUMBERED: Final[dict[type[Node], str]] = {
    model.EventDefinition: "event definition",
    model.Action: "action",
    model.Retry: "retry",
    model.Choice: "choice",
    model.Rule: "rule",
    model.ErrorHandler: "onError entry",
}


@dataclass(frozen=True, slots=True)
class StateScope:
    """The states of the workflow, or of a branch."""

    node: model.Definition | model.Branch
    states: tuple[model.State, ...]
    owner: str
    """The words for the node that contains them."""

    @property
    def names(self) -> dict[str, model.State]:
        """The states by id and by name; names have precedence."""
        found = {state.id: state for state in reversed(self.states) if state.id is not None}
        return found | {state.name: state for state in reversed(self.states)}


class Context(DraftContext):
    """One definition under validation."""

    def __init__(self, root: model.Definition) -> None:
        self.root = root
        super().__init__(root, root.source)

    def scopes(self) -> Iterator[StateScope]:
        """Yield the scopes, that of the workflow first."""
        yield StateScope(self.root, self.root.states, "the workflow")
        for branch, owner in self.each(model.Branch):
            yield StateScope(branch, branch.states, owner)

    def called(self, node: Node, number: int) -> str:
        """Return the words for *node*: its name, or its number."""
        name = getattr(node, "name", None)
        word = next((word for kind, word in _NAMED if isinstance(node, kind)), None)
        if word is not None and name:
            return f"{word} {name!r}"
        return f"{_NUMBERED[type(node)]} number {number}" if type(node) in _NUMBERED else ""


_WRITE_RULES: Final = "write 'single: [{path: $.age, operator: GTEQ, value: \"18\"}]'"
_WRITE_CHOICES: Final = "write a choice for each, one after the other: the first that matches is taken"
_WITHOUT_VALUE = ("Exists", "NotExists", "Null", "NotNull")


def check_choices(context: Context) -> Iterator[Problem]:
    """Yield a problem for each switch and choice that cannot choose."""
    for state, owner in context.each(model.SwitchState):
        if not state.choices:
            hint = "write at least one choice, with a rule and a nextState"
            yield context.error("switch-conditions", f"{owner} has no choices", state.where.value("choices"), hint)
        if state.default is None:
            message = f"{owner} has no default: if no choice matches, the workflow fails"
            hint = "write 'default: ...' with the name of the state that follows otherwise"
            yield context.warning("switch-conditions", message, state.where.position, hint)
    for choice, owner in context.each(model.Choice):
        kinds = dict(rules_of(choice))
        if len(kinds) != 1:
            present = "no rules" if not kinds else " and ".join(map(repr, kinds))
            message = f"{owner} has {present}: its rules have to be under one of 'single', 'and', 'or' and 'not'"
            hint = _WRITE_CHOICES if kinds else _WRITE_RULES
            yield context.error("switch-conditions", message, choice.where.position, hint)
        for key, rules in kinds.items():
            if not rules:
                hint = "write at least one rule, with a path, an operator and a value"
                yield context.error("empty-list", f"{owner}: {key} is empty", choice.where.value(key), hint)
    for rule, owner in context.each(model.Rule):
        yield from _value(context, rule, owner)


def _value(context: Context, rule: model.Rule, owner: str) -> Iterator[Problem]:
    if rule.value is None and rule.operator not in _WITHOUT_VALUE:
        hint = f"write what {rule.path} is compared with, as in 'value: \"18\"'"
        yield context.error("missing", f"{owner} has no value for {rule.operator}", rule.where.position, hint)
    elif rule.operator in NUMERIC_OPERATORS and number_in(rule.value) is None:
        message = f"{owner}: {rule.operator} compares numbers, and {rule.value!r} is not a number"
        hint = f"did you mean 'Str{rule.operator}'?"
        yield context.error("condition", message, rule.where.value("value"), hint)


def check_functions(context: Context) -> Iterator[Problem]:
    """Yield a problem for a function that is defined differently elsewhere, or whose resource is malformed."""
    first_uses: dict[tuple[str, str], model.Function] = {}
    for function, owner in context.each(model.Function):
        for key, value in (("type", function.type), ("resource", function.resource)):
            if value is None:
                continue
            first = first_uses.setdefault((function.name, key), function)
            if value != getattr(first, key):
                line = first.where.position.line
                message = f"{owner}: the function {function.name!r} has a different {key} in line {line}"
                hint = "a name identifies one function: use another name for this one"
                yield context.error("duplicate-name", message, function.where.value(key), hint)
    for function in functions_in(context.root.states):
        yield from _form(context, function)


def _form(context: Context, function: model.Function) -> Iterator[Problem]:
    made = called(function)
    kind = operation_type(made.type)
    if kind is None:
        return
    if made.operation is None:
        if kind.needs_operation:
            message = f"the function {function.name!r} of the type {made.type} has no resource to call"
            hint = f"write what it calls, as in 'resource: {kind.example}'"
            yield context.error("function-operation", message, function.where.position, hint)
        return
    for found in kind.problems(made):
        message = f"the resource of the function {function.name!r}: {found.message}"
        report = context.error if found.severity is Severity.ERROR else context.warning
        yield report(found.code, message, function.where.value("resource"), found.hint)


def check_properties(context: Context) -> Iterator[Problem]:
    """Yield a warning for each property without effect; specVersion is checked in its detection."""
    for node, owner in context.each(Node):
        known = parts(type(node)).keys() - ({"source"} if node is context.root else set())
        checked = {"specVersion"} if node is context.root else set()
        of = f"of a state of the type {node.type}" if isinstance(node, model.STATES) else "that is known here"
        for key in sorted(node.where.keys.keys() - known - checked):
            meant = nearest(key, known, 0.7)
            hint = f"did you mean {meant!r}?" if meant else meant_or_known("", known)
            message = f"{owner}: {key!r} is not a property {of}"
            yield context.warning("unknown-property", message, node.where.key(key), hint)


_FORM: Final = "write names of triggers with and, or and parentheses between them"
_DEFINE_IT: Final = "define it under triggerDefs, with the source and the type of its events"


def check_triggers(context: Context) -> Iterator[Problem]:
    """Yield a problem for unreadable event expressions and unknown triggers; and a warning for unused triggers."""
    triggers = {trigger.name: trigger for trigger in context.root.trigger_defs}
    used: set[str] = set()
    for state, owner in context.each(model.EventState):
        if not state.events:
            hint = "write at least one entry, with an eventExpression that names triggers, and a nextState"
            yield context.error("empty-list", f"{owner}: events is empty", state.where.value("events"), hint)
    for entry, owner in context.each(model.EventDefinition):
        text, position = entry.event_expression, entry.where.value("eventExpression")
        try:
            names = names_in(parsed(text, triggers))
        except BadEventExpression as bad:
            message = f"{owner}: the eventExpression cannot be read: {bad.message}"
            hint = _FORM if not triggers else f"{_FORM}; {known_ones(triggers)}"
            yield context.error("expression-syntax", message, context.within(text, position, bad.offset), hint)
            continue
        used.update(names)
        for name in names:
            if name not in triggers:
                message = f"{owner} waits for the trigger {name!r}, which is not in triggerDefs"
                place = context.within(text, position, text.find(name))
                yield context.error("event-undefined", message, place, meant_or_known(name, triggers, _DEFINE_IT))
    for trigger, owner in context.each(model.Trigger):
        if trigger.name not in used:
            message = f"{owner} is not used in any eventExpression"
            yield context.warning("unused-definition", message, trigger.where.value("name"), NEVER_USED)
        elif trigger.correlation_token is None and len(used) > 1:
            message = f"{owner} has no correlationToken: its events may belong to any instance"
            hint = "with several triggers, each needs one to distinguish its events, such as '$.data.order'"
            yield context.warning("correlation", message, trigger.where.position, hint)


def check_flow(context: Context) -> Iterator[Problem]:
    """Yield problems of the control flow in the workflow and in each branch."""
    for scope in context.scopes():
        if not scope.states:
            message = f"{scope.owner}: states is empty"
            hint = "write at least one state, and name it in startsAt"
            yield context.error("empty-list", message, scope.node.where.value("states"), hint)
            continue
        yield from _names(context, scope)
        yield from _targets(context, scope)
        yield from _ends(context, scope)
        yield from _unreachable(context, scope)
    for state, owner in context.each(model.ParallelState):
        if not state.branches:
            hint = "write at least one branch, with a name, startsAt and states"
            yield context.error("empty-list", f"{owner}: branches is empty", state.where.value("branches"), hint)
        yield from context.repeated("branch", state.branches, f" in {owner}")
    yield from context.repeated("trigger", context.root.trigger_defs)
    for retry, owner in context.each(model.Retry):
        if retry.next_state is None:
            message = f"{owner} has no nextState: once it is used up, the error or the result is not changed"
            hint = "write the nextState that follows when the last retry has failed"
            yield context.warning("transition-or-end", message, retry.where.position, hint)


def targets(state: model.State) -> Iterator[tuple[str, str, Position]]:
    """Yield the targets of *state*: the key, the name and the position of each."""
    for node in _leading(state):
        if node.next_state is not None:
            yield "nextState", node.next_state, node.where.value("nextState")
    if isinstance(state, model.SwitchState) and state.default is not None:
        yield "default", state.default, state.where.value("default")


_Leading: TypeAlias = model.State | model.ErrorHandler | model.Choice | model.EventDefinition | model.Retry


def _leading(state: model.State) -> Iterator[_Leading]:
    """Yield the nodes of *state* that may have a nextState."""
    if not state.end:
        yield state
    yield from state.on_error
    match state:
        case model.SwitchState():
            yield from state.choices
        case model.EventState():
            for entry in state.events:
                if not state.end:
                    yield entry
                yield from (retry for action in entry.actions for retry in action.retry)
        case model.OperationState():
            yield from (retry for action in state.actions for retry in action.retry)
        case _:
            pass


def _names(context: Context, scope: StateScope) -> Iterator[Problem]:
    within = "" if scope.node is context.root else f" in {scope.owner}"
    yield from context.repeated("state", scope.states, within)
    yield from context.repeated_ids("state", scope.states, within)


def _targets(context: Context, scope: StateScope) -> Iterator[Problem]:
    known = scope.names
    elsewhere = {state.name for other in context.scopes() for state in other.states}
    starts_at = scope.node.starts_at
    if starts_at not in known:
        message = f"{scope.owner}: startsAt names {starts_at!r}, which is not a state here"
        position = scope.node.where.value("startsAt")
        yield context.error("transition-target", message, position, meant_or_known(starts_at, known))
    for state in scope.states:
        for key, target, position in targets(state):
            if target in known:
                continue
            message = f"state {state.name!r}: {key} names {target!r}, which is not a state here"
            hint = meant_or_known(target, known)
            if target in elsewhere:
                message = f"state {state.name!r}: {key} names {target!r}, which is in another scope"
                hint = f"a transition stays within its branch, or outside of all branches; this is {scope.owner}"
            yield context.error("transition-target", message, position, hint)


def _ends(context: Context, scope: StateScope) -> Iterator[Problem]:
    prefix = "" if scope.node is context.root else f" of {scope.owner}"
    ends = False
    for state in scope.states:
        owner = f"state {state.name!r}{prefix}"
        if isinstance(state, model.SwitchState):
            yield from _of_switch(context, state, owner)
            continue
        if state.end:
            ends = True
            yield from _never_taken(context, state, owner)
            continue
        ways = [one.next_state for one in state.events] if isinstance(state, model.EventState) else [state.next_state]
        ends = ends or None in ways
        if None in ways and state.next_state is None:
            yield _nowhere(context, state, owner)
    if not ends:
        message = f"{scope.owner} has no end: no path through its states ends"
        yield context.error("transition-or-end", message, scope.node.where.key("states"), "write 'end: true' in one")


def _never_taken(context: Context, end: model.State, owner: str) -> Iterator[Problem]:
    # The draft's schemas require a nextState for every state and every event, even for ends.
    for one in (end, *(end.events if isinstance(end, model.EventState) else ())):
        if one.next_state is not None:
            message = f"{owner} is an end: the path ends here, and its nextState is never taken"
            hint = "remove nextState, or 'end: true' if the path continues"
            yield context.warning("transition-or-end", message, one.where.key("nextState"), hint)


def _nowhere(context: Context, state: model.State, owner: str) -> Problem:
    message = f"{owner} has neither a nextState nor 'end: true': the path ends here"
    return context.warning("transition-or-end", message, state.where.position, "write 'end: true'")


def _of_switch(context: Context, state: model.SwitchState, owner: str) -> Iterator[Problem]:
    for key, is_given in (("nextState", state.next_state is not None), ("end", state.end)):
        if is_given:
            message = f"{owner}: its choices say where it leads, and this {key} is never taken"
            hint = "remove it, and say in default where the switch leads if no choice matches"
            yield context.warning("transition-or-end", message, state.where.key(key), hint)


def _unreachable(context: Context, scope: StateScope) -> Iterator[Problem]:
    known = scope.names
    entered: set[str] = set()
    waiting = [scope.node.starts_at] if scope.node.starts_at in known else []
    while waiting:
        state = known[waiting.pop()]
        if state.name not in entered:
            entered.add(state.name)
            waiting += [target for _, target, _ in targets(state) if target in known]
    for state in scope.states if entered else ():
        if state.name not in entered:
            yield context.warning(
                "unreachable-state", f"state {state.name!r} is never entered", state.where.value("name"), NEVER_ENTERED
            )


_DURATIONS: Final[Mapping[type[Node], tuple[str, str]]] = {
    model.EventDefinition: ("timeout", "timeout"),
    model.Action: ("timeout", "timeout"),
    model.DelayState: ("timeDelay", "time_delay"),
    model.Loop: ("timeDelay", "time_delay"),
    model.Retry: ("retryInterval", "retry_interval"),
}
_PATHS: Final[tuple[tuple[type[Node], str, str], ...]] = (
    (model.Filter, "inputPath", "input_path"),
    (model.Filter, "outputPath", "output_path"),
    (model.Trigger, "correlationToken", "correlation_token"),
    (model.Rule, "path", "path"),
    (model.Loop, "inputCollection", "input_collection"),
)
_PLACES: Final[tuple[tuple[type[Node], str, str], ...]] = (
    (model.Filter, "resultPath", "result_path"),
    (model.Loop, "outputCollection", "output_collection"),
)


def check_texts(context: Context) -> Iterator[Problem]:
    """Yield a problem for each duration, path or expression that cannot be read."""
    for kind, (key, attribute) in _DURATIONS.items():
        for node, owner in context.each(kind):
            written = getattr(node, attribute)
            if written is not None:
                text, _ = repetition_of(written) if kind is model.Retry else (written, 0)
                yield from _duration(context, node, f"{owner}: {key} {written!r}", key, text or "")
    for kind, key, attribute in _PATHS:
        for node, owner in context.each(kind):
            yield from _path(context, node, owner, key, getattr(node, attribute))
    for kind, key, attribute in _PLACES:
        for node, owner in context.each(kind):
            yield from _place(context, node, owner, key, getattr(node, attribute))
    for condition, owner in context.each(model.Condition):
        yield from _condition(context, condition, owner)
    for function, owner in context.each(model.Function):
        yield from _parameters(context, function, owner, function.parameters, ())


def _duration(context: Context, node: Node, subject: str, key: str, text: str) -> Iterator[Problem]:
    try:
        is_negative = parse_duration(text).total_seconds() < 0
    except ValueError as error:
        hint = "such as PT15M, or R5/PT15M" if isinstance(node, model.Retry) else "such as PT15M or P1DT12H"
        yield context.error("duration", f"{subject} {what_is_wrong(error)}", node.where.value(key), hint)
    else:
        if is_negative:
            hint = "write it without the minus sign"
            yield context.error("duration", f"{subject} is negative", node.where.value(key), hint)


def _path(context: Context, node: Node, owner: str, key: str, text: str | None) -> Iterator[Problem]:
    if text is not None:
        yield from _unreadable(context, lambda: EarlyPath(text), node, owner, key, text)


def _place(context: Context, node: Node, owner: str, key: str, text: str | None) -> Iterator[Problem]:
    if text is None:
        return
    problems = list(_unreadable(context, lambda: EarlyPath(text), node, owner, key, text))
    yield from problems
    if not problems and EarlyPath(text).steps is None:
        message = f"{owner}: {key} {text!r} is not the path of a single field, such as '$.result'"
        hint = "write the path of one field, without wildcards and filters"
        yield context.error("expression-syntax", message, node.where.value(key), hint)


def _condition(context: Context, condition: model.Condition, owner: str) -> Iterator[Problem]:
    language = condition.expression_language
    if language is not None and language.lower() != LANGUAGE:
        message = f"{owner}: the condition is in {language!r}, but conditions must be in {LANGUAGE}"
        hint = f"write the condition in {LANGUAGE}, as in '$.age gt 18', and leave expressionLanguage out"
        yield context.error("expression-lang", message, condition.where.value("expressionLanguage"), hint)
    else:
        yield from _unreadable(context, lambda: SpelCondition(condition.body), condition, owner, "body", condition.body)


def _unreadable(
    context: Context, compile_it: Callable[[], object], node: Node, owner: str, key: str, text: str
) -> Iterator[Problem]:
    try:
        compile_it()
    except BadExpression as bad:
        position = context.within(text, node.where.value(key), bad.offset)
        hint = hint_for_condition(text) if key == "body" else hint_for_path(text)
        yield context.error("expression-syntax", f"{owner}: {key}: {bad.message}", position, hint)


def _parameters(
    context: Context, function: model.Function, owner: str, value: object, path: tuple[str | int, ...]
) -> Iterator[Problem]:
    if isinstance(value, str):
        try:
            early_text(value)
        except BadExpression as bad:
            where = function.where.at("parameters", *path)
            message = f"{owner}: a parameter of the function {function.name!r}: {bad.message}"
            yield context.error("expression-syntax", message, where, hint_for_path(value))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _parameters(context, function, owner, item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _parameters(context, function, owner, item, (*path, index))


def problems_of(definition: model.Definition) -> list[Problem]:
    """Return all problems of *definition* by the rules."""
    context = Context(definition)
    checks = (check_properties, check_flow, check_triggers, check_functions, check_choices, check_texts)
    return [problem for check in checks for problem in check(context)]
