"""The plan of a state: what surrounds its body, prepared once."""

from dataclasses import dataclass

from swf_temporal.languages.serverless_workflow.model.states import StateTimeouts


@dataclass(frozen=True, slots=True)
class StatePlan:
    """The plan of a state: its timeouts, whether it is retried, and which events it waits for."""

    timeouts: StateTimeouts
    """Its own, and those that it inherits from the workflow."""
    is_limited: bool
    """Whether the state itself has a timeout."""
    retries_errors: bool
    """Whether entries of its onErrors try it again."""
    events: tuple[str, ...]
    """Of an event state: the names of the events of all its entries."""
