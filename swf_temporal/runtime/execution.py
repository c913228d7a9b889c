"""The execution of one instance by its language, as the run and the hosts see it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.base.records import Record
from swf_temporal.runtime.host import Completed, ContinuedAs

if TYPE_CHECKING:
    from swf_temporal.runtime.run import Run


class Execution(Protocol):
    @property
    def frame(self) -> Record:
        """Its progress: everything that must survive a suspension."""

    async def execute(self) -> Completed | ContinuedAs:
        """Run to the end. Raises the WorkflowFault that the workflow failed with."""

    async def concurrency_key(self) -> JSON:
        """Return the key that instances share whose concurrency is bounded together. Raises WorkflowFault."""

    async def search_attributes(self) -> Mapping[str, JSON | WorkflowFault]:
        """Return the values of the search attributes that the definition names; the fault where there is no value."""

    @property
    def deadline(self) -> float | None:
        """The end of the instance's time, in seconds since the epoch; None if it has no end, or not yet."""

    @property
    def under_way(self) -> Sequence[str]:
        """The ids of calls and sub-workflows that are in progress or have failed, and are made again on resuming."""

    def begin_again(self) -> None:
        """Continue from where it failed: what was in progress gets its full time limits and attempts again."""

    def abandon(self) -> None:
        """Prepare for the end of all waits: nothing happens any more, and nothing is compensated."""

    def answer(self, query: str) -> JSON:
        """Return the answer to a query of the definition. Raises LookupError if it has none of that name."""

    @property
    def compensated_on_cancel(self) -> Sequence[str]:
        """The parts of the definition that it would compensate if it were cancelled now, in that order."""

    @property
    def state(self) -> str | None:
        """The name of the part of the definition that is running now."""

    @property
    def data(self) -> JSON:
        """The data that this part began with."""

    @property
    def latest_data(self) -> JSON:
        """The data of that part as it is now. May be set while the run is suspended; it continues with that."""

    @latest_data.setter
    def latest_data(self, data: JSON) -> None: ...

    @property
    def error(self) -> JSON:
        """The error that was caught last, as expressions see it."""

    @property
    def metadata(self) -> JSON:
        """The metadata that the instance publishes about itself; None is nothing."""

    @property
    def is_cancelled(self) -> bool:
        """Whether it was cancelled, and compensates for what it did."""

    @property
    def is_expired(self) -> bool:
        """Whether the workflow's time was over before it ended."""


@dataclass(slots=True)
class ExecutionFrame(Record):
    """The progress of an execution whose parts run one after the other."""

    data: JSON
    """The data that the running part began with."""
    state: str | None = None
    """The path of that part."""
    error: JSON = None
    """The error that was caught last, as expressions see it."""
    metadata: JSON = None
    """The metadata that the instance publishes about itself."""


F = TypeVar("F", bound=ExecutionFrame)


class ExecutionBase(ABC, Generic[F]):
    """An execution whose parts run one after the other.

    A language that neither catches errors nor has a timeout of the workflow implements `execute` alone.
    """

    is_cancelled = False
    is_expired = False

    def __init__(self, run: "Run", frame: F) -> None:
        self.run = run
        self.frame = frame

    @abstractmethod
    async def execute(self) -> Completed | ContinuedAs:
        """Run to the end. Raises the WorkflowFault that the workflow failed with."""

    async def concurrency_key(self) -> JSON:
        """Return None: its definition does not bound how many instances run at once."""
        return None

    async def search_attributes(self) -> Mapping[str, JSON | WorkflowFault]:
        """Return none: its definition names none."""
        return {}

    @property
    def deadline(self) -> float | None:
        """None: it has no deadline."""
        return None

    @property
    def under_way(self) -> Sequence[str]:
        """Empty: its calls have another id each time."""
        return ()

    def begin_again(self) -> None:
        """Do nothing: it has no time limits, and counts no attempts."""

    def abandon(self) -> None:
        """Do nothing: nothing would be compensated."""

    def answer(self, query: str) -> JSON:
        """Raise LookupError: its definition answers no queries."""
        raise LookupError(query)

    @property
    def compensated_on_cancel(self) -> Sequence[str]:
        """Empty: its language has no compensation."""
        return ()

    @property
    def state(self) -> str | None:
        """The path of the part that is running now."""
        return self.frame.state

    @property
    def data(self) -> JSON:
        return self.frame.data

    @property
    def latest_data(self) -> JSON:
        """The data that the running part began with: its changes are visible once it ends."""
        return self.frame.data

    @latest_data.setter
    def latest_data(self, data: JSON) -> None:
        self.frame.data = data

    @property
    def error(self) -> JSON:
        return self.frame.error

    @property
    def metadata(self) -> JSON:
        """The metadata that the instance publishes about itself."""
        return self.frame.metadata
