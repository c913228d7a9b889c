"""The JSON Schema of spellings whose shape is not the model's.

Other names of a property follow from the `Spelling`s of a version. For their steps, the accepted input is defined
here once more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import TRUTHS

Schema: TypeAlias = dict[str, Any]

TEXT: Schema = {"type": ["string", "number"]}
"""A text, which may be written as a number."""

TRUTH_PATTERN = f"^({'|'.join(''.join(f'[{c.upper()}{c}]' for c in word) for word in TRUTHS)})$"
"""The texts that are read as true or false."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The further properties that a kind of node may have, and the other shapes of its properties."""

    more: Mapping[str, Schema] = field(default_factory=dict)
    """Properties that are moved or rewritten in reading."""
    widened: Mapping[str, Schema] = field(default_factory=dict)
    """Further shapes of properties."""
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The alternatives to required properties."""
    is_open: bool = False
    """Whether it may have undefined properties."""

    def then(self, newer: "Accepted") -> "Accepted":
        names = {**self.instead, **newer.instead}
        return Accepted(
            more={**self.more, **newer.more},
            widened={**self.widened, **newer.widened},
            instead={name: (*self.instead.get(name, ()), *newer.instead.get(name, ())) for name in names},
            is_open=self.is_open or newer.is_open,
        )


def to(kind: type[Node]) -> Schema:
    return {"$ref": f"#/$defs/{kind.__name__}"}
