"""Rule: activities of other workers have valid options (section "Defining custom function types")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.execution.parameters import function_of
from swf_temporal.languages.serverless_workflow.model.workflow import Function
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.runtime.external_activities import OPTIONS, InvalidActivityOptions, parse_activity
from swf_temporal.text.suggestions import did_you_mean, nearest


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each invalid activity or option."""
    for function, owner in context.nodes.each(Function):
        yield from _check(context, function, owner)


def _check(context: Context, function: Function, owner: str) -> Iterator[Problem]:
    try:
        options = parse_activity(function_of(function))
    except InvalidActivityOptions as wrong:
        yield context.error("custom-operation", f"{owner}: {wrong}", function.where.at(*wrong.path))
        return
    for key in function.metadata if options else ():
        meant = None if key in OPTIONS else nearest(key, OPTIONS, 0.8)
        if meant is not None:
            message = f"{owner}: its metadata {key!r} has no effect on an activity"
            yield context.warning(
                "custom-operation", message, function.where.at("metadata", key), did_you_mean(key, [meant])
            )
