"""The onErrors entry of a state that handles a fault (section "Defining Errors")."""

from swf_temporal.errors import TimedOut, WorkflowFault
from swf_temporal.languages.serverless_workflow.model.states import OnError, StateBase
from swf_temporal.runtime.error_matching import ErrorName, covers


def handler_of(state: StateBase, errors: dict[str, ErrorName], fault: WorkflowFault) -> OnError | None:
    """Return the first onErrors entry of *state* that covers *fault*, in the order written.

    Raises ExpressionLimitExceeded where that cannot be told in time.
    """
    if not fault.catchable:
        return None
    for entry in state.on_errors:
        if any(covers(name, fault, slow_is_fatal=True) for name in _names(entry, errors)):
            return entry
    return None


def handler_of_timeout(state: StateBase, errors: dict[str, ErrorName], fault: TimedOut) -> OnError | None:
    """Return the onErrors entry that asks for a timeout by name.

    A missed event is not an error unless the author says so; an entry that merely catches everything does not say so.
    """
    return next((one for one in state.on_errors if any(fault.name in name for name in _names(one, errors))), None)


def _names(entry: OnError, errors: dict[str, ErrorName]) -> list[ErrorName]:
    return [(ref, entry.code) if entry.code is not None else errors.get(ref, (ref, None)) for ref in entry.error_refs]
