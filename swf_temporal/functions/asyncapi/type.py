"""The type `asyncapi`: operations of AsyncAPI documents."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.function_types import OperationProblem
from swf_temporal.functions.port import DeclaredType, PartedForm
from swf_temporal.text.suggestions import did_you_mean

FORM = PartedForm(("document", "operationId"), "document.yaml#operationId")
_KEYS = ("document", "operation", "channel", "action")
_ACTIONS = ("send", "receive")


@dataclass(frozen=True, slots=True)
class OperationReference:
    """An operation of a document: by its name, or by the channel on which it sends or receives."""

    document: str
    operation: str | None
    channel: str | None = None
    action: str | None = None
    """`send` or `receive`; None for what the document says."""
    is_object: bool = False
    """Whether the operation is an object, whose arguments stand under the names of their uses."""


def reference_of(function: Function) -> OperationReference:
    """Return the operation that *function* names. Raises CallFailed if it is malformed."""
    operation = function.operation
    if not isinstance(operation, dict):
        document, name = FORM.of(function)
        return OperationReference(document, name)
    problem = next(_problems(operation), None)
    if problem is not None:
        raise permanent_failure("BadOperation", f"function '{function.name}': {problem.message}")
    named = TYPE.named(operation)
    parts = (named.get("operation"), named.get("channel"), named.get("action"))
    return OperationReference(named["document"], *parts, is_object=True)


class AsyncApiType(DeclaredType):
    """Functions that send or receive messages as a document describes."""

    performed_by = "swf_temporal.functions.asyncapi.asyncapi:AsyncApi"
    example = FORM.example
    may_need_credentials = True

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield the missing and invalid parts of the operation."""
        return _problems(function.operation) if isinstance(function.operation, dict) else FORM.problems(function)

    def document(self, operation: JSON) -> str | None:
        if isinstance(operation, dict):
            document = operation.get("document")
            return document if isinstance(document, str) and document else None
        return FORM.first(operation)

    def named(self, operation: JSON) -> Mapping[str, str]:
        if isinstance(operation, dict):
            return {name: value for name, value in operation.items() if isinstance(value, str)}
        return FORM.split(operation)


def _problems(operation: Mapping[str, JSON]) -> Iterator[OperationProblem]:
    for key, value in operation.items():
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS)
            yield OperationProblem(f"the operation has no '{key}'", hint, ("operation", key))
        elif not isinstance(value, str) or not value:
            yield OperationProblem(
                f"'{key}' of the operation is {value!r}; it must be a text", None, ("operation", key)
            )
    if "document" not in operation:
        yield OperationProblem("the operation names no 'document'")
    if ("operation" in operation) == ("channel" in operation):
        yield OperationProblem("the operation names either an 'operation' of its document or a 'channel'")
    action = operation.get("action")
    if action is None and "channel" in operation:
        yield OperationProblem("the operation names a channel, and no 'action' on it: 'send' or 'receive'")
    if isinstance(action, str) and action and action not in _ACTIONS:
        message = f"the operation has the action {action!r}; it must be 'send' or 'receive'"
        yield OperationProblem(message, did_you_mean(action, _ACTIONS), ("operation", "action"))


TYPE = AsyncApiType()
