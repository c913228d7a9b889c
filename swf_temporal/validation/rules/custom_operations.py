"""Custom operations that begin with a word we know go on as it demands (section "Defining custom function types")."""

from collections.abc import Iterator

from swf_temporal.dialects.words import did_you_mean, nearest
from swf_temporal.errors import Problem
from swf_temporal.model.definitions import Function
from swf_temporal.validation.context import Context
from swf_temporal.validation.engine_activities import OPTIONS, BadTerms, read_terms

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "WARNING", "ERROR")


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each level, language, activity or option that there is not."""
    for function, owner in context.nodes.each(Function):
        if function.type == "custom" and isinstance(function.operation, str):
            yield from _check(context, function, function.operation.strip(), owner)


def _check(context: Context, function: Function, operation: str, owner: str) -> Iterator[Problem]:
    word, _, rest = operation.partition(":")
    position = function.where.value("operation")
    if word == "sysout" and rest.strip() and rest.strip().upper() not in LEVELS:
        message = f"{owner}: {rest.strip()!r} is not one of the levels {', '.join(LEVELS)}"
        yield context.error("custom-operation", message, position, did_you_mean(rest.strip().upper(), LEVELS))
    if word == "script" and rest.partition(":")[0].strip().lower() != "python":
        message = f"{owner}: scripts are written in Python: the operation is script:python"
        yield context.error("custom-operation", message, position)
    try:
        terms = read_terms(function)
    except BadTerms as wrong:
        yield context.error("custom-operation", f"{owner}: {wrong}", function.where.at(*wrong.path))
        return
    for key in function.metadata if terms else ():
        meant = None if key in OPTIONS else nearest(key, OPTIONS, 0.8)
        if meant is not None:
            message = f"{owner}: its metadata {key!r} means nothing to an activity"
            yield context.warning(
                "custom-operation", message, function.where.at("metadata", key), did_you_mean(key, [meant])
            )
