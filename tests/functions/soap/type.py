"""The type `soap`: methods of a service that is not there."""

from collections.abc import Iterator

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import OperationProblem
from swf_temporal.functions.call import Call
from swf_temporal.functions.port import DeclaredType, Described, PartedForm, Performer, Services

FORM = PartedForm(("service", "method"), "https://example.com/service#Method")


class SoapType(DeclaredType):
    may_need_credentials = True

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        return FORM.problems(function)

    def performer(self, services: Services) -> Performer:
        return Soap(services)


TYPE = SoapType()


class Soap(Performer):
    def __init__(self, services: Services) -> None:
        self.services = services
        self.is_closed = False

    async def perform(self, call: Call) -> JSON:
        return {**FORM.split(call.function.operation), "body": call.arguments}

    async def look(self, call: Call) -> Described:
        return Described({"soapAction": FORM.split(call.function.operation)["method"]})

    async def aclose(self) -> None:
        self.is_closed = True
