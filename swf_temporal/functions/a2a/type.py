"""The type `a2a`: a method of an agent, which the arguments name; the metadata may name its card."""

from collections.abc import Iterator
from typing import Final

from swf_temporal.base.calls import Function
from swf_temporal.base.function_types import OperationProblem
from swf_temporal.functions.port import DeclaredType

AGENT_CARD: Final = "agentCard"
"""The key of a function's metadata for the URL or file of the agent's card."""


class A2aType(DeclaredType):
    """Functions that send a request to an agent. They have no operation."""

    performed_by = "swf_temporal.functions.a2a.a2a:A2a"
    needs_operation = False
    may_need_credentials = True

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield that an operation is not used."""
        if function.operation is not None:
            yield OperationProblem("a function of the type a2a has no operation, only arguments")


TYPE = A2aType()
