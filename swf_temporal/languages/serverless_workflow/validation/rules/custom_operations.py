"""Custom operations that begin with a word we know go on as it demands (section "Defining custom function types")."""

from collections.abc import Iterator, Mapping

from swf_temporal.errors import Problem
from swf_temporal.languages.serverless_workflow.execution.functions import function_of
from swf_temporal.languages.serverless_workflow.model.definitions import Function
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.runtime.external_activities import OPTIONS, BadTerms, parse_activity
from swf_temporal.text.suggestions import did_you_mean, nearest

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "WARNING", "ERROR")
_OURS = "service:python:"
_FOREIGN: Mapping[str, str] = {
    "service:": "a service of Kogito's runtimes",
    "work-item:": "a work item of Kogito's runtimes",
    "knative:": "a service of Knative",
    "camel:": "a route of Camel",
    "java:": "a method in Java",
    "bean:": "a bean in Java",
}
"""What operations begin with that are written for other runtimes, and what they name there."""
_INSTEAD = (
    "call an activity of a worker in any language, 'temporal:ACTIVITY@QUEUE', or a service, 'rest:POST:URL', or "
    "register a Python function under this name"
)
_INSTEAD_OF_SCRIPT = (
    "write it in Python or in jq, or call an activity of a worker in its language, 'temporal:ACTIVITY@QUEUE'"
)


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
        yield context.error("custom-operation", message, position, _script_instead(rest))
    prefix = next((one for one in _FOREIGN if operation.startswith(one)), None)
    if prefix is not None and not operation.startswith(_OURS):
        message = f"{owner}: {operation!r} is {_FOREIGN[prefix]}, which nothing here runs"
        yield context.warning("foreign-operation", message, position, _INSTEAD)
    try:
        terms = parse_activity(function_of(function))
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


def _script_instead(rest: str) -> str | None:
    """Return what to do where a script is written in a language that another runtime knows."""
    language = rest.partition(":")[0].strip().lower()
    return _INSTEAD_OF_SCRIPT if language else None
