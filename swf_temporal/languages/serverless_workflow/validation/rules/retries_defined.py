"""Rule: retries that actions refer to are defined (section "Retry Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.states import OnError
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each retryRef that names no retry of the workflow."""
    for action, owner in context.nodes.each(Action):
        yield from context.undefined("retries", action.retry_ref, action.where.value("retryRef"), owner)
    for handler, owner in context.nodes.each(OnError):
        yield from context.undefined("retries", handler.retry_ref, handler.where.value("@retryRef"), owner)
