"""The types `shell`, `script` and `container`: processes whose command, code or image is an argument."""

from collections.abc import Iterator

from swf_temporal.base.calls import Function
from swf_temporal.base.function_types import OperationProblem
from swf_temporal.functions.port import DeclaredType


class ProcessType(DeclaredType):
    """Functions that start a process, or a container. They have no operation."""

    performed_by = "swf_temporal.functions.processes.processes:Processes"
    needs_operation = False

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield that an operation is not used."""
        if function.operation is not None:
            yield OperationProblem(f"a function of the type {function.type} has no operation, only arguments")


TYPE = ProcessType()
