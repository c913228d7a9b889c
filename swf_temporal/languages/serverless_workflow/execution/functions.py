"""The functions and credentials of a definition in the terms in which calls cross the port."""

from typing import TypeGuard

from swf_temporal import calls
from swf_temporal.calls import PRIORITIES
from swf_temporal.data import JSON
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


def priority_of(function: calls.Function) -> int | None:
    """Return what the metadata of *function* say of the priority of its calls; None where that is nothing."""
    value = function.metadata.get("priority")
    return value if is_priority(value) else None


def is_priority(value: JSON) -> TypeGuard[int]:
    """Tell whether *value* can be the priority of a call."""
    return isinstance(value, int) and not isinstance(value, bool) and value in PRIORITIES


def is_long_running(function: calls.Function) -> bool:
    """Tell whether the metadata of *function* say that a call of it may outlast an execution of the run."""
    return truth_of(function.metadata.get("longRunning")) is True


def truth_of(value: JSON) -> bool | None:
    """Return what a switch in metadata says, which may be a text; None where it says neither true nor false."""
    if isinstance(value, str):
        # The specification knows metadata as texts (section "Workflow Metadata").
        value = {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def auth_of(auth: Auth) -> calls.Auth:
    """Return credentials as calls carry them."""
    return calls.Auth(auth.name, auth.scheme, auth.properties)


def _reference(reference: AuthRef | None) -> calls.AuthRef | None:
    return None if reference is None else calls.AuthRef(reference.resource, reference.invocation)
