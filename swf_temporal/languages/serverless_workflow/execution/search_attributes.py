"""The search attributes of a definition: `metadata.searchAttributes`.

It is an object that maps each name to a value, or to an object with a `type` and a `value`. A value is an expression
over the input, or a literal.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.languages.port import ATTRIBUTE_TYPES, MAX_ATTRIBUTES
from swf_temporal.languages.serverless_workflow.execution.concurrency import of_input

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.execution.execution import Execution

METADATA: Final = "searchAttributes"
"""The key in the definition's metadata."""


class Attribute(NamedTuple):
    type: str
    value: JSON
    """The value as written."""


def attributes_of(metadata: Mapping[str, Any]) -> dict[str, Attribute]:
    """Return the search attributes in *metadata* of a definition, without invalid ones."""
    asked = metadata.get(METADATA)
    if not isinstance(asked, dict):
        return {}
    read = {name: _attribute(one) for name, one in list(asked.items())[:MAX_ATTRIBUTES]}
    return {name: one for name, one in read.items() if one.type in ATTRIBUTE_TYPES}


def _attribute(asked: JSON) -> Attribute:
    if isinstance(asked, dict):
        return Attribute(str(asked.get("type", ATTRIBUTE_TYPES[0])), asked.get("value"))
    return Attribute(ATTRIBUTE_TYPES[0], asked)


async def attribute_values(execution: "Execution") -> dict[str, JSON | WorkflowFault]:
    """Return the values of the definition's search attributes for the input, or the fault of each that failed."""
    found: dict[str, JSON | WorkflowFault] = {}
    for name, one in attributes_of(execution.program.workflow.metadata).items():
        try:
            found[name] = await of_input(execution, one.value)
        except WorkflowFault as fault:
            found[name] = fault
    return found
