"""Rule: names are usable as workflow types and activity types (section "Workflow Definition Structure")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.workflow import Event, Function
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.runtime.ids import ACTIVITY_TYPES, STORED_CHARACTERS, WORKFLOW_TYPES, taken, too_long

_SHORTER = "write a shorter one; a long text belongs in a description"
_ANOTHER = "write another name"


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for a name that is too long for a server, or reserved on it."""
    workflow = context.workflow
    at = workflow.where.value("id")
    if (trouble := too_long(workflow.id)) is not None:
        message = f"the id of the workflow is its type on the server: {trouble}"
        yield context.error("name-too-long", message, at, _SHORTER)
    elif len(workflow.id) > STORED_CHARACTERS:
        message = f"the id has {len(workflow.id)} characters: servers on MySQL and PostgreSQL store {STORED_CHARACTERS}"
        yield context.warning("name-too-long", message, at, _SHORTER)
    if (trouble := taken(workflow.id, WORKFLOW_TYPES)) is not None:
        yield context.error("reserved-name", f"the id {workflow.id!r} {trouble}", at, _ANOTHER)
    for function, _ in context.nodes.each(Function):
        at = function.where.value("name")
        if (trouble := too_long(function.name)) is not None:
            yield context.error("name-too-long", f"a function is an activity on the server: {trouble}", at, _SHORTER)
        if (trouble := taken(function.name, ACTIVITY_TYPES)) is not None:
            yield context.error("reserved-name", f"the name of function {function.name!r} {trouble}", at, _ANOTHER)
    for event, _ in context.nodes.each(Event):
        if (trouble := too_long(event.name)) is not None:
            message = f"the name of the event cannot be that of a signal: {trouble}"
            hint = "it can be sent as a CloudEvent only"
            yield context.warning("name-too-long", message, event.where.value("name"), hint)
