"""What do hosts have in common when they perform a call or run a sub-workflow?"""

from collections.abc import Mapping

from swf_temporal.data import JSON
from swf_temporal.errors import SubflowFailed, WorkflowFault
from swf_temporal.expressions.evaluation import NOTHING, Expressions
from swf_temporal.interpreter.host import FunctionCall


def filled(call: FunctionCall, secrets: Mapping[str, JSON]) -> JSON:
    """Return the arguments of *call*, those that mention secrets filled: where it is performed, never in a workflow."""
    if call.deferred is None:
        return call.arguments
    given = call.deferred
    declared = [name for name in given.variables if not name.startswith("__")]
    template = Expressions(variables=declared, language=given.language).template(given.template)
    value = template(given.data, {**given.variables, "SECRETS": dict(secrets)})
    return None if value is NOTHING else value


def subflow_fault(workflow_id: str, fault: WorkflowFault) -> SubflowFailed:
    """Return what a parent sees of a fault that its sub-workflow failed with: its name, code and message."""
    return SubflowFailed(
        f"sub-workflow {workflow_id!r} failed: {fault.message}",
        name=fault.name,
        code=fault.code,
        status=fault.status,
        body=fault.body,
        cause=fault.state and f"state {fault.state!r} of {workflow_id!r}",
    )
