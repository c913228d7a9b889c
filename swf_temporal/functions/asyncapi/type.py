"""The type `asyncapi`: operations of AsyncAPI documents."""

from collections.abc import Iterator, Mapping

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import OperationProblem
from swf_temporal.functions.port import DeclaredType, PartedForm

FORM = PartedForm(("document", "operationId"), "document.yaml#operationId")


class AsyncApiType(DeclaredType):
    """Functions that send or receive messages as a document describes."""

    performed_by = "swf_temporal.functions.asyncapi.asyncapi:AsyncApi"
    example = FORM.example
    may_need_credentials = True

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield the missing parts of the operation."""
        return FORM.problems(function)

    def document(self, operation: JSON) -> str | None:
        return FORM.first(operation)

    def named(self, operation: JSON) -> Mapping[str, str]:
        return FORM.split(operation)


TYPE = AsyncApiType()
