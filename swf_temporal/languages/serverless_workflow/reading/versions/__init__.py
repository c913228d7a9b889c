"""The versions of the language that are read as one vocabulary: each is a module here, and a line in VERSIONS."""

from collections.abc import Mapping
from typing import Final

from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import StateBase
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling
from swf_temporal.languages.serverless_workflow.reading.schema_spellings import Accepted
from swf_temporal.languages.serverless_workflow.reading.versions import before_0_8, v0_8, v0_8_next
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.text.located import Object
from swf_temporal.text.origin import Source

VERSIONS: Final[tuple[Version, ...]] = (before_0_8.VERSION, v0_8.VERSION, v0_8_next.VERSION)
"""The oldest first: a step of an older version makes of a node what the steps of later ones expect."""

DEFAULT: Final = v0_8.VERSION
"""The version of a definition that nothing gives away."""

STATE_TYPES: Final[Mapping[str, str]] = {old: new for one in VERSIONS for old, new in one.state_types.items()}
"""The types of states that are called otherwise now."""


def normalizer_of(source: Source) -> Normalizer:
    """Return what rewrites a definition in *source* as the model has it, whichever version it is written in."""
    given_away = {kind: dict.fromkeys(keys, one.name) for one in VERSIONS for kind, keys in one.keys.items()}
    return Normalizer(source, SPELLINGS, StateBase, given_away)


def normalize(root: Object, normalizer: Normalizer) -> None:
    """Rewrite the definition *root* in place, so that the model can be built from it."""
    normalizer.normalize(Workflow, root, root.where.position)
    root["languageVersion"] = next(
        (one.name for one in reversed(VERSIONS) if one.name in normalizer.versions), DEFAULT.name
    )


def _spellings() -> dict[type[Node], Spelling]:
    found: dict[type[Node], Spelling] = {}
    for one in VERSIONS:
        for kind, more in one.spellings.items():
            known = found.get(kind, Spelling())
            found[kind] = Spelling(
                short=more.short or known.short,
                renamed={**known.renamed, **more.renamed},
                tolerated={**known.tolerated, **more.tolerated},
                steps=(*known.steps, *more.steps),
            )
    return found


def _accepted() -> dict[type[Node], Accepted]:
    found: dict[type[Node], Accepted] = {}
    for one in VERSIONS:
        for kind, more in one.accepted.items():
            known = found.get(kind, Accepted())
            found[kind] = Accepted(
                more={**known.more, **more.more},
                widened={**known.widened, **more.widened},
                instead={**known.instead, **more.instead},
                is_open=known.is_open or more.is_open,
            )
    return found


SPELLINGS: Final[Mapping[type[Node], Spelling]] = _spellings()
"""How else than in the model's way each kind of node may be written, in any version."""

ACCEPTED: Final[Mapping[type[Node], Accepted]] = _accepted()
"""What the JSON Schema accepts besides, in any version."""
