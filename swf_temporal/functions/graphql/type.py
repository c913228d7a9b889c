"""The type `graphql`: fields of GraphQL endpoints."""

import re
from collections.abc import Iterator

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import OperationProblem
from swf_temporal.functions.port import DeclaredType, PartedForm
from swf_temporal.text.suggestions import did_you_mean

FORM = PartedForm(("endpoint", "kind", "field"), "https://example.com/graphql#query#field")

_KINDS = ("query", "mutation")
_NAME = re.compile(r"[_A-Za-z][_0-9A-Za-z]*")


class GraphQLType(DeclaredType):
    """Functions that name an endpoint, `query` or `mutation`, and a field."""

    performed_by = "swf_temporal.functions.graphql.graphql:GraphQL"
    example = FORM.example

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield the missing or invalid parts of the operation."""
        missing = list(FORM.problems(function))
        yield from missing
        if missing:
            return
        given = FORM.split(function.operation)
        kind, field = given["kind"], given["field"]
        if kind.lower() == "subscription":
            yield OperationProblem("a subscription cannot be called: an operation is a query or a mutation")
        elif kind.lower() not in _KINDS:
            yield OperationProblem(f"{kind!r} is neither query nor mutation", did_you_mean(kind, _KINDS))
        if not is_name(field):
            yield OperationProblem(f"{field!r} cannot be the name of a field in GraphQL")

    def services(self, operation: JSON) -> tuple[str, ...]:
        """Return the endpoint as it is written."""
        endpoint = FORM.first(operation)
        return () if endpoint is None else (endpoint,)


TYPE = GraphQLType()


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None
