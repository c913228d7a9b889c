"""The type `rpc`: methods of gRPC services."""

from collections.abc import Iterator

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import OperationProblem
from swf_temporal.functions.port import DeclaredType, PartedForm

REFLECTION = "reflection:"
SERVER_SCHEMES = ("grpc://", "grpcs://")
"""The prefixes in place of a proto file where the server itself describes its messages."""

HOST = "host"
PORT = "port"
"""The keys of a function's metadata for the server."""

FORM = PartedForm(("proto file", "service", "method"), "service.proto#Service#Method")


class RpcType(DeclaredType):
    """Functions that name a method of a service in a proto file."""

    performed_by = "swf_temporal.functions.rpc.rpc:Rpc"
    example = FORM.example

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield the missing parts of the operation."""
        return FORM.problems(function)

    def document(self, operation: JSON) -> str | None:
        """Return the proto file, if there is one."""
        file = FORM.first(operation)
        return None if file is None or file.startswith((REFLECTION, *SERVER_SCHEMES)) else file

    def services(self, operation: JSON) -> tuple[str, ...]:
        """Return the names of the proto file, then those of the service: with its package, and without."""
        service = FORM.split(operation).get("service", "")
        names = (*super().services(operation), service, service.rpartition(".")[2])
        return tuple(dict.fromkeys(one for one in names if one))


TYPE = RpcType()
