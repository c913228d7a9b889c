"""The results of a state's body and of a walk."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.base.records import Record
from swf_temporal.languages.serverless_workflow.model.states import End


@dataclass(slots=True)
class ByCondition(Record):
    KIND: ClassVar[str] = "condition"
    index: int


@dataclass(slots=True)
class ByDefault(Record):
    KIND: ClassVar[str] = "default"


@dataclass(slots=True)
class ByEntry(Record):
    """Exit by an entry of an event state."""

    KIND: ClassVar[str] = "entry"
    index: int


@dataclass(slots=True)
class ByError(Record):
    KIND: ClassVar[str] = "error"
    index: int


@dataclass(slots=True)
class ToState(Record):
    """Exit to a state that neither the state nor its onErrors lead to."""

    KIND: ClassVar[str] = "state"
    name: str


@dataclass(slots=True)
class Nowhere(Record):
    """Exit by a plain end."""

    KIND: ClassVar[str] = "nowhere"


Exit: TypeAlias = ByCondition | ByDefault | ByEntry | ByError | ToState | Nowhere
"""The exit by which a state is left, if not its own transition or end."""


@dataclass(slots=True)  # not frozen: each state has some, and that would double what they cost
class Step(Record):
    """The data a state's body ended with, and by which exit the state is left."""

    data: JSON
    exit: Exit | None = None
    """None means its own transition or end."""


@dataclass(slots=True)  # not frozen: as above
class Ended:
    """The end of a walk, and its data."""

    data: JSON
    end: End


class Terminated(Exception):  # noqa: N818 - an end, not an error
    """An end in a branch or an iteration that ends the whole instance."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended)
        self.ended = ended


class Diverted(Exception):  # noqa: N818 - a way, not an error
    """A used-up retry leads to the state that it names, instead of the state's transition."""

    def __init__(self, next_state: str, fault: WorkflowFault | None) -> None:
        super().__init__(next_state)
        self.next_state = next_state
        self.fault = fault
        """The fault of the last attempt; None if the retry was for a result."""
