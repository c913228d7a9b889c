"""The types of functions, and their properties that are known without calling anything.

Validation rules of languages check the form of an operation, and `functions` performs it; neither imports the other. So
this table is in a layer below both, as `languages/known.py` is in one below the readers of definitions: it names a
module for each type, which is imported when a definition first uses the type. To add a type, add a package and a line
in `TYPES`. Such a module should import little, since every validation and every workflow may load it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Severity
from swf_temporal.base.importing import module_named

TYPES: dict[str, str] = {
    "rest": "swf_temporal.functions.openapi.type",
    "openapi": "swf_temporal.functions.openapi.type",
    "http": "swf_temporal.functions.plain.type",
    "request": "swf_temporal.functions.plain.request_type",
    "asyncapi": "swf_temporal.functions.asyncapi.type",
    "rpc": "swf_temporal.functions.rpc.type",
    "graphql": "swf_temporal.functions.graphql.type",
    "odata": "swf_temporal.functions.odata.type",
    "expression": "swf_temporal.functions.expression",
    "custom": "swf_temporal.functions.custom.type",
    "direktiv": "swf_temporal.functions.containers.type",
    "shell": "swf_temporal.functions.processes.type",
    "script": "swf_temporal.functions.processes.type",
    "container": "swf_temporal.functions.processes.type",
    "mcp": "swf_temporal.functions.mcp.type",
    "a2a": "swf_temporal.functions.a2a.type",
}
"""The modules of types, each of which has a `TYPE`, by the names that definitions use."""

CONFIGURED_AS: Final = "configuredAs"
"""The key of a function's metadata for the name of its service, which the configuration and secrets use."""
CONFIG_KEY: Final = "configKey"
"""The key of a function's metadata for the suffix, after a dot, of the service's name; evaluated for each call."""


@dataclass(frozen=True, slots=True)
class Callee:
    """The target of a call: its function and its service, by the names that settings and secrets use for them."""

    function: str
    services: tuple[str, ...] = ()
    """The names of the service, the first with the highest precedence; from its document, unless the function has one.
    """


@dataclass(frozen=True, slots=True)
class OperationProblem:
    message: str
    hint: str | None = None
    path: tuple[str, ...] = ("operation",)
    """The path from the function to the place of the problem."""
    code: str = "operation-form"
    severity: Severity = Severity.ERROR


class OperationType:
    """The form of a function type's operations, as validation checks it. The defaults accept operations of any form."""

    example: str = "rest:GET:https://example.com/orders"
    """An operation of this type, as an example in messages."""
    needs_operation: bool = True
    """Whether a function of this type requires an operation."""
    may_need_credentials: bool = False
    """Whether a call may need the definition's secrets although the function has no auth: its document may say so."""

    def problems(self, function: Function) -> Iterable[OperationProblem]:  # noqa: ARG002 - for those that have a form
        """Return the problems of the operation of *function*, which has one: errors with which it could only fail."""
        return ()

    def document(self, operation: JSON) -> str | None:  # noqa: ARG002 - for those that have documents
        """Return the file or URL of the document that *operation* names, or None if it names none."""
        return None

    def named(self, operation: JSON) -> Mapping[str, str]:  # noqa: ARG002 - as above
        """Return the named parts of *operation*, for people."""
        return {}

    def services(self, operation: JSON) -> tuple[str, ...]:  # noqa: ARG002 - as above
        """Return the names of the service of *operation*, the first with the highest precedence."""
        return ()


@cache
def _type_in(module: str) -> OperationType:
    found: OperationType = module_named(module).TYPE
    return found


def operation_type(name: str) -> OperationType | None:
    """Return the type that definitions call *name*, or None if it is not one of `TYPES`."""
    module = TYPES.get(name)
    return None if module is None else _type_in(module)


def type_with(written: str, operation: JSON) -> str:
    """Return the type of a function that a draft calls *written*, where the names of types are of the author's choice.

    One of `TYPES` is meant, case-insensitively, unless its functions have no operation and this one has: that is then a
    custom function, whatever the author calls it.
    """
    name = written.lower()
    kind = operation_type(name)
    if kind is None:
        return written
    return name if operation is None or kind.needs_operation or name == "custom" else "custom"


def callee_of(function: Function) -> Callee:
    """Return the callee of *function*, whose metadata are evaluated for the call."""
    said, operation = function.metadata.get(CONFIGURED_AS), function.operation
    if isinstance(said, str) and said:
        services: tuple[str, ...] = (said,)
    else:
        # A text is taken apart once: every call asks several times.
        services = (_services_of if isinstance(operation, str) else _services_of.__wrapped__)(function.type, operation)
    chosen = function.metadata.get(CONFIG_KEY)
    return Callee(function.name, services if chosen is None else tuple(f"{one}.{chosen}" for one in services))


@lru_cache(maxsize=4096)
def _services_of(kind: str, operation: JSON) -> tuple[str, ...]:
    found = operation_type(kind)
    return () if found is None else found.services(operation)


def path_of(document: str) -> str:
    """Return the path of the *document* that an operation names, which may be a URI; empty if that is invalid."""
    try:
        parts = urlsplit(document)
    except ValueError:
        return ""
    # The specification writes `file://` in front of relative paths, too.
    return unquote(parts.netloc + parts.path if parts.scheme == "file" else parts.path)


def secrets_for(scheme: str, callee: Callee) -> tuple[str, ...]:
    """Return the possible names of the secret of a security scheme, the first with the highest precedence.

    A secret of *callee* alone is named after its service, a dot and the scheme: `orders.yaml.basicAuth`.
    """
    return (*(f"{service}.{scheme}" for service in callee.services), scheme)


@lru_cache(maxsize=4096)
def environment_name(name: str) -> str:
    """Return *name* as it appears in a variable's name: `check-stock` becomes `CHECK_STOCK`."""
    return re.sub(r"[^A-Z0-9]", "_", name.upper())
