"""Rule: errors that are handled, retried or not retried are defined (section "Defining Errors").

A few names mean every error and need no definition.
"""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.states import OnError
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.runtime.retrying import CATCH_ALL


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each reference to an error that the workflow does not define."""
    for handler, owner in context.nodes.each(OnError) if context.workflow.language_version.defines_errors else ():
        yield from _check(context, handler, "errorRefs", handler.error_refs, owner)
    for action, owner in context.nodes.each(Action):
        yield from _check(context, action, "retryableErrors", action.retryable_errors, owner)
        yield from _check(context, action, "nonRetryableErrors", action.non_retryable_errors, owner)


def _check(context: Context, node: OnError | Action, key: str, names: tuple[str, ...], owner: str) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if name not in CATCH_ALL:
            yield from context.undefined("errors", name, node.where.at(key, index), owner)
