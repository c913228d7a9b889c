"""What a version of the language is to those who read definitions."""

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
    numbers: tuple[str, ...] = ()
    """What `specVersion` says in definitions of this version; patches of it begin alike."""
    keys: Mapping[type[Node], tuple[str, ...]] = field(default_factory=dict)
    """The keys of nodes that no earlier version has: a definition with one of them is of this version."""
    state_types: Mapping[str, str] = field(default_factory=dict)
    """The types of states that are called otherwise now."""
    spellings: Mapping[type[Node], Spelling] = field(default_factory=dict)
    """How each kind of node may be written."""
    accepted: Mapping[type[Node], Accepted] = field(default_factory=dict)
    """What the steps of `spellings` accept, for the JSON Schema."""
