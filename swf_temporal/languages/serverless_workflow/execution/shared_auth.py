"""The credentials for fetching a document (section "AuthRef Definition").

One function names them for all that share the document.
"""

from collections.abc import Iterable
from dataclasses import replace

from swf_temporal.calls import AuthRef, Function


def with_shared_auth(functions: Iterable[Function]) -> dict[str, Function]:
    """Return *functions* by name; those that do not say how to fetch their document do so as the first that does."""
    known = {function.name: function for function in functions}
    resources: dict[str, str] = {}
    for function in known.values():
        document, reference = _document(function), function.auth_ref
        if document is not None and reference is not None and reference.resource is not None:
            resources.setdefault(document, reference.resource)
    return {name: _authorised(function, resources) for name, function in known.items()}


def _authorised(function: Function, resources: dict[str, str]) -> Function:
    own = function.auth_ref or AuthRef()
    shared = resources.get(_document(function) or "")
    if shared is None or own.resource is not None:
        return function
    return replace(function, auth_ref=replace(own, resource=shared))


def _document(function: Function) -> str | None:
    """Return what stands before the first number sign of the function's operation."""
    if function.type == "expression" or not isinstance(function.operation, str):
        return None
    document, sign, _ = function.operation.partition("#")
    return document.strip() if sign else None
