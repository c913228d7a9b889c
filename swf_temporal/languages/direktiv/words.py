"""The names of the types of states, functions and starts, and the revisions of Direktiv.

They are separate from the model, so that detecting the language of a definition does not import it.

A definition sets its revision under `compat`, our own key. So it is part of the text that a run carries, and a replay
reads the same; and definitions of different ages can be in one folder.
"""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from swf_temporal.expressions.structured import FAILED, NOT_OBJECT

NAME: Final = "direktiv"
"""The name of the language in records and descriptions."""

STATE_TYPES: Final = (
    "action", "consumeEvent", "delay", "error", "eventsAnd", "eventsXor", "foreach", "generateEvent", "getter", "noop",
    "parallel", "setter", "switch", "validate", "eventAnd", "eventXor",
)  # fmt: skip
"""The last two are other spellings."""
FUNCTION_TYPES: Final = (
    "knative-workflow", "knative-namespace", "knative-global", "kubernetes-job", "subflow", "reusable", "isolated",
    "knative-system",
)  # fmt: skip
START_TYPES: Final = ("default", "scheduled", "event", "eventsXor", "eventsAnd", "eventXor", "eventAnd")


Revision: TypeAlias = Literal["text", "engine", "v0.6", "v0.7", "v0.8"]
"""The specification text; the engine as of the text, February 2022; the releases v0.6.1, v0.7.1, v0.8 and later."""


@dataclass(frozen=True, slots=True)
class Compat:
    null_fails: bool = False
    """Whether a query that yields null is an error."""
    several: str = NOT_OBJECT
    """The error code for several results where only one is allowed."""
    array: Literal["any", "results", "one"] = "any"
    """The elements of a foreach: several results or one array; the results themselves; one array only."""
    setting: Literal["null deletes", "stores", "nothing deletes"] = "null deletes"
    """The effect of null on a setter: it deletes; it is stored; or it deletes, as all empty values do."""


_SINCE_0_7: Final = Compat(null_fails=True, several=FAILED, array="one", setting="nothing deletes")
_READINGS: Final[dict[Revision, Compat]] = {
    "text": Compat(),
    "engine": Compat(array="results", setting="stores"),
    "v0.6": Compat(null_fails=True, array="one", setting="stores"),
    "v0.7": _SINCE_0_7,
    "v0.8": _SINCE_0_7,
}


def compat_of(revision: Revision | None) -> Compat:
    """Return the compatibility settings of *revision*; those of the text by default."""
    return _READINGS[revision or "text"]
