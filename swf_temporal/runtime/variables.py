"""Variables that outlive a step: named bytes with a MIME type, in a scope that says who shares them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, Protocol

from swf_temporal.base.records import Record

JSON_TYPE: Final = "application/json"

VariableScope = Literal["instance", "workflow", "namespace", "thread", "file"]
"""The scope of a variable: who shares it.

`thread`: an instance, and the sub-workflows that it calls once it has the variable. `file`: no variable, but a file of
the namespace, which can only be read.
"""
SCOPES: Final[tuple[VariableScope, ...]] = ("namespace", "workflow", "instance")
"""Those of the variables that callers give, and that functions leave behind."""


@dataclass(frozen=True, slots=True)
class VariableRef(Record):
    scope: VariableScope
    owner: str
    """The instance, the workflow or the namespace that it belongs to; of a file the workflow that asks for it."""
    key: str
    """Its name, or the path of a file in its namespace, which begins with a slash."""


@dataclass(frozen=True, slots=True)
class Variable(Record):
    WHAT: ClassVar[str] = "a variable"
    CAMEL_CASE: ClassVar[bool] = True

    content: bytes
    mime_type: str = JSON_TYPE


class VariableStore(Protocol):
    """A store of variables, where workflows run for real. Both methods raise StoreUnavailable."""

    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Return what the variable holds, or None if there is none."""

    async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        """Let each variable hold its value; None takes it away. Those of one scope change together.

        A write whose *write_id* was seen before changes nothing in the scopes that it changed then: it was repeated,
        since its maker was lost before it could tell. Raises PayloadTooLarge if a scope cannot hold so much.
        """
