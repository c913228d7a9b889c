"""Errors as expressions and data see them; conditions do in the draft of May 2020 (its "Workflow Error Handling")."""

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
    """Return the object `error`, which has a name, a message and a trace, and what else is known of *fault*."""
    known = {state_word: fault.state, "action": fault.action}
    place = ", ".join(f"{word} {name!r}" for word, name in known.items() if name is not None)
    trace = f"{fault.name}: {fault.message}" + (f" (in {place})" if place else "")
    more = {key: value for key, value in public(fault).items() if key in _MORE and value is not None}
    return {"name": fault.name, "message": fault.message, "trace": trace, **more}


def with_error(data: JSON, fault: WorkflowFault | None, state_word: str, before: JSON = None) -> dict[str, JSON]:
    """Return what a condition sees: *data* and, if there was one, the error.

    An error in data as they were *before* is one of an earlier state: it is not seen.

    Of an error it sees the properties by their names, and the whole as `error` and, as examples of the draft have it,
    as `exception`.
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
