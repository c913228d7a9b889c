"""Errors as expressions see them; in the draft of May 2020 also conditions (its "Workflow Error Handling")."""

from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault

_MORE: Final = ("code", "status", "body")


def public(fault: WorkflowFault) -> dict[str, JSON]:
    """Return what a workflow sees of *fault* as `$WORKFLOW.error`."""
    return {
        "name": fault.name,
        "code": fault.code,
        "message": fault.message,
        "state": fault.state,
        "action": fault.action,
        "status": fault.status,
        "body": fault.body,
    }


def error_of(fault: WorkflowFault, state_word: str) -> dict[str, JSON]:
    """Return the object `error`: the name, message and trace of *fault*, and what else is known of it."""
    known = {state_word: fault.state, "action": fault.action}
    place = ", ".join(f"{word} {name!r}" for word, name in known.items() if name is not None)
    trace = f"{fault.name}: {fault.message}" + (f" (in {place})" if place else "")
    more = {key: value for key, value in public(fault).items() if key in _MORE and value is not None}
    return {"name": fault.name, "message": fault.message, "trace": trace, **more}


def with_error(data: JSON, fault: WorkflowFault | None, state_word: str, before: JSON = None) -> dict[str, JSON]:
    """Return what a condition sees: *data* and, if there was one, the error.

    An error that was in the data *before* belongs to an earlier state and is removed.

    The properties of an error are visible by their names, and the whole error as `error` and, as in examples of the
    draft, as `exception`.
    """
    seen = dict(data) if isinstance(data, dict) else {}
    if isinstance(before, dict):
        for key in ("error", "exception"):
            if key in seen and seen[key] == before.get(key):
                del seen[key]
    if fault is not None:
        error = error_of(fault, state_word)
        seen |= {**error, "error": error, "exception": error}
    return seen
