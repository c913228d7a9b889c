"""Paths are JSONPaths, and times are durations (sections "Filter Definition" and "Retry Definition")."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from swf_temporal.base.durations import parse_duration, what_is_wrong
from swf_temporal.base.errors import Problem
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.early_paths import EarlyPath, early_text
from swf_temporal.expressions.spel import LANGUAGE, SpelCondition
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.rules.context import Context
from swf_temporal.languages.serverless_workflow.drafts.repetitions import repetition_of
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.validation.expression_hints import hint_for_condition, hint_for_path

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


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each text that cannot be read as what it stands for."""
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
        message = f"{owner}: {key} {text!r} names no single place in the data, as '$.result' would"
        hint = "write the path of one field, without wildcards and filters"
        yield context.error("expression-syntax", message, node.where.value(key), hint)


def _condition(context: Context, condition: model.Condition, owner: str) -> Iterator[Problem]:
    language = condition.expression_language
    if language is not None and language.lower() != LANGUAGE:
        message = f"{owner}: the condition is in {language!r}, but conditions are read in {LANGUAGE} alone"
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
