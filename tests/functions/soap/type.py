"""The type `soap`: methods of a service that is not there."""

from collections.abc import Iterator

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import OperationProblem
from swf_temporal.functions.call import Call
from swf_temporal.functions.port import DeclaredType, Described, PartedForm, Performer, Services

FORM = PartedForm(("service", "method"), "https://example.com/service#Method")


class SoapType(DeclaredType):
    """Functions that name a service and a method."""

    may_need_credentials = True

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield what is missing in the operation."""
        return FORM.problems(function)

    def performer(self, services: Services) -> Performer:
        """Return what calls the method."""
        return Soap(services)


TYPE = SoapType()


class Soap(Performer):
    """Answers with what it was called with, until it is closed."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.is_closed = False

    async def perform(self, call: Call) -> JSON:
        """Return the method and its arguments."""
        return {**FORM.split(call.function.operation), "body": call.arguments}

    async def look(self, call: Call) -> Described:
        """Return the method."""
        return Described({"soapAction": FORM.split(call.function.operation)["method"]})

    async def aclose(self) -> None:
        """Take note."""
        self.is_closed = True
