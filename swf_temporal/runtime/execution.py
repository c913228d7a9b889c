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
        """How far it is: all of it that must survive a suspension."""

    async def execute(self) -> Completed | ContinuedAs:
        """Run to the end. Raises the WorkflowFault that the workflow failed with."""

    async def concurrency_key(self) -> JSON:
        """Return what the instances have in common that are bounded with this one. Raises WorkflowFault."""

    async def search_attributes(self) -> Mapping[str, JSON | WorkflowFault]:
        """Return the values of the search attributes that the definition names, or why there is none."""

    @property
    def deadline(self) -> float | None:
        """When the time of the instance is over, as seconds of the epoch; None if that is never, or not known yet."""

    @property
    def under_way(self) -> Sequence[str]:
        """The ids of the calls and sub-workflows that are under way, or have failed: those that are made again."""

    def begin_again(self) -> None:
        """Go on from where it failed: let what was under way have its time limits, and its attempts, anew."""

    def abandon(self) -> None:
        """Learn that nothing will happen any more: what waits is ended, and nothing is undone."""

    @property
    def state(self) -> str | None:
        """The name of the part of the definition that is running now."""

    @property
    def data(self) -> JSON:
        """The data that this part began with."""

    @property
    def latest_data(self) -> JSON:
        """The data as that part has left it so far: where the run goes on if it is suspended, they may be set."""

    @latest_data.setter
    def latest_data(self, data: JSON) -> None: ...

    @property
    def error(self) -> JSON:
        """The error that was caught last, as expressions see it."""

    @property
    def metadata(self) -> JSON:
        """What the instance tells people about itself; None is nothing."""

    @property
    def is_cancelled(self) -> bool:
        """Whether it was cancelled, and undoes what it did."""

    @property
    def is_expired(self) -> bool:
        """Whether the workflow's time was over before it ended."""


@dataclass(slots=True)
class ExecutionFrame(Record):
    """How far an execution is of which one part runs after the other."""

    data: JSON
    """The data that the running part began with."""
    state: str | None = None
    """The path of that part."""
    error: JSON = None
    """The error that was caught last, as expressions see it."""
    metadata: JSON = None
    """What the instance tells people about itself."""


F = TypeVar("F", bound=ExecutionFrame)


class ExecutionBase(ABC, Generic[F]):
    """An execution of which one part runs after the other.

    A language that catches no errors and has no timeout of the workflow needs no more than `execute`.
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
        """Return nothing: its definition does not bound how many instances run at once."""
        return None

    async def search_attributes(self) -> Mapping[str, JSON | WorkflowFault]:
        """Return nothing: its definition names none."""
        return {}

    @property
    def deadline(self) -> float | None:
        """Nothing: its time is never over."""
        return None

    @property
    def under_way(self) -> Sequence[str]:
        """Nothing: what it calls has another id each time."""
        return ()

    def begin_again(self) -> None:
        """Do nothing: it has no time limits, and counts no attempts."""

    def abandon(self) -> None:
        """Do nothing: nothing would be undone."""

    @property
    def state(self) -> str | None:
        """The path of the part that is running now."""
        return self.frame.state

    @property
    def data(self) -> JSON:
        return self.frame.data

    @property
    def latest_data(self) -> JSON:
        """The data that the running part began with: what it makes of them shows at its end."""
        return self.frame.data

    @latest_data.setter
    def latest_data(self, data: JSON) -> None:
        self.frame.data = data

    @property
    def error(self) -> JSON:
        return self.frame.error

    @property
    def metadata(self) -> JSON:
        """What the instance tells people about itself."""
        return self.frame.metadata
