"""A version of the language, as readers of definitions see it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import Spelling
from swf_temporal.languages.serverless_workflow.reading.schema_spellings import Accepted


@dataclass(frozen=True, slots=True)
class Version:
    """One version: what it is called, what gives it away, and what it writes otherwise than the model."""

    name: str
    """What descriptions call it."""
    state_types: Mapping[str, str] = field(default_factory=dict)
    """The types of states that are called otherwise now."""
    spellings: Mapping[type[Node], Spelling] = field(default_factory=dict)
    """How each kind of node may be written."""
    accepted: Mapping[type[Node], Accepted] = field(default_factory=dict)
    """What the steps of `spellings` accept, for the JSON Schema."""
    later: Mapping[type[Node], tuple[str, ...]] = field(default_factory=dict)
    """The properties that came later, or are called otherwise in the model: read, but not in the JSON Schema."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The present words that messages would have, and the version's own in their place."""

    def spelling(self, kind: type[Node]) -> Spelling:
        """Return how else this version writes nodes of *kind*."""
        return self.spellings.get(kind, Spelling())
