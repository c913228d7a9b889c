"""The language version of a definition, as far as it matters after reading."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from swf_temporal.base.data import JSON

LANGUAGE_NAME: Final = "serverless-workflow"
"""The name of the language in records and descriptions."""

REQUEST_FACTS: Final[Mapping[str, JSON]] = {
    "headers": {}, "identity": "anonymous",
    "prevActionResult": None, "statusCode": None, "statusMessage": None, "responseHeaders": {}, "python": {},
    "variables": {},
}  # fmt: skip
"""The further fields of `$WORKFLOW` if a version `tells_of_requests`, with their initial values."""


class DataFlowKind(Enum):
    """The kinds of data flow between a state, its actions and events, implemented in `execution/data_flow.py`."""

    MERGING = auto()
    """Filters select, and results are merged."""
    REPLACING = auto()
    """Like merging, but an array replaces another one, and so do the results of iterations; values of different kinds
    are both kept."""
    KEYED_MERGING = auto()
    """The value that a path selects is merged under the last name on the path."""
    LAST_KEYS = auto()
    """The value that a path selects is put into the data under the last key of the path."""
    PIPELINE = auto()
    """The output of each part is the input of the next."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LanguageVersion:
    """The semantics and words by which a version of the language differs from others."""

    name: str
    """Its name in descriptions and options, such as "0.8"."""
    state_word: str = "state"
    """The word for a state. Definitions hold their states under the plural of it."""
    handler: str = "onErrors entry"
    """The words for the part of a state that handles an error."""
    slow_call: str = (
        "give it a timeout (actionExecTimeout), or mark it as long-running (longRunning: 'true' in the metadata of the "
        "function, or onParentComplete: continue of the sub-workflow)"
    )
    """Advice for authors about a call that delays its instance."""
    data_flow: DataFlowKind = DataFlowKind.MERGING
    expression_lang: str | None = None
    """The expression language of this version only, in addition to the common ones."""
    path_synonyms: Mapping[str, str] = field(default_factory=dict)
    """Names in paths of its examples that differ from its text."""
    closest_handler: bool = False
    """Whether the most specific handler of an error is taken, and not the first that covers it."""
    tells_of_requests: bool = False
    """Whether `$WORKFLOW` has the request that started the instance and the responses of calls, and whether a state
    that ends can fail the instance with a message in its metadata."""
    narrow_truths: bool = False
    """Whether conditions hold only for true, the text "true" and numbers except 0, not for all but false and null."""
    filters_objects: bool = False
    """Whether a filter in a JSONPath applies to an object itself, and not to its members."""
    defines_errors: bool = True
    """Whether errors must be defined, and not just named where they are handled."""
    has_semantic_versions: bool = False
    """Whether the versions of workflows follow semantic versioning."""

    @property
    def states_key(self) -> str:
        """The key under which definitions hold their states."""
        return f"{self.state_word}s"
