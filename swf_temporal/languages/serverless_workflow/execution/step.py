"""The results of running a state's body, and of a walk."""

from dataclasses import dataclass

from swf_temporal.data import JSON
from swf_temporal.errors import WorkflowFault
from swf_temporal.languages.serverless_workflow.model.states import End


@dataclass(slots=True)  # not frozen: each state has some, and that would double what they cost
class Step:
    """The data a state's body ended with, and by which exit the state is left.

    `exit` is `own` for the state's own transition or end, `condition 2` or `default` for those of a switch, `error 0`
    for those of an onErrors entry. `entry 1` is the way of an entry of an event state, `to Repair` leads to that state,
    and `nowhere` is an end without more.
    """

    data: JSON
    exit: str = "own"


@dataclass(slots=True)  # not frozen: as above
class Ended:
    """The end of a walk, and its data."""

    data: JSON
    end: End


class Terminated(Exception):  # noqa: N818 - an end, not an error
    """An end within a branch or an iteration that ends the whole instance."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended)
        self.ended = ended


class Diverted(Exception):  # noqa: N818 - a way, not an error
    """A retry that has been used up leads to another state than the one that the state would lead to."""

    def __init__(self, next_state: str, fault: WorkflowFault | None) -> None:
        super().__init__(next_state)
        self.next_state = next_state
        self.fault = fault
        """What was tried in vain; none where it was a result that was not wanted."""
