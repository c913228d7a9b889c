"""The versions of the language that are read by one model: each is a module here, and stands in a line of CHAINS."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import StateBase
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling
from swf_temporal.languages.serverless_workflow.reading.schema_spellings import Accepted
from swf_temporal.languages.serverless_workflow.reading.versions import (
    before_0_8,
    v0_5,
    v0_6,
    v0_7,
    v0_8,
    v0_8_next,
)
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.text.located import Object
from swf_temporal.text.origin import Source

_PRESENT: Final = (v0_8.VERSION, v0_8_next.VERSION)

CHAINS: Final[Mapping[str, tuple[Version, ...]]] = {
    "0.5": (v0_5.VERSION, v0_6.VERSION, *_PRESENT),
    "0.6": (v0_6.VERSION, *_PRESENT),
    "0.7": (v0_7.VERSION, before_0_8.VERSION, *_PRESENT),
    "0.8": (before_0_8.VERSION, *_PRESENT),
    "0.8-next": (before_0_8.VERSION, *_PRESENT),
}
"""By the version of a definition, all whose words it may have, the oldest first.

A step of an older version makes of a node what the steps of later ones expect.
"""

PRESENT: Final = "0.8"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The vocabulary of one version: its keys, types and words."""

    spellings: Mapping[type[Node], Spelling]
    accepted: Mapping[type[Node], Accepted]
    state_types: Mapping[str, str]
    """The types of states that are called otherwise in the model."""
    later: Mapping[type[Node], frozenset[str]]
    """What of the model is not of this version."""
    words: Mapping[str, tuple[str, ...]]
    """What messages say in place of the model's words."""


@cache
def vocabulary_of(version: str) -> Vocabulary:
    """Return how definitions of *version* may be written."""
    chain = CHAINS[version]
    later: dict[type[Node], frozenset[str]] = {}
    for one in chain:
        for kind, names in one.later.items():
            # What a version after this one renamed is still its own word.
            later[kind] = later.get(kind, frozenset()) | (frozenset(names) - chain[0].spelling(kind).renamed.keys())
    return Vocabulary(
        spellings=_spellings(chain),
        accepted=_accepted(chain),
        state_types={old: new for one in chain for old, new in one.state_types.items()},
        later=later,
        words=next(one for one in chain if one.name == version).words,
    )


def normalizer_of(source: Source, version: str) -> Normalizer:
    """Return what rewrites a definition of *version* in *source* as the model has it."""
    return Normalizer(source, vocabulary_of(version).spellings, StateBase)


def normalize(root: Object, normalizer: Normalizer, version: str) -> None:
    """Rewrite the definition *root*, of *version*, in place, so that the model can be built from it."""
    normalizer.normalize(Workflow, root, root.where.position)
    root["languageVersion"] = version


def _spellings(chain: tuple[Version, ...]) -> dict[type[Node], Spelling]:
    found: dict[type[Node], Spelling] = {}
    for one in chain:
        for kind, more in one.spellings.items():
            known = found.get(kind, Spelling())
            found[kind] = Spelling(
                short=more.short or known.short,
                renamed={**known.renamed, **more.renamed},
                tolerated={**known.tolerated, **more.tolerated},
                steps=(*known.steps, *more.steps),
            )
    return found


def _accepted(chain: tuple[Version, ...]) -> dict[type[Node], Accepted]:
    found: dict[type[Node], Accepted] = {}
    for one in chain:
        for kind, more in one.accepted.items():
            known = found.get(kind, Accepted())
            instead = {
                name: (*known.instead.get(name, ()), *more.instead.get(name, ()))
                for name in {**known.instead, **more.instead}
            }
            found[kind] = Accepted(
                more={**known.more, **more.more},
                widened={**known.widened, **more.widened},
                instead=instead,
                is_open=known.is_open or more.is_open,
            )
    return found
