"""The type `expression`: evaluated by the workflow itself, so that calls of it are refused."""

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.functions.call import Call
from swf_temporal.functions.port import DeclaredType, Performer, Services


class ExpressionType(DeclaredType):
    """Functions that are expressions. The rules for expressions validate them."""

    example = ".price * .quantity"

    def performer(self, services: Services) -> Performer:  # noqa: ARG002 - there is nothing to perform
        return _Refusing()


TYPE = ExpressionType()


class _Refusing(Performer):
    async def perform(self, call: Call) -> JSON:
        name, kind = call.function.name, call.function.type
        section = "Using Functions for Expression Evaluation"
        message = f"function '{name}': the type '{kind}' (section “{section}”) is not supported here"
        raise permanent_failure("Unsupported", message)
