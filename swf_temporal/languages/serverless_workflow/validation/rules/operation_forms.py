"""An operation is written as the function's type demands (section "Function Definition").

The sections "Using Functions for …" say the form for each type. What is there when it is called, is not known here.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from swf_temporal.data import JSON
from swf_temporal.errors import Problem
from swf_temporal.languages.serverless_workflow.model.definitions import Function
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import did_you_mean

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

_PLAIN = ("rest", "openapi", "http")
"""The types whose operation may be an object, or `rest:METHOD:URL`; as a text, `custom` has the latter too."""
_OBJECTS = ("headers", "cookies", "query")
_KEYS = ("method", "uri", *_OBJECTS, "failOnStatusCode")
_KINDS = ("query", "mutation")
_NAME = re.compile(r"[_A-Za-z][_0-9A-Za-z]*")


@dataclass(frozen=True, slots=True)
class _Form:
    """A text of several parts with a # between them."""

    parts: tuple[str, ...]
    example: str


_DOCUMENT = ("document", "operationId")
_FORMS: Mapping[str, _Form] = {
    "rest": _Form(_DOCUMENT, "document.json#operationId"),
    "openapi": _Form(_DOCUMENT, "document.json#operationId"),
    "asyncapi": _Form(_DOCUMENT, "document.yaml#operationId"),
    "rpc": _Form(("proto file", "service", "method"), "service.proto#Service#Method"),
    "graphql": _Form(("endpoint", "kind", "field"), "https://example.com/graphql#query#field"),
    "odata": _Form(("service", "entity set"), "https://example.com/Service.svc#EntitySet"),
}


@dataclass(frozen=True, slots=True)
class _Wrong:
    """What is wrong with an operation."""

    message: str
    hint: str | None = None
    key: str | None = None
    """Of the operation, if that is an object."""


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each operation that could only fail, and each key that means nothing."""
    for function, owner in context.nodes.each(Function):
        operation, where = function.operation, function.where
        for wrong in _wrong(function.type, operation):
            position = where.at("operation", *([wrong.key] if wrong.key else []))
            yield context.error("operation-form", f"{owner}: {wrong.message}", position, wrong.hint)
        if isinstance(operation, dict) and function.type in _PLAIN:
            for key in (key for key in operation if key not in _KEYS):
                message = f"{owner}: {key!r} is not a property of an operation"
                yield context.warning("unknown-property", message, where.at("operation", key), did_you_mean(key, _KEYS))


def _wrong(kind: str, operation: JSON) -> Iterator[_Wrong]:
    if isinstance(operation, dict) and kind in _PLAIN:
        yield from _wrong_in_object(operation)
    elif isinstance(operation, str) and (
        kind == "http" or (operation.startswith("rest:") and kind in (*_PLAIN, "custom"))
    ):
        yield from _wrong_in_request(operation)
    elif operation is not None and kind in _FORMS:
        yield from _wrong_in_parts(operation, kind, _FORMS[kind])
    elif operation is not None and kind == "http":
        yield _Wrong(f"the operation {operation!r} is neither rest:METHOD:URL nor an object with method and uri")


def _wrong_in_parts(operation: JSON, kind: str, form: _Form) -> Iterator[_Wrong]:
    written = f"one of the type {kind} is written {form.example}"
    if not isinstance(operation, str):
        yield _Wrong(f"the operation must be a text: {written}")
        return
    found = [part.strip() for part in operation.rsplit("#", len(form.parts) - 1)]
    given = dict(zip(form.parts, found, strict=False))
    missing = [part for part in form.parts if not given.get(part)]
    if missing:
        yield _Wrong(f"the operation {operation!r} names no {' and no '.join(missing)}: {written}")
    elif kind == "graphql":
        yield from _wrong_in_graphql(*found)


def _wrong_in_graphql(_: str, kind: str, field: str) -> Iterator[_Wrong]:
    if kind.lower() == "subscription":
        yield _Wrong("a subscription cannot be called: an operation is a query or a mutation")
    elif kind.lower() not in _KINDS:
        yield _Wrong(f"{kind!r} is neither query nor mutation", did_you_mean(kind, _KINDS))
    if not _NAME.fullmatch(field):
        yield _Wrong(f"{field!r} cannot be the name of a field in GraphQL")


def _wrong_in_request(operation: str) -> Iterator[_Wrong]:
    named = operation.removeprefix("rest:").strip()
    if named.lower().startswith(("http://", "https://")) or (named.startswith("/") and named != operation):
        return
    method, _, uri = named.partition(":")
    if not uri:
        yield _Wrong(f"the operation {operation!r} names no URL: it is written rest:METHOD:URL")
    else:
        yield from _wrong_method(method.strip())


def _wrong_in_object(operation: Mapping[str, JSON]) -> Iterator[_Wrong]:
    method = operation.get("method") or "GET"
    if isinstance(method, str):
        yield from _wrong_method(method, "method")
    else:
        yield _Wrong("method must be a text", key="method")
    if not operation.get("uri"):
        yield _Wrong("the operation names no uri")
    for key in _OBJECTS:
        if operation.get(key) is not None and not isinstance(operation[key], dict):
            yield _Wrong(f"{key} must be an object", key=key)
    if not isinstance(operation.get("failOnStatusCode"), bool | None):
        yield _Wrong("failOnStatusCode must be true or false", key="failOnStatusCode")


def _wrong_method(method: str, key: str | None = None) -> Iterator[_Wrong]:
    if method.upper() not in METHODS:
        hint = did_you_mean(method.upper(), METHODS)
        yield _Wrong(f"{method!r} is not a method of HTTP that can be called", hint, key)
