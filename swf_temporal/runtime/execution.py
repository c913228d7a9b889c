"""The execution of one instance by its language, as the run and the hosts see it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from swf_temporal.data import JSON
from swf_temporal.runtime.host import Completed, ContinuedAs

if TYPE_CHECKING:
    from swf_temporal.runtime.run import Run


class Execution(Protocol):
    """The execution of one instance by a language."""

    async def execute(self) -> Completed | ContinuedAs:
        """Run to the end. Raises the WorkflowFault that the workflow failed with."""

    def record(self) -> Mapping[str, object]:
        """Return what of its own must survive a suspension, under keys that the run's own record does not have."""

    def abandon(self) -> None:
        """Learn that nothing will happen any more: what waits is ended, and nothing is undone."""

    @property
    def state(self) -> str | None:
        """The name of the part of the definition that is running now."""

    @property
    def data(self) -> JSON:
        """The data that this part began with."""

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


class ExecutionBase(ABC):
    """An execution whose whole progress stands in the frame of its run: `state` and `data` of it are what is running.

    A language that catches no errors and has no timeout of the workflow needs no more than `execute`.
    """

    error: JSON = None
    metadata: JSON = None
    is_cancelled = False
    is_expired = False

    def __init__(self, run: "Run") -> None:
        self.run = run

    @abstractmethod
    async def execute(self) -> Completed | ContinuedAs:
        """Run to the end. Raises the WorkflowFault that the workflow failed with."""

    def record(self) -> dict[str, Any]:
        """Return nothing: the frame says it all."""
        return {}

    def abandon(self) -> None:  # noqa: B027 - most languages undo nothing, and need not say so
        """Do nothing: nothing would be undone."""

    @property
    def state(self) -> str | None:
        """The path of the part that is running now."""
        state: str | None = self.run.frame.get("state")
        return state

    @property
    def data(self) -> JSON:
        """The data that this part began with."""
        data: JSON = self.run.frame.get("data", self.run.input)
        return data
