"""The version of the language that a definition is written in, as far as it matters once the definition is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from swf_temporal.base.data import JSON

LANGUAGE_NAME: Final = "serverless-workflow"
"""By which the language is known in records and descriptions."""

REQUEST_FACTS: Final[Mapping[str, JSON]] = {
    "headers": {}, "identity": "anonymous",
    "prevActionResult": None, "statusCode": None, "statusMessage": None, "responseHeaders": {}, "python": {},
}  # fmt: skip
"""What `$WORKFLOW` has besides where a version `tells_of_requests`, as it is as long as nothing is known."""


class DataFlowKind(Enum):
    """The ways in which data flow between a state, its actions and events: `execution/data_flow.py` has them."""

    MERGING = auto()
    """Filters select, and results are merged."""
    REPLACING = auto()
    """As in merging, but an array takes the place of another one, and so do the results of iterations; where values of
    different kinds meet, none is lost."""
    KEYED_MERGING = auto()
    """What a path selects is merged under the last name on the path."""
    LAST_KEYS = auto()
    """What a path selects is put into the data under the last key of the path."""
    PIPELINE = auto()
    """The output of each part is the input of the next."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LanguageVersion:
    """What a version of the language means otherwise than others, and what it calls otherwise in messages."""

    name: str
    """What descriptions and options call it, such as "0.8"."""
    state_word: str = "state"
    """What a state is called. Definitions hold their states under the plural of it."""
    handler: str = "onErrors entry"
    """What a state handles an error by."""
    slow_call: str = (
        "give it a timeout (actionExecTimeout), or mark it as long-running (longRunning: 'true' in the metadata of the "
        "function, or onParentComplete: continue of the sub-workflow)"
    )
    """What an author can do about a call that holds its instance up."""
    data_flow: DataFlowKind = DataFlowKind.MERGING
    expression_lang: str | None = None
    """The language of expressions that this version alone has, besides those that all have."""
    path_synonyms: Mapping[str, str] = field(default_factory=dict)
    """What its examples call otherwise in paths than its text does."""
    closest_handler: bool = False
    """Whether the handler that names an error most closely is taken, and not the first that covers it."""
    tells_of_requests: bool = False
    """Whether `$WORKFLOW` has the request that began the instance and what calls answered, and whether a state that
    ends can fail the instance with a message of its metadata."""
    narrow_truths: bool = False
    """Whether conditions hold for true, the text "true" and numbers but 0 alone, and not for all but false and null."""
    defines_errors: bool = True
    """Whether errors are defined, and not merely named where they are handled."""
    has_semantic_versions: bool = False
    """Whether the versions of workflows are those of semantic versioning."""

    @property
    def states_key(self) -> str:
        """The key under which definitions hold their states."""
        return f"{self.state_word}s"
