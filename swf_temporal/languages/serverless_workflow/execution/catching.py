"""The onErrors entry of a state that handles a fault (section "Defining Errors")."""

from swf_temporal.base.errors import TimedOut, WorkflowFault
from swf_temporal.languages.serverless_workflow.model.states import OnError, StateBase
from swf_temporal.runtime.error_matching import ErrorName, covers, describes, is_called


def handler_of(
    state: StateBase, errors: dict[str, ErrorName], fault: WorkflowFault, *, closest: bool = False
) -> OnError | None:
    """Return the first onErrors entry of *state* that covers *fault*, in the order written.

    If the *closest* is wanted, one that has its name or code comes first, then one with a pattern. Raises
    ExpressionLimitExceeded where that cannot be told in time.
    """
    if not fault.catchable:
        return None
    named = [(entry, _names(entry, errors)) for entry in state.on_errors]
    if closest:
        for is_close in (is_called, describes):
            for entry, names in named:
                if any(is_close(name, fault) for name in names):
                    return entry
    return next((one for one, names in named if any(covers(name, fault, slow_is_fatal=True) for name in names)), None)


def handler_of_timeout(state: StateBase, errors: dict[str, ErrorName], fault: TimedOut) -> OnError | None:
    """Return the onErrors entry that asks for a timeout by name.

    A missed event is not an error unless the author says so; an entry that merely catches everything does not say so.
    """
    return next((one for one in state.on_errors if any(fault.name in name for name in _names(one, errors))), None)


def _names(entry: OnError, errors: dict[str, ErrorName]) -> list[ErrorName]:
    return [(ref, entry.code) if entry.code is not None else errors.get(ref, (ref, None)) for ref in entry.error_refs]
