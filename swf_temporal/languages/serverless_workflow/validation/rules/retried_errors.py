"""Rule: the lists of errors to retry, or not, fit the kind of retrying (section "Action retries").

`retryableErrors` is for actions that are retried by their `retryRef`, `nonRetryableErrors` for `autoRetries: true`.
"""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.validation.context import Context

_CODE = "retried-errors"
_NAME_A_RETRY = "name one of retries in retryRef, or remove it"


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each list of errors that has no effect, or that other runtimes ignore."""
    automatic = context.workflow.auto_retries
    for action, owner in context.nodes.each(Action):
        if action.retryable_errors and automatic:
            message = f"{owner}: retryableErrors has no effect with autoRetries, which retries every error"
            hint = "list errors that must not be retried in nonRetryableErrors"
            yield context.warning(_CODE, message, action.where.key("retryableErrors"), hint)
        elif action.retryable_errors and action.retry_ref is None:
            message = f"{owner}: retryableErrors has no effect without a retryRef, as the action is not retried"
            yield context.warning(_CODE, message, action.where.key("retryableErrors"), _NAME_A_RETRY)
        if action.non_retryable_errors and not automatic:
            if action.retry_ref is None:
                message = f"{owner}: nonRetryableErrors has no effect, as without autoRetries the action is not retried"
                yield context.warning(_CODE, message, action.where.key("nonRetryableErrors"), "remove it")
            else:
                message = f"{owner}: nonRetryableErrors is for autoRetries: true; other runtimes ignore it here"
                hint = "without autoRetries, list the errors to retry in retryableErrors"
                yield context.warning(_CODE, message, action.where.key("nonRetryableErrors"), hint)
