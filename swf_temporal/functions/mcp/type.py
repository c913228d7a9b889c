"""The type `mcp`: a method of an MCP server, which the arguments name."""

from collections.abc import Iterator

from swf_temporal.base.calls import Function
from swf_temporal.base.function_types import OperationProblem
from swf_temporal.functions.port import DeclaredType


class McpType(DeclaredType):
    """Functions that send a request to an MCP server. They have no operation."""

    performed_by = "swf_temporal.functions.mcp.mcp:Mcp"
    needs_operation = False

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield that an operation is not used."""
        if function.operation is not None:
            yield OperationProblem("a function of the type mcp has no operation, only arguments")


TYPE = McpType()
