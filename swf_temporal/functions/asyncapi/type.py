"""The type `asyncapi`: operations of AsyncAPI documents."""

from collections.abc import Iterator, Mapping

from swf_temporal.calls import Function
from swf_temporal.data import JSON
from swf_temporal.function_types import OperationProblem
from swf_temporal.functions.port import DeclaredType, PartedForm, Performer, Services

FORM = PartedForm(("document", "operationId"), "document.yaml#operationId")


class AsyncApiType(DeclaredType):
    """Functions that send or receive messages as a document says."""

    example = FORM.example
    may_need_credentials = True

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield what is missing in the operation."""
        return FORM.problems(function)

    def document(self, operation: JSON) -> str | None:
        """Return the document."""
        return FORM.first(operation)

    def named(self, operation: JSON) -> Mapping[str, str]:
        """Return the document and the operation in it."""
        return FORM.split(operation)

    def performer(self, services: Services) -> Performer:
        """Return what sends and receives."""
        from swf_temporal.functions.asyncapi.asyncapi import AsyncApi

        return AsyncApi(services)


TYPE = AsyncApiType()
