"""Summaries: the texts that Temporal shows for timers, activities, children and instances.

Each is shortened to the server's limit, whatever names a definition has.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from swf_temporal.languages.port import Definition
    from swf_temporal.runtime.host import CallFacts, Timer
    from swf_temporal.runtime.variables import VariableRef

MAX_SUMMARY_BYTES: Final = 390
"""The size limit of a summary, in bytes: the server's is 400, with the quotation marks of JSON."""
MAX_SUMMARY_LENGTH: Final = 200
"""The length limit of a summary, in characters: the server's."""

YIELDING: Final = "yielding after long work"
EVALUATING: Final = "expression that may take long"
LOOKING_UP_LIMITS: Final = "limits of cycles"
LOOKING_UP_ENVIRONMENT: Final = "variables of the environment"
LOOKING_FOR_CALLER: Final = "looking for the run that waits"
LOOKING_FOR_OWNER: Final = "looking for the instance whose variables they are"
ASKING_FOR_SERVED: Final = "does this worker serve the definition?"
LOOKING_FOR_ATTRIBUTES: Final = "which search attributes are registered?"
LOOKING_FOR_INSTANCE: Final = "which run has the instance?"
FINDING_CARRIED: Final = "what did the instance carry?"
ASKING_FOR_PLACE: Final = "asking for a place"
WAITING_FOR_PLACE: Final = "asking again for a place"
LEAVING_PLACE: Final = "giving the place back"
LOOKING_FOR_ENDED: Final = "which of those that have a place have ended?"
IDLE: Final = "ends if none asks"
BEGINNING_AGAIN: Final = "retry: beginning an instance"
WAITING_FOR_ROOM: Final = "retry: an instance has no room for an event"
_WHOLE: Final = "the workflow"


def of_timer(timer: "Timer") -> str:
    return _shortened(f"{timer.purpose}: {_place(timer.state, timer.part) or _WHOLE}")


def of_call(call: "CallFacts") -> str:
    """Return the summary of an action that calls a function or runs a sub-workflow."""
    return _shortened(_place(call.state, call.action))


def of_event(event_type: str) -> str:
    return _shortened(event_type)


def of_instance(definition: "Definition") -> str:
    return _shortened(definition.name or definition.id)


def of_instance_by_id(definition_id: str) -> str:
    """Return the summary of an instance whose definition only the worker knows."""
    return _shortened(definition_id)


def of_mailbox(definition_id: str) -> str:
    """Return the summary of the mailbox of a definition's instances."""
    return _shortened(f"events of {definition_id}")


def of_places(definition_id: str) -> str:
    """Return the summary of the workflow that limits concurrent instances of a definition."""
    return _shortened(f"places of {definition_id}")


def of_look_up(definition_id: str) -> str:
    return _shortened(f"definition of {definition_id}")


def of_variable(variable: "VariableRef") -> str:
    """Return the summary of an activity that reads or writes a variable."""
    return _shortened(f"{variable.scope} variable {variable.key}")


def of_variable_store(where: str) -> str:
    """Return the summary of the record that says where a task queue keeps its variables."""
    return _shortened(f"variables of this task queue are in {where}")


def _place(*names: str) -> str:
    """Return the path of something in the definition."""
    return " › ".join(filter(None, names))


def _shortened(text: str) -> str:
    written = text.encode(errors="replace")
    if len(text) <= MAX_SUMMARY_LENGTH and len(written) <= MAX_SUMMARY_BYTES:
        return text
    return written[:MAX_SUMMARY_BYTES].decode(errors="ignore")[: MAX_SUMMARY_LENGTH - 1] + "…"
