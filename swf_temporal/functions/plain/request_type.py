"""The type `request`: functions without an operation, whose arguments are the whole request."""

from collections.abc import Iterator

from swf_temporal.base.calls import Function
from swf_temporal.base.function_types import OperationProblem
from swf_temporal.functions.port import DeclaredType


class RequestType(DeclaredType):
    """Functions whose arguments are a method, a URL and the rest of a request."""

    needs_operation = False
    performed_by = "swf_temporal.functions.plain.requests:Requests"

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield an error for any operation: it would be ignored."""
        yield OperationProblem(
            f"a function of the type {function.type} takes no operation: its arguments are the request",
            "leave it out, or write 'type: http'",
        )


TYPE = RequestType()
