"""Durations, intervals, paths and expressions can be read (sections "Expression Definition", "Task Data Filter" …)."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from swf_temporal.base.durations import parse_duration, what_is_wrong
from swf_temporal.base.errors import Position, Problem
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.early_paths import EarlyPath, early_text, is_path
from swf_temporal.expressions.patterns import BadPattern, compiled
from swf_temporal.expressions.spel import LANGUAGE, SpelCondition
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.drafts.may_2020.lowering import CUSTOM_CONDITION
from swf_temporal.languages.serverless_workflow.drafts.may_2020.rules.context import Context
from swf_temporal.languages.serverless_workflow.drafts.repetitions import repetition_of
from swf_temporal.languages.serverless_workflow.execution.active_window import BadWindow, window_of
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.validation.expression_hints import hint_for_condition, hint_for_path
from swf_temporal.languages.serverless_workflow.validation.rules.durations import duration_meant
from swf_temporal.text.suggestions import did_you_mean

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


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each text that cannot be read as what it stands for."""
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
                message = f"{owner}: {key} {text!r} names no field of the data, as '$.result' would"
                hint = "write the path of one field, without wildcards and filters"
                yield context.error("expression-syntax", message, node.where.value(key), hint)


def _results(context: Context) -> Iterator[Problem]:
    """Look at the filters of results: an official example has a text there that is not a path."""
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
