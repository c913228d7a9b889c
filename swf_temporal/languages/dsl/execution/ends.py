"""The results of a task list, and of a task's work."""

from dataclasses import dataclass

from swf_temporal.base.data import JSON


@dataclass(frozen=True, slots=True)
class ListEnd:
    """The end of a task list."""

    data: JSON
    is_exit: bool = False
    """Whether a task left the list by the directive `exit`."""


@dataclass(frozen=True, slots=True)
class WorkDone:
    """The raw output of a task, and the flow directive that it follows."""

    data: JSON
    then: str | None = None


class WorkflowEnded(Exception):  # noqa: N818 - not an error: it unwinds the tasks of an instance that has ended
    """Raised by a task that ends the workflow."""

    def __init__(self, output: JSON) -> None:
        super().__init__()
        self.output = output
