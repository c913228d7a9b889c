"""The form of operations that are a text of several parts with a `#` between them."""

from collections.abc import Iterator
from dataclasses import dataclass

from swf_temporal.calls import Function
from swf_temporal.data import JSON
from swf_temporal.function_types import OperationProblem


@dataclass(frozen=True, slots=True)
class PartedForm:
    """The parts of an operation, by what they are, and an example."""

    parts: tuple[str, ...]
    example: str

    def split(self, operation: JSON) -> dict[str, str]:
        """Return the parts that *operation* has; empty if it is not a text."""
        if not isinstance(operation, str):
            return {}
        found = operation.rsplit("#", len(self.parts) - 1)
        return dict(zip(self.parts, (part.strip() for part in found), strict=False))

    def first(self, operation: JSON) -> str | None:
        """Return the first part, such as a document, of an operation that has one of each."""
        given = self.split(operation)
        return given[self.parts[0]] if len(given) == len(self.parts) and given[self.parts[0]] else None

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield what is missing in the operation of *function*."""
        written = f"one of the type {function.type} is written {self.example}"
        if not isinstance(function.operation, str):
            yield OperationProblem(f"the operation must be a text: {written}")
            return
        given = self.split(function.operation)
        missing = [part for part in self.parts if not given.get(part)]
        if missing:
            names = f"names no {' and no '.join(missing)}"
            yield OperationProblem(f"the operation {function.operation!r} {names}: {written}")
