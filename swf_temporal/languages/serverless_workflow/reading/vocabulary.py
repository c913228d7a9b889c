"""The vocabulary of a version: how its definitions are written where that is otherwise than the model has it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.normalizing import Spelling
from swf_temporal.languages.serverless_workflow.reading.schema_spellings import Accepted

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Keys, types and forms of definitions that are not those of *model*."""

    model: type[Node] = Workflow
    spellings: Mapping[type[Node], Spelling] = field(default_factory=dict)
    """How each kind of node may be written."""
    accepted: Mapping[type[Node], Accepted] = field(default_factory=dict)
    """What the steps of `spellings` accept, for the JSON Schema."""
    state_types: Mapping[str, str] = field(default_factory=dict)
    """The types of states that are called otherwise in the model."""
    later: Mapping[type[Node], Collection[str]] = field(default_factory=dict)
    """The properties that came later, or are called otherwise in the model: read, but not in the JSON Schema."""

    def then(self, newer: "Vocabulary") -> "Vocabulary":
        """Return this one with what is left to that of a newer version.

        Its steps make of a node what the steps of *newer* expect. What *newer* renamed is still a word of its own.
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
