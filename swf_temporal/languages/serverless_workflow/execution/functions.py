"""Conversion of a definition's functions and credentials to those of the port."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeGuard

from swf_temporal.base import calls
from swf_temporal.base.calls import PRIORITIES
from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.model.definitions import Auth, AuthRef, Function
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow


def functions_of(workflow: Workflow) -> list[calls.Function]:
    """Return the functions that *workflow* defines, in the order written."""
    return [function_of(one) for one in workflow.functions]


def function_of(function: Function) -> calls.Function:
    return calls.Function(
        function.name, function.type, function.operation, _reference(function.auth_ref), function.metadata
    )


def priority_of(function: calls.Function) -> int | None:
    """Return the priority that the metadata of *function* set for its calls; None if they set none."""
    value = function.metadata.get("priority")
    return value if is_priority(value) else None


def is_priority(value: JSON) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value in PRIORITIES


def is_long_running(function: calls.Function) -> bool:
    """Return True if the metadata of *function* say that a call of it may outlast an execution of the run."""
    return truth_of(function.metadata.get("longRunning")) is True


def locality_of(function: calls.Function) -> bool | None:
    """Return whether the metadata of *function* request local calls; None if they do not say."""
    return truth_of(function.metadata.get("local"))


def takes_any_status(function: calls.Function) -> bool:
    """Return True if the metadata of *function* say that it succeeds with any response status."""
    return truth_of(function.metadata.get("failOnStatusCode")) is False


def returns_variables(function: calls.Function) -> bool:
    """Return True if the metadata of *function*, a script, say that its result is an object of all its variables."""
    return function.metadata.get("returnsVariables") is True


def truth_of(value: JSON) -> bool | None:
    """Return the value of a switch in metadata, which may be a text; None if it is neither true nor false."""
    if isinstance(value, str):
        # In the specification, metadata values are texts (section "Workflow Metadata").
        value = {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def auth_of(auth: Auth) -> calls.Auth:
    return calls.Auth(auth.name, auth.scheme, auth.properties)


def _reference(reference: AuthRef | None) -> calls.AuthRef | None:
    return None if reference is None else calls.AuthRef(reference.resource, reference.invocation)


def with_shared_auth(functions: Iterable[calls.Function]) -> dict[str, calls.Function]:
    """Return *functions* by name; functions without credentials for fetching their document share those of the first.

    One function names the credentials for all functions of the same document (section "AuthRef Definition").
    """
    known = {function.name: function for function in functions}
    resources: dict[str, str] = {}
    for function in known.values():
        document, reference = _document(function), function.auth_ref
        if document is not None and reference is not None and reference.resource is not None:
            resources.setdefault(document, reference.resource)
    return {name: _authorised(function, resources) for name, function in known.items()}


def _authorised(function: calls.Function, resources: dict[str, str]) -> calls.Function:
    own = function.auth_ref or calls.AuthRef()
    shared = resources.get(_document(function) or "")
    if shared is None or own.resource is not None:
        return function
    return replace(function, auth_ref=replace(own, resource=shared))


def _document(function: calls.Function) -> str | None:
    """Return the part of the function's operation before the first number sign."""
    if function.type == "expression" or not isinstance(function.operation, str):
        return None
    document, sign, _ = function.operation.partition("#")
    return document.strip() if sign else None
