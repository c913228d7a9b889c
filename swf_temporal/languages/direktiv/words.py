"""The words for types of states, functions and starts.

They stand apart from the model, so that telling a definition of another language from this one does not import it.

A definition says it under `compat`, a key of ours. So it travels with the text that a run carries, and a replay reads
the same; and definitions of different ages stand side by side in one folder.
"""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from swf_temporal.expressions.structured import FAILED, NOT_OBJECT

NAME: Final = "direktiv"
"""By which the language is known in records and descriptions."""

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
"""The text; the engine at the revision of the text, of February 2022; releases: v0.6.1, v0.7.1, v0.8 and later."""


@dataclass(frozen=True, slots=True)
class Compat:
    null_fails: bool = False
    """Whether a query that yields null is an error."""
    several: str = NOT_OBJECT
    """The code of the error of several results where there can be one."""
    array: Literal["any", "results", "one"] = "any"
    """The elements of a foreach: several results or those of an array; the results themselves; those of one array."""
    setting: Literal["null deletes", "stores", "nothing deletes"] = "null deletes"
    """What a setter does with null: deletes, stores it; or deletes, as it does with all that is empty."""


_SINCE_0_7: Final = Compat(null_fails=True, several=FAILED, array="one", setting="nothing deletes")
_READINGS: Final[dict[Revision, Compat]] = {
    "text": Compat(),
    "engine": Compat(array="results", setting="stores"),
    "v0.6": Compat(null_fails=True, array="one", setting="stores"),
    "v0.7": _SINCE_0_7,
    "v0.8": _SINCE_0_7,
}


def compat_of(revision: Revision | None) -> Compat:
    """Return the reading of a definition; that of the text where it says none."""
    return _READINGS[revision or "text"]
