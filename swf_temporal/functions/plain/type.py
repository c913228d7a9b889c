"""The type `http`, and the forms of plain HTTP: the text `rest:METHOD:URL`, and the object `{method, uri, …}`.

Functions of other types may be written in these forms too, and then are performed alike.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Severity
from swf_temporal.base.function_types import OperationProblem
from swf_temporal.functions.port import DeclaredType
from swf_temporal.text.suggestions import meant_or_known

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

_PREFIX = "rest:"
_DEFAULT_METHOD = "GET"
_OBJECTS = ("headers", "cookies", "query")
_KEYS = ("method", "uri", *_OBJECTS, "failOnStatusCode")


class PlainType(DeclaredType):
    """Functions that state their method and URL."""

    performed_by = "swf_temporal.functions.plain.plain:PlainHttp"

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield the errors in the method, the URL and the rest."""
        operation = function.operation
        if isinstance(operation, dict):
            yield from problems_of_object(operation)
        elif isinstance(operation, str):
            yield from problems_of_text(operation)
        else:
            yield OperationProblem(
                f"the operation {operation!r} is neither rest:METHOD:URL nor an object with method and uri"
            )


TYPE = PlainType()


def is_plain_text(operation: JSON) -> bool:
    """Return whether *operation* is `rest:METHOD:URL`."""
    return isinstance(operation, str) and operation.startswith(_PREFIX)


def split_text(operation: str) -> tuple[str, str]:
    """Return the optional method and the URL of the text form."""
    named = operation.removeprefix(_PREFIX).strip()
    if named.lower().startswith(("http://", "https://")) or (named.startswith("/") and named != operation):
        return _DEFAULT_METHOD, named
    method, _, uri = named.partition(":")
    return method.strip(), uri


def problems_of_text(operation: str) -> Iterator[OperationProblem]:
    """Yield the errors in an operation `rest:METHOD:URL`."""
    method, uri = split_text(operation)
    if not uri:
        yield OperationProblem(f"the operation {operation!r} has no URL: write it as rest:METHOD:URL")
    else:
        yield from _problems_of_method(method)


def problems_of_object(operation: Mapping[str, JSON]) -> Iterator[OperationProblem]:
    """Yield the errors in an operation that is an object, including unknown keys."""
    method = operation.get("method") or _DEFAULT_METHOD
    if isinstance(method, str):
        yield from _problems_of_method(method, "method")
    else:
        yield OperationProblem("method must be a text", path=("operation", "method"))
    if not operation.get("uri"):
        yield OperationProblem("the operation has no uri", "write the URL, as in 'uri: https://example.com/orders'")
    for key in _OBJECTS:
        if operation.get(key) is not None and not isinstance(operation[key], dict):
            yield OperationProblem(f"{key} must be an object", path=("operation", key))
    if not isinstance(operation.get("failOnStatusCode"), bool | None):
        yield OperationProblem("failOnStatusCode must be true or false", path=("operation", "failOnStatusCode"))
    for key in (key for key in operation if key not in _KEYS):
        yield OperationProblem(
            f"{key!r} is not a property of an operation",
            meant_or_known(key, _KEYS),
            ("operation", key),
            "unknown-property",
            Severity.WARNING,
        )


def _problems_of_method(method: str, *key: str) -> Iterator[OperationProblem]:
    if method.upper() not in METHODS:
        hint = meant_or_known(method.upper(), METHODS)
        yield OperationProblem(f"{method!r} is not a method of HTTP that can be called", hint, ("operation", *key))
