"""Changes of an instance's data from outside, by an update that carries a JSON merge patch (RFC 7396).

The instance takes no further step until the data of its running state are changed; then the answer comes.
"""

from typing import Any

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from swf_temporal.base.data import JSON
from swf_temporal.runtime.run import Run
from swf_temporal.temporal.constants import CHANGE_DATA, CHANGE_REFUSED
from swf_temporal.temporal.instance_part import Instance, Part
from swf_temporal.temporal.workflow_input import UNREADABLE, value_of


class DataChanges(Part):
    """Takes changes for the runs of one execution, one after the other."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        workflow.set_update_handler(CHANGE_DATA, self.change, validator=self.check)
        self._run: Run | None = None
        self._pending: list[JSON] = []
        """The changes of the running state that are to be made, whatever run goes on by then."""
        self._taken = self._made = 0
        """How many such were asked for, and how many of them were made."""
        self._is_over = False
        self._were_made = False
        """Whether the run was suspended to change its data."""

    def attend(self, run: Run) -> None:
        """Let *run* make the changes from here on."""
        self._run = run
        run.pending_changes = self._pending
        if self._pending:
            run.suspend()

    def suspended(self, *, is_over: bool) -> None:
        """Answer what was asked for: the run was suspended, and its data changed, or it *is_over*."""
        made, self._made = self._made, self._taken - len(self._pending)
        self._is_over, self._were_made = is_over, made < self._made

    def refuses_to_leave(self) -> bool:
        """Tell whether the run was suspended to change its data."""
        return self._were_made

    def close(self) -> None:
        """Refuse what was asked for and has not been made: the run is at its end."""
        self.suspended(is_over=True)
        self._pending.clear()

    async def change(self, raw: RawValue) -> None:
        """Change the data of the running state by the JSON merge patch in *raw*, between two steps."""
        assert self._run is not None  # noqa: S101 - for the type checker: see `check`
        self._run.change(_object(raw))
        self._taken += 1
        number = self._taken
        await workflow.wait_condition(lambda: self._made >= number or self._is_over)
        if self._made < number:
            raise _refused("has ended before its data could be changed")

    def check(self, raw: RawValue) -> None:
        """Refuse what is no change of a run that has begun. What is refused leaves no trace in the history."""
        run = self._run
        if run is None or run.execution.state is None:
            raise _refused("has not begun: its data cannot be changed yet")
        if run.execution.is_cancelled or self._is_over:
            raise _refused("is ending: its data are not changed any more")
        if _object(raw) is None:
            raise _refused("takes a JSON merge patch, which is an object")


def _object(raw: RawValue | None) -> dict[str, Any] | None:
    """Return the object that *raw* holds, which anyone may have written; None if that is none."""
    try:
        value = None if raw is None else value_of(raw)
    except UNREADABLE:
        return None
    return value if isinstance(value, dict) else None


def _refused(reason: str) -> ApplicationError:
    return ApplicationError(reason, type=CHANGE_REFUSED)
