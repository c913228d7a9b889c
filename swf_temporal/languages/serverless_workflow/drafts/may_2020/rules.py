"""The rules of the draft of May 2020, in the words of the draft."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from swf_temporal.base.durations import parse_duration, what_is_wrong
from swf_temporal.base.errors import Position, Problem
from swf_temporal.base.function_types import TYPES, operation_type
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.early import LANGUAGE, SpelCondition
from swf_temporal.expressions.early_paths import EarlyPath, early_text, is_path
from swf_temporal.expressions.patterns import BadPattern, compiled
from swf_temporal.languages.expression_hints import hint_for_condition, hint_for_path
from swf_temporal.languages.serverless_workflow.drafts.lowering import repetition_of
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.drafts.may_2020.lowering import CUSTOM_CONDITION, called
from swf_temporal.languages.serverless_workflow.drafts.may_2020.model import TaskScope, scopes, start_of, ways_of
from swf_temporal.languages.serverless_workflow.drafts.may_2020.spellings import OF_PARENT
from swf_temporal.languages.serverless_workflow.drafts.rules import DraftContext
from swf_temporal.languages.serverless_workflow.execution.active_window import BadWindow, window_of
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import parts
from swf_temporal.languages.serverless_workflow.validation.rules.durations import duration_meant
from swf_temporal.text.suggestions import NEVER_ENTERED, did_you_mean, meant_or_known, nearest

_CALLED: Final[tuple[tuple[type[Node], str], ...]] = (
    (model.TaskBase, "task"),
    (model.Action, "action"),
    (model.Branch, "branch"),
    (model.Function, "function"),
    (model.Event, "event"),
)
_NUMBERED: Final[dict[type[Node], str]] = {
    model.Error: "onError entry",
    model.Retry: "retry",
    model.DataCondition: "condition",
    model.EventCondition: "condition",
    model.EventActions: "eventsActions entry",
}


class Context(DraftContext):
    """One definition under validation."""

    def __init__(self, root: model.DraftWorkflow) -> None:
        self.root = root
        self._words = OF_PARENT if root.has_states else {}
        super().__init__(root, root.source)

    def wording(self, word: str) -> str:
        """Return *word*, a key or a noun of the draft, or its predecessor's word if this definition uses those."""
        return self._words.get(word, word)

    def scopes(self) -> Iterator[TaskScope]:
        """Yield the scopes, outer ones first."""
        return scopes(self.root, self.wording("task"))

    def undefined(self, kind: str, name: str, position: Position, owner: str) -> Iterator[Problem]:
        """Yield a problem if *owner* refers at *position* to a function or event that is not defined."""
        defined = [one.name for one in (self.root.functions if kind == "function" else self.root.events)]
        if name not in defined:
            message = f"{owner} refers to the {kind} {name!r}, which is not defined"
            yield self.error(
                f"{kind}-undefined", message, position, meant_or_known(name, defined, f"define it under {kind}s")
            )

    def called(self, node: Node, number: int) -> str:
        """Return the words for *node*: its name, or its number."""
        if type(node) in _NUMBERED:
            return f"{_NUMBERED[type(node)]} {number}"
        word = next((word for kind, word in _CALLED if isinstance(node, kind)), None)
        name = getattr(node, "name", None)
        return "" if word is None or not name else f"{self.wording(word)} {name!r}"


def check_flow(context: Context) -> Iterator[Problem]:
    """Yield problems of the control flow in a workflow, its branches and its iterations."""
    for scope in context.scopes():
        if not scope.tasks:
            message = f"{scope.owner}: {context.wording('tasks')} is empty"
            hint = f"write at least one {context.wording('task')}, such as '- {{name: ..., type: inject, data: {{}}}}'"
            yield context.error("empty-list", message, scope.node.where.value("tasks"), hint)
            continue
        yield from _names(context, scope)
        yield from _start(context, scope)
        yield from _ends(context, scope)
        yield from _targets(context, scope)
        yield from _unreachable(context, scope)
    for parallel, owner in context.each(model.ParallelTask):
        yield from context.repeated("branch", parallel.branches, f" in {owner}")
    yield from context.repeated("function", context.root.functions)
    yield from context.repeated("event", context.root.events)


def _names(context: Context, scope: TaskScope) -> Iterator[Problem]:
    within = "" if scope.node is context.root else f" in {scope.owner}"
    yield from context.repeated(context.wording("task"), scope.tasks, within)
    yield from context.repeated_ids(context.wording("task"), scope.tasks, within)


def _start(context: Context, scope: TaskScope) -> Iterator[Problem]:
    root, word = context.root, context.wording("task")
    named = root.starts_at if scope.node is root else None
    known = {name for task in scope.tasks for name in (task.name, task.id) if name is not None}
    if named is not None and named not in known:
        message = f"startsAt names {named!r}, which is not a {word} here"
        yield context.error("transition-target", message, root.where.value("startsAt"), meant_or_known(named, known))
    starts = [task for task in scope.tasks if task.start is not None]
    chosen = start_of(scope.tasks, named)
    if not starts and named is None:
        message = f"{scope.owner} has no start {word}: it begins with {chosen.name!r}, the first"
        yield context.warning("start", message, chosen.where.position, "write 'start: {kind: default}' in one")
    for other in starts:
        if other is not chosen:
            message = f"{scope.owner} begins with {chosen.name!r}: the start of {other.name!r} has no effect"
            yield context.warning("start", message, other.where.key("start"), "remove its start")


def _ends(context: Context, scope: TaskScope) -> Iterator[Problem]:
    word = context.wording("task")
    prefix = "" if scope.node is context.root else f" of {scope.owner}"
    for task in scope.tasks:
        owner = f"{word} {task.name!r}{prefix}"
        if isinstance(task, model.SwitchTask):
            for key, value in (("transition", task.transition), ("end", task.end)):
                if value is not None:
                    message = f"{owner} is a switch: its conditions say where it leads, and this {key} is never taken"
                    hint = "remove it, and say in default where the switch leads if no condition is met"
                    yield context.warning("transition-or-end", message, task.where.key(key), hint)
        elif task.transition is not None and task.end is not None:
            message = f"{owner} has a transition and an end: it can have only one of them"
            hint = f"remove the end if another {word} follows, and the transition if none does"
            yield context.error("transition-or-end", message, task.where.key("end"), hint)
        elif task.transition is None and task.end is None:
            message = f"{owner} has neither a transition nor an end: the path ends here"
            yield context.warning("transition-or-end", message, task.where.position, "write 'end: {kind: default}'")
    if all(task.end is None and (task.transition or isinstance(task, model.SwitchTask)) for task in scope.tasks):
        message = f"{scope.owner} has no end {word}: no path through it ends"
        hint = f"write 'end: {{kind: default}}' in the {word} that is the last, in place of its transition"
        yield context.error("transition-or-end", message, scope.node.where.key("tasks"), hint)


def _targets(context: Context, scope: TaskScope) -> Iterator[Problem]:
    word, key = context.wording("task"), context.wording("nextTask")
    known = {name for task in scope.tasks for name in (task.name, task.id) if name is not None}
    elsewhere = {task.name for other in context.scopes() for task in other.tasks}
    for task in scope.tasks:
        for way in ways_of(task):
            if way.next_task in known:
                continue
            message = f"{word} {task.name!r} leads to {way.next_task!r}, which is not a {word} here"
            hint = meant_or_known(way.next_task, known)
            if way.next_task in elsewhere:
                message = f"{word} {task.name!r} leads to {way.next_task!r}, which is in another scope"
                hint = f"{key} names a {word} of the same {_holder(scope)}"
            yield context.error("transition-target", message, way.where.value("nextTask"), hint)


def _holder(scope: TaskScope) -> str:
    if isinstance(scope.node, model.Branch):
        return "branch"
    return "foreach" if isinstance(scope.node, model.ForeachTask) else "workflow, outside of branches and foreach"


def _unreachable(context: Context, scope: TaskScope) -> Iterator[Problem]:
    by_name = {task.id: task for task in scope.tasks if task.id is not None}
    by_name |= {task.name: task for task in scope.tasks}
    start = start_of(scope.tasks, context.root.starts_at if scope.node is context.root else None)
    entered: set[int] = set()
    waiting = [start]
    while waiting:
        task = waiting.pop()
        if id(task) not in entered:
            entered.add(id(task))
            waiting += [by_name[way.next_task] for way in ways_of(task) if way.next_task in by_name]
    for task in scope.tasks:
        if id(task) not in entered:
            message = f"{context.wording('task')} {task.name!r} is never entered"
            yield context.warning("unreachable-state", message, task.where.value("name"), NEVER_ENTERED)


_NOT_FOR_AUTHORS: Final[Mapping[type[Node], tuple[str, ...]]] = {
    model.DraftWorkflow: ("source",),
    model.InjectTask: ("onError",),
}
"""Fields of the model that authors cannot set, or not in these tasks."""


def check_properties(context: Context) -> Iterator[Problem]:
    """Yield a warning for each property without effect; specVersion is checked in its detection."""
    for node, owner in context.each(Node):
        known = parts(type(node)).keys() - set(_NOT_FOR_AUTHORS.get(type(node), ()))
        checked = {"specVersion"} if node is context.root else set()
        for key in sorted(node.where.keys.keys() - known - checked):
            kind = getattr(node, "type", None) if isinstance(node, model.TaskBase) else None
            of = "that is known here" if kind is None else f"of a {context.wording('task')} of the type {kind}"
            meant = nearest(key, known, 0.7)
            hint = (
                f"did you mean {context.wording(meant)!r}?"
                if meant
                else meant_or_known("", map(context.wording, known))
            )
            message = f"{owner}: {context.wording(key)!r} is not a property {of}"
            yield context.warning("unknown-property", message, node.where.key(key), hint)


def check_references(context: Context) -> Iterator[Problem]:
    """Yield a problem for each function or event that is not defined, or incompletely."""
    for ref, owner in context.each(model.FunctionRef):
        yield from context.undefined("function", ref.ref_name, ref.where.value("refName"), owner)
    for entry, owner in context.each(model.EventActions):
        if not entry.event_refs:
            hint = "name the events that it waits for, by their names under events"
            yield context.error("empty-list", f"{owner}: eventRefs is empty", entry.where.value("eventRefs"), hint)
        for number, name in enumerate(entry.event_refs):
            yield from context.undefined("event", name, entry.where.at("eventRefs", number), owner)
    for node, owner in _referring(context):
        yield from context.undefined("event", node.event_ref, node.where.value("eventRef"), owner)
    yield from _functions(context)
    yield from _events(context)


def _referring(
    context: Context,
) -> Iterator[tuple[model.EventCondition | model.CallbackTask | model.ProduceEvent, str]]:
    yield from context.each(model.EventCondition)
    yield from context.each(model.CallbackTask)
    yield from context.each(model.ProduceEvent)


def _functions(context: Context) -> Iterator[Problem]:
    for function, owner in context.each(model.Function):
        lowered = called(function)
        kind = operation_type(lowered.type)
        if function.resource is None:
            if kind is not None and kind.needs_operation:
                message = f"{owner} of the type {function.type} has no resource"
                hint = f"write what it calls, as in 'resource: {kind.example}'"
                yield context.error("function-operation", message, function.where.position, hint)
            else:
                message = f"{owner} has no resource: it is called if its name is registered"
                hint = f"register a function called {function.name!r} with the worker, or write its resource"
                yield context.warning("function-operation", message, function.where.position, hint)
        elif kind is not None:
            for wrong in kind.problems(lowered):
                place = ("resource", *wrong.path[1:]) if wrong.path[0] == "operation" else wrong.path
                yield context.root.source.problem(
                    wrong.code, f"{owner}: {wrong.message}", function.where.at(*place), wrong.hint, wrong.severity
                )
        meant = None if kind is not None or function.type is None else nearest(function.type, TYPES, 0.8)
        if meant is not None:
            message = f"{owner}: {function.type!r} is treated as a custom type"
            yield context.warning("function-type", message, function.where.value("type"), f"did you mean {meant!r}?")


def _events(context: Context) -> Iterator[Problem]:
    for event, owner in context.each(model.Event):
        if event.correlation_token is not None and not event.correlation_token.strip():
            message = f"{owner} has an empty correlationToken: no event has such an attribute"
            hint = "name an attribute of the CloudEvent, or leave it out"
            yield context.error("event-definition", message, event.where.value("correlationToken"), hint)
        if event.source is None:
            message = f"{owner} has no source: events of its type from any source match"
            hint = "write the source of its CloudEvents, if events from other sources do not count"
            yield context.warning("event-definition", message, event.where.position, hint)


def check_tasks(context: Context) -> Iterator[Problem]:
    """Yield a problem for each task with missing, conflicting or impossible properties."""
    for switch, owner in context.each(model.SwitchTask):
        yield from _switch(context, switch, owner)
    for parallel, owner in context.each(model.ParallelTask):
        yield from _parallel(context, parallel, owner)
    yield from _counts(context)
    yield from _waiting(context)
    yield from _starts_and_ends(context)
    for inject, owner in context.each(model.InjectTask):
        if inject.data is not None and not isinstance(inject.data, dict):
            message = f"{owner}: data must be an object"
            hint = "its fields are added to the data: write 'data: {key: value}'"
            yield context.error("type", message, inject.where.value("data"), hint)


def _counts(context: Context) -> Iterator[Problem]:
    for foreach, owner in context.each(model.ForeachTask):
        if foreach.max < 0:
            message = f"{owner}: max {foreach.max} is not a number of iterations"
            hint = "write how many may run concurrently, or 0 for all"
            yield context.error("batch-size", message, foreach.where.value("max"), hint)
    for retry, owner in context.each(model.Retry):
        if retry.max_attempts is not None and retry.max_attempts < 0:
            message = f"{owner}: maxAttempts {retry.max_attempts} is not a number of attempts"
            hint = "write how often it is retried, or 0 for never"
            yield context.error("retry", message, retry.where.value("maxAttempts"), hint)


def _waiting(context: Context) -> Iterator[Problem]:
    for task, owner in context.each(model.EventTask):
        if not task.events_actions:
            message = f"{owner}: eventsActions is empty"
            hint = "write at least one entry, with eventRefs that name what it waits for, and actions"
            yield context.error("empty-list", message, task.where.value("eventsActions"), hint)
    for callback, owner in context.each(model.CallbackTask):
        if callback.timeout is None:
            message = f"{owner} has no timeout: it waits for {callback.event_ref!r} without a limit"
            hint = "write how long it waits after its action, as in 'timeout: PT1H'"
            yield context.warning("missing", message, callback.where.position, hint)


def _switch(context: Context, switch: model.SwitchTask, owner: str) -> Iterator[Problem]:
    by_data, by_event = bool(switch.data_conditions), bool(switch.event_conditions)
    if by_data and by_event:
        message = f"{owner} has dataConditions and eventConditions: it can have only one of them"
        hint = f"write a second switch, and lead from one {context.wording('task')} to the other"
        yield context.error("switch-conditions", message, switch.where.key("eventConditions"), hint)
    elif not (by_data or by_event):
        message = f"{owner} is a switch without dataConditions and eventConditions"
        hint = "write dataConditions to choose by the data, or eventConditions to choose by the event that arrives"
        yield context.error("switch-conditions", message, switch.where.position, hint)
    if switch.default is None:
        message = f"{owner} is a switch without a default: if no condition is met, the run fails"
        if by_event:
            message = f"{owner} is a switch without a default: it waits for an event, or fails when it times out"
        when = "when no event has come in time" if by_event else "otherwise"
        hint = f"write where it leads {when}, as in 'default: {{{context.wording('nextTask')}: ...}}'"
        yield context.warning("switch-conditions", message, switch.where.position, hint)
    if by_event and switch.event_timeout is None:
        message = f"{owner} waits for events and has no eventTimeout: it waits without a limit"
        hint = "write how long it waits, as in 'eventTimeout: PT1H'"
        yield context.warning("switch-conditions", message, switch.where.position, hint)
    elif switch.event_timeout is not None and not by_event:
        message = f"{owner} waits for no events: its eventTimeout has no effect"
        hint = "remove it, or write eventConditions with the events that it waits for"
        yield context.warning("switch-conditions", message, switch.where.key("eventTimeout"), hint)


def _parallel(context: Context, parallel: model.ParallelTask, owner: str) -> Iterator[Problem]:
    if not parallel.branches:
        hint = f"write at least one branch, with a name and {context.wording('tasks')}"
        yield context.error("empty-list", f"{owner}: branches is empty", parallel.where.value("branches"), hint)
    elif parallel.completion_type != "n_of_m":
        if "n" in parallel.where.keys:
            message = f"{owner}: n has no effect with the completionType {parallel.completion_type}"
            hint = f"write 'completionType: n_of_m' if {parallel.n} branches are enough, or remove n"
            yield context.warning("num-completed", message, parallel.where.key("n"), hint)
    elif "n" not in parallel.where.keys:
        message = f"{owner} completes with n of its branches, but has no n"
        hint = f"write how many of its {len(parallel.branches)} branches are enough, as in 'n: 1'"
        yield context.error("num-completed", message, parallel.where.value("completionType"), hint)
    elif not 0 < parallel.n <= len(parallel.branches):
        message = f"{owner} waits for {parallel.n} branches, but has {len(parallel.branches)}"
        hint = f"write a number from 1 to {len(parallel.branches)}, or 'completionType: and' to wait for all"
        yield context.error("num-completed", message, parallel.where.value("n"), hint)


def _starts_and_ends(context: Context) -> Iterator[Problem]:
    for start, owner in context.each(model.Start):
        if start.kind == "scheduled" and start.schedule is None:
            message = f"{owner}: its start is scheduled, and has no schedule"
            hint = "write when it may start, as in 'schedule: {interval: 2020-05-01T08:00:00Z/2020-05-31T20:00:00Z}'"
            yield context.error("schedule", message, start.where.position, hint)
        elif start.kind == "default" and start.schedule is not None:
            message = f"{owner}: its start is of the kind default, which is always active: its schedule has no effect"
            yield context.warning("schedule", message, start.where.key("schedule"), "write 'kind: scheduled'")
    for end, owner in context.each(model.End):
        if end.kind == "event" and end.produce_event is None:
            message = f"{owner}: its end is of the kind event, and has no produceEvent"
            hint = "write 'produceEvent: {eventRef: ...}' with an event that is defined, or 'kind: default'"
            yield context.error("missing", message, end.where.position, hint)
        elif end.kind != "event" and end.produce_event is not None:
            message = f"{owner}: its end is of the kind {end.kind}, which produces nothing: produceEvent has no effect"
            yield context.warning("unknown-property", message, end.where.key("produceEvent"), "write 'kind: event'")


_IN_SPEL: Final = f"write the expressions in {LANGUAGE}, as in '$.age gt 18', and leave the language out"
_DURATIONS: Final[Mapping[type[Node], tuple[tuple[str, str], ...]]] = {
    model.EventTask: (("timeout", "timeout"),),
    model.CallbackTask: (("timeout", "timeout"),),
    model.SwitchTask: (("eventTimeout", "event_timeout"),),
    model.DelayTask: (("timeDelay", "time_delay"),),
    model.ForeachTask: (("timeDelay", "time_delay"),),
    model.Action: (("timeout", "timeout"),),
    model.Retry: (("multiplier", "multiplier"),),
}
_PATHS: Final[Mapping[type[Node], tuple[tuple[str, str], ...]]] = {
    model.TaskDataFilter: (("dataInputPath", "data_input_path"), ("dataOutputPath", "data_output_path")),
    model.ActionDataFilter: (("dataInputPath", "data_input_path"),),
    model.EventDataFilter: (("dataOutputPath", "data_output_path"),),
    model.ErrorDataFilter: (("dataOutputPath", "data_output_path"),),
    model.ForeachTask: (("inputCollection", "input_collection"),),
    model.DataCondition: (("path", "path"),),
}
_PLACES: Final = (("inputParameter", "input_parameter"), ("outputCollection", "output_collection"))


def check_texts(context: Context) -> Iterator[Problem]:
    """Yield a problem for each duration, path or expression that cannot be read."""
    for kind, keys in _DURATIONS.items():
        for node, owner in context.each(kind):
            for key, attribute in keys:
                yield from _duration(context, node, owner, key, getattr(node, attribute))
    for kind, keys in _PATHS.items():
        for node, owner in context.each(kind):
            for key, attribute in keys:
                yield from _path(context, node, owner, key, getattr(node, attribute))
    yield from _places(context)
    yield from _results(context)
    yield from _parameters(context)
    yield from _expressions(context)
    yield from _conditions(context)
    for retry, owner in context.each(model.Retry):
        yield from _duration(context, retry, owner, "interval", repetition_of(retry.interval)[0])
    for schedule, owner in context.each(model.Schedule):
        try:
            window_of(schedule.interval)
        except BadWindow as bad:
            message = f"{owner}: the interval {schedule.interval!r} {bad}"
            yield context.error("schedule", message, schedule.where.value("interval"), bad.hint)


def _duration(context: Context, node: Node, owner: str, key: str, text: str | None) -> Iterator[Problem]:
    if text is None:
        return
    position, subject = node.where.value(key), f"{owner}: {key} {text!r}"
    try:
        is_negative = parse_duration(text).total_seconds() < 0
    except ValueError as error:
        hint = duration_meant(text) or "such as PT15M or P1DT12H"
        yield context.error("duration", f"{subject} {what_is_wrong(error)}", position, hint)
    else:
        if is_negative:
            yield context.error("duration", f"{subject} is negative", position, "write it without the minus sign")


def _path(context: Context, node: Node, owner: str, key: str, text: str | None) -> Iterator[Problem]:
    if text is not None:
        yield from _compiles(context, lambda: EarlyPath(text), owner, key, text, node.where.value(key))


def _places(context: Context) -> Iterator[Problem]:
    for node, owner in context.each(model.ForeachTask):
        for key, attribute in _PLACES:
            text = getattr(node, attribute)
            try:
                steps = None if text is None else EarlyPath(text).steps
            except BadExpression as bad:
                yield _bad(context, bad, owner, key, text, node.where.value(key))
                continue
            if text is not None and not steps:
                message = f"{owner}: {key} {text!r} is not the path of a field, such as '$.result'"
                hint = "write the path of one field, without wildcards and filters"
                yield context.error("expression-syntax", message, node.where.value(key), hint)


def _results(context: Context) -> Iterator[Problem]:
    """Check the filters of results; a text that is not a path, as in an official example, is only a warning."""
    for node, owner in context.each(model.ActionDataFilter):
        text = node.data_results_path
        if text is not None and is_path(text):
            yield from _path(context, node, owner, "dataResultsPath", text)
        elif text is not None:
            message = f"{owner}: dataResultsPath {text!r} is not a path: the result is merged as it is"
            hint = hint_for_path(text)
            yield context.warning("expression-syntax", message, node.where.value("dataResultsPath"), hint)


def _parameters(context: Context) -> Iterator[Problem]:
    for ref, owner in context.each(model.FunctionRef):
        yield from _texts_in(context, ref.parameters, ref, owner, ("parameters",))
    for event, owner in context.each(model.ProduceEvent):
        if isinstance(event.data, str):
            yield from _path(context, event, owner, "data", event.data)
        else:
            yield from _texts_in(context, event.data, event, owner, ("data",))


def _texts_in(
    context: Context, value: object, node: Node, owner: str, path: tuple[str | int, ...]
) -> Iterator[Problem]:
    if isinstance(value, str):
        where = node.where.at(str(path[0]), *path[1:])
        yield from _compiles(context, lambda: early_text(value), owner, str(path[0]), value, where)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts_in(context, item, node, owner, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts_in(context, item, node, owner, (*path, index))


def _expressions(context: Context) -> Iterator[Problem]:
    root = context.root
    declared = root.expression_language
    if declared is not None and declared.lower() != LANGUAGE:
        yield _foreign(context, declared, "the workflow: expressionLanguage", root.where.value("expressionLanguage"))
    for node, owner in context.each(model.Expression):
        own = node.language
        if own is not None and own.lower() != LANGUAGE:
            yield _foreign(context, own, f"{owner}: language", node.where.value("language"))
        elif own is not None or declared is None or declared.lower() == LANGUAGE:
            where = node.where.value("body")
            yield from _compiles(context, partial(SpelCondition, node.body), owner, "body", node.body, where)


def _foreign(context: Context, language: str, subject: str, position: Position) -> Problem:
    message = f"{subject} is {language!r}, but expressions are written in {LANGUAGE} here"
    return context.error("expression-lang", message, position, did_you_mean(language, [LANGUAGE]) or _IN_SPEL)


def _conditions(context: Context) -> Iterator[Problem]:
    for node, owner in context.each(model.DataCondition):
        if node.operator == "custom":
            yield from _custom(context, node, owner)
        elif node.operator in ("matches", "notmatches"):
            try:
                compiled(str(node.value))
            except BadPattern as bad:
                message = f"{owner}: the value {node.value!r} is not a regular expression: {bad}"
                hint = "write one that matches the whole value, or use equals to compare it as it is"
                yield context.error("condition", message, node.where.value("value"), hint)
        elif node.value is None and node.operator not in ("exists", "notexists", "null", "notnull"):
            message = f"{owner} has no value for {node.operator} to compare with"
            hint = f"write a value, or use exists to ask whether there is something at {node.path}"
            yield context.error("missing", message, node.where.position, hint)


def _custom(context: Context, node: model.DataCondition, owner: str) -> Iterator[Problem]:
    text = node.metadata.get(CUSTOM_CONDITION)
    if isinstance(text, str):
        where = node.where.at("metadata", CUSTOM_CONDITION)
        yield from _compiles(context, lambda: SpelCondition(text), owner, f"metadata.{CUSTOM_CONDITION}", text, where)
        return
    message = f"{owner} has the operator custom, and its metadata has no {CUSTOM_CONDITION} to decide by"
    hint = f"write 'metadata: {{{CUSTOM_CONDITION}: ...}}' with a condition in {LANGUAGE}"
    yield context.error("condition", message, node.where.value("operator"), hint)


def _compiles(
    context: Context, compile_it: Callable[[], object], owner: str, key: str, text: str, position: Position
) -> Iterator[Problem]:
    try:
        compile_it()
    except BadExpression as bad:
        yield _bad(context, bad, owner, key, text, position)


def _bad(context: Context, bad: BadExpression, owner: str, key: str, text: str, position: Position) -> Problem:
    message = f"{owner}: the expression in {key} does not compile: {bad.message}"
    hint = hint_for_condition(text) if key == "body" else hint_for_path(text)
    return context.error("expression-syntax", message, context.within(text, position, bad.offset), hint)


def problems_of(draft: model.DraftWorkflow) -> list[Problem]:
    """Return all problems of *draft* by the rules."""
    context = Context(draft)
    checks = (check_properties, check_flow, check_references, check_tasks, check_texts)
    return [problem for check in checks for problem in check(context)]
