"""The functions and credentials of a definition in the terms in which calls cross the port."""

from swf_temporal import calls
from swf_temporal.languages.serverless_workflow.model.definitions import Auth, AuthRef, Function
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow


def functions_of(workflow: Workflow) -> list[calls.Function]:
    """Return the functions that *workflow* defines, in the order written."""
    return [function_of(one) for one in workflow.functions]


def function_of(function: Function) -> calls.Function:
    """Return *function* as calls name it."""
    return calls.Function(
        function.name, function.type, function.operation, _reference(function.auth_ref), function.metadata
    )


def auth_of(auth: Auth) -> calls.Auth:
    """Return credentials as calls carry them."""
    return calls.Auth(auth.name, auth.scheme, auth.properties)


def _reference(reference: AuthRef | None) -> calls.AuthRef | None:
    return None if reference is None else calls.AuthRef(reference.resource, reference.invocation)
