"""The vocabulary of a version: how the form of its definitions differs from the model, and its JSON Schema."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.normalizing import TRUTHS, Spelling

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


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Keys, types and forms of definitions that differ from *model*."""

    model: type[Node] = Workflow
    spellings: Mapping[type[Node], Spelling] = field(default_factory=dict)
    """The other forms of each kind of node."""
    accepted: Mapping[type[Node], Accepted] = field(default_factory=dict)
    """The input that the steps of `spellings` accept, for the JSON Schema."""
    state_types: Mapping[str, str] = field(default_factory=dict)
    """The types of states that have another name in the model."""
    later: Mapping[type[Node], Collection[str]] = field(default_factory=dict)
    """The properties of later versions, or with other names in the model: read, but not in the JSON Schema."""

    def then(self, newer: "Vocabulary") -> "Vocabulary":
        """Return this vocabulary, extended by that of a newer version.

        Its steps run before those of *newer* and prepare their input. Words that *newer* renamed stay valid.
        """
        renamed = {kind: one.renamed.keys() for kind, one in self.spellings.items()}
        later = {kind: set(names) - renamed.get(kind, set()) for kind, names in newer.later.items()}
        return Vocabulary(
            self.model,
            spellings=_joined(self.spellings, newer.spellings, Spelling.then),
            accepted=_joined(self.accepted, newer.accepted, Accepted.then),
            state_types={**self.state_types, **newer.state_types},
            later=_joined(self.later, later, lambda own, others: {*own, *others}),
        )


def _joined(
    own: Mapping[type[Node], T], newer: Mapping[type[Node], T], join: Callable[[T, T], T]
) -> Mapping[type[Node], T]:
    return {**newer, **{kind: join(one, newer[kind]) if kind in newer else one for kind, one in own.items()}}
