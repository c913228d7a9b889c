"""A version of the language: what shows it, how it is written, and what makes another version of its definitions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from swf_temporal.languages.serverless_workflow.model.version import LanguageVersion
from swf_temporal.languages.serverless_workflow.reading.versions.marks import VersionEvidence, VersionMarker
from swf_temporal.languages.serverless_workflow.reading.vocabulary import Vocabulary
from swf_temporal.text.located import Object

AS_IN_MODEL: Final = Vocabulary()
"""The vocabulary of a version that writes all as the model has it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Version(LanguageVersion):
    """One version, with all that belongs to it. `VERSIONS` has them all."""

    title: str
    """What people call it, such as "Serverless Workflow 0.6"."""
    also_named: tuple[str, ...] = ()
    """Versions whose definitions are those of this one."""

    number: str | None
    """What its definitions say as their version; None for a draft, which has no number."""
    must_say_number: bool = True
    """Whether its definitions have to say which version they are of."""
    tolerates_older_words: bool = False
    """Whether words of older versions are read in it as well: they do not show that a definition is of those."""
    last_keys: tuple[VersionMarker, ...] = ()
    """The keys that no later version has."""
    first_keys: tuple[VersionMarker, ...] = ()
    """The keys that no earlier version has."""
    shape: Callable[[Object], VersionEvidence | None] | None = None
    """What shows that a document is of a draft, by more than single keys and whatever number it says."""

    vocabulary: Vocabulary = AS_IN_MODEL
    """How its definitions are written."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The present words that messages would have, and its own in their place."""
    reader: str | None = None
    """The module with the `READER` of a draft, whose documents are not built as the model by a vocabulary."""

    upgraders: tuple[str, ...] = ()
    """The modules whose `upgrade(root, report)` make one of 0.8 of its definitions; a draft is lowered before."""
    writers: tuple[str, ...] | None = None
    """The modules that do so with one of 0.8 for this version; None if definitions are not rewritten in it."""
