"""The words for types of states, functions and starts.

They stand apart from the model, so that telling a definition of another language from this one does not import it.
"""

from typing import Final

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
