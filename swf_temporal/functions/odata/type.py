"""The type `odata`: entity sets of OData services."""

from collections.abc import Iterator

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import OperationProblem
from swf_temporal.functions.port import DeclaredType, PartedForm

FORM = PartedForm(("service", "entity set"), "https://example.com/Service.svc#EntitySet")


class ODataType(DeclaredType):
    """Functions that name a service and one of its entity sets."""

    performed_by = "swf_temporal.functions.odata.odata:OData"
    example = FORM.example

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield the missing parts of the operation."""
        return FORM.problems(function)

    def services(self, operation: JSON) -> tuple[str, ...]:
        """Return the service as it is written."""
        service = FORM.first(operation)
        return () if service is None else (service,)


TYPE = ODataType()
