"""Variables that outlive a step: named bytes with a MIME type, in a scope that says who shares them."""

from dataclasses import dataclass
from typing import Final, Literal

JSON_TYPE: Final = "application/json"

Scope = Literal["instance", "workflow", "namespace"]


@dataclass(frozen=True, slots=True)
class VariableRef:
    """Which variable is meant."""

    scope: Scope
    owner: str
    """The instance, the workflow or the namespace that it belongs to."""
    key: str


@dataclass(frozen=True, slots=True)
class Variable:
    """What a variable holds."""

    content: bytes
    mime_type: str = JSON_TYPE
