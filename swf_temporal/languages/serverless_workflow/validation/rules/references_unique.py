"""Rule: references in a list are unique (sections "OnEvents Definition" and "Error Definition")."""

from collections.abc import Iterator, Sequence

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import OnError, OnEvents
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each duplicate in a list of references."""
    for events, owner in context.nodes.each(OnEvents):
        yield from _repeated(context, events, "eventRefs", events.event_refs, owner)
    for handler, owner in context.nodes.each(OnError):
        yield from _repeated(context, handler, "errorRefs", handler.error_refs, owner)
    for action, owner in context.nodes.each(Action):
        yield from _repeated(context, action, "retryableErrors", action.retryable_errors, owner)
        yield from _repeated(context, action, "nonRetryableErrors", action.non_retryable_errors, owner)


def _repeated(context: Context, node: Node, key: str, names: Sequence[str], owner: str) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if name in names[:index]:
            message = f"{owner}: {key} names {name!r} more than once"
            yield context.warning("duplicate-reference", message, node.where.at(key, index), "remove it here")
