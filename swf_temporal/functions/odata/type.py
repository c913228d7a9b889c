"""The type `odata`: sets of entities of OData services."""

from collections.abc import Iterator

from swf_temporal.calls import Function
from swf_temporal.function_types import OperationProblem
from swf_temporal.functions.port import DeclaredType, PartedForm, Performer, Services

FORM = PartedForm(("service", "entity set"), "https://example.com/Service.svc#EntitySet")


class ODataType(DeclaredType):
    """Functions that name a service and a set of entities in it."""

    example = FORM.example

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield what is missing in the operation."""
        return FORM.problems(function)

    def performer(self, services: Services) -> Performer:
        """Return what queries them."""
        from swf_temporal.functions.odata.odata import OData

        return OData(services)


TYPE = ODataType()
