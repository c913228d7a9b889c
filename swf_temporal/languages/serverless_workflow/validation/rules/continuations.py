"""Rule: the properties of an end with `continueAs` make sense (section "Continuing as a new Execution")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.states import ContinueAs, End
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import did_you_mean

_FIELDS = {"duration": str, "interrupt": bool, "runBefore": str}
_FORMS = {"duration": "a duration such as PT1H", "interrupt": "true or false", "runBefore": "the name of a state"}


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each end with continueAs that has `terminate: false` or an invalid timeout."""
    for end, owner in context.nodes.each(End):
        if end.continue_as is not None and "terminate" in end.where.keys and not end.terminate:
            message = f"{owner} continues as {end.continue_as.workflow_id!r}: terminate false has no effect there"
            yield context.warning("continue-as", message, end.where.key("terminate"), "leave 'terminate' out")
        if end.continue_as is not None:
            yield from _check_timeout(context, end.continue_as, owner)


def _check_timeout(context: Context, to: ContinueAs, owner: str) -> Iterator[Problem]:
    """Yield a problem for each missing or invalid field of the timeout, which the model does not check."""
    timeout = to.workflow_exec_timeout
    if timeout is None or isinstance(timeout, str):
        return
    position = to.where.value("workflowExecTimeout")
    subject = f"{owner}: the workflowExecTimeout of continueAs"
    if not isinstance(timeout, dict) or "duration" not in timeout:
        yield context.error("continue-as", f"{subject} has no duration", position, "write one, as in 'duration: PT1H'")
        return
    for key, value in timeout.items():
        if key not in _FIELDS:
            message = f"{subject} has {key!r}, which has no effect there"
            yield context.warning("continue-as", message, position, did_you_mean(key, _FIELDS))
        elif not isinstance(value, _FIELDS[key]) and not (isinstance(value, str) and "${" in value):
            hint = f"write {_FORMS[key]}, or an expression"
            yield context.error("continue-as", f"{subject}: {key} cannot be {value!r}", position, hint)
