"""A version of the language: its markers, its vocabulary, and the modules that rewrite its definitions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from swf_temporal.languages.serverless_workflow.model.version import LanguageVersion
from swf_temporal.languages.serverless_workflow.reading.versions.marks import VersionEvidence, VersionMarker
from swf_temporal.languages.serverless_workflow.reading.vocabulary import Vocabulary
from swf_temporal.text.located import Object

AS_IN_MODEL: Final = Vocabulary()
"""The vocabulary of a version in the form of the model."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Version(LanguageVersion):
    """One version, with everything that belongs to it. `VERSIONS` lists all."""

    title: str
    """Its name for people, such as "Serverless Workflow 0.6"."""
    also_named: tuple[str, ...] = ()
    """Versions that are identical to this one."""

    number: str | None
    """The version number in its definitions; None for a draft, which has none."""
    must_say_number: bool = True
    """Whether its definitions have to state their version."""
    tolerates_older_words: bool = False
    """Whether words of older versions are read in it as well: then they are not evidence for those versions."""
    last_keys: tuple[VersionMarker, ...] = ()
    """The keys that no later version has."""
    first_keys: tuple[VersionMarker, ...] = ()
    """The keys that no earlier version has."""
    shape: Callable[[Object], VersionEvidence | None] | None = None
    """The shape of documents of a draft, by more than single keys and regardless of the stated number."""

    vocabulary: Vocabulary = AS_IN_MODEL
    """The form of its definitions."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The present words in messages, and its own words for them."""
    reader: str | None = None
    """The module with the `READER` of a draft, whose documents do not fit the model with a vocabulary."""

    upgraders: tuple[str, ...] = ()
    """The modules whose `upgrade(root, report)` converts its definitions to 0.8; a draft is lowered before."""
    writers: tuple[str, ...] | None = None
    """The modules that convert definitions of 0.8 to this version; None if that is not supported."""
