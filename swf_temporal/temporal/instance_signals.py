"""Signals from a mailbox to instances of its definition only, and not to other workflows with the id of one.

Theory of operation. Any client that may start workflows can start one under the id of an instance that has ended, or
has yet to be started. So a signal goes to a run, and not to an id: to the run that the mailbox has started, or has
looked up by a local activity. The run that an instance continues as is looked up once the signal to the previous one
has failed. An instance that continues as another definition no longer belongs to this one, though it keeps the id.

A running instance for which the server refuses a signal has received as many as one execution may have; it may be
paused, or making a long call. It has not ended, so the signal is sent again until there is room for it.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Final

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.exceptions import FailureError

from swf_temporal.base.data import JSON
from swf_temporal.events.routing import definition_of_mailbox
from swf_temporal.temporal import summaries
from swf_temporal.temporal.statuses import running_execution

FIND: Final = "find instance"
"""The local activity that looks up an instance of a mailbox."""
_HANDED_OVER: Final = "handed over"
"""Its answer for an instance that the mailbox has started, and that has continued as another definition."""
_ATTEMPT: Final = timedelta(seconds=10)
"""The time limit of one lookup."""
_TRIES: Final = 5
"""How often an instance is looked up that continues as new meanwhile."""
_PAUSE, _MAX_PAUSE = timedelta(seconds=1), timedelta(minutes=1)


def pauses() -> Iterator[timedelta]:
    """Yield the pauses between attempts to start or reach an instance, or until it has room.

    Each is twice as long as the one before.
    """
    pause = _PAUSE
    while True:
        yield pause
        pause = min(2 * pause, _MAX_PAUSE)


class InstanceSignals:
    """Signals instances, in the workflow of a mailbox."""

    def __init__(self, continue_if_long: Callable[[], None]) -> None:
        """Send signals for a workflow that may continue as new by *continue_if_long*, and then repeats the signal."""
        self.runs: dict[str, str] = {}
        """The known runs, by the ids of instances."""
        self.handed_over = False
        """True if the instance that was looked up last has continued as another definition, and is still running."""
        self._continue_if_long = continue_if_long

    async def send(self, instance: str, name: str, value: Mapping[str, JSON], *, insists: bool = True) -> bool:
        """Send a signal to an instance; return whether it is running. If *insists*, wait until it has room."""
        tries, waits, refusing = 0, pauses(), ""
        while tries < _TRIES:
            run = self.runs.get(instance) or await _found(instance)
            self.handed_over = run == _HANDED_OVER
            if not run or self.handed_over:
                return False
            if run != refusing:
                tries += 1
            elif not insists:
                return True
            else:
                await self._wait_for_room(instance, next(waits))
            try:
                await workflow.get_external_workflow_handle(instance, run_id=run).signal(name, value)
            except FailureError:
                self.runs.pop(instance, None)
                refusing = run
            else:
                self.runs[instance] = run
                return True
        return False

    async def _wait_for_room(self, instance: str, pause: timedelta) -> None:
        if pause == _PAUSE:
            mailbox = workflow.info().workflow_id
            workflow.logger.warning("%s waits: the instance %r has no room for an event now", mailbox, instance)
        self._continue_if_long()
        await workflow.sleep(pause, summary=summaries.WAITING_FOR_ROOM)


async def _found(instance: str) -> str:
    mailbox = workflow.info().workflow_id
    found: str = await workflow.execute_local_activity(
        FIND,
        args=[instance, definition_of_mailbox(mailbox), mailbox],
        result_type=str,
        start_to_close_timeout=_ATTEMPT,
        summary=summaries.LOOKING_FOR_INSTANCE,
    )
    return found


class InstanceFinder:
    """The activity, on a worker."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @activity.defn(name=FIND)
    async def find(self, instance: str, definition: str, mailbox: str) -> str:
        """Return the run of an instance of *definition*; an empty text if none is running.

        For an instance that *mailbox* has started, the answer can be that it has continued as another definition.
        """
        found = await running_execution(self._client.get_workflow_handle(instance))
        if found is None:
            return ""
        if found.workflow_type == definition:
            return str(found.run_id)
        if found.parent_id == mailbox:
            return _HANDED_OVER
        activity.logger.warning(
            "the workflow %r is of the type %r: it gets no events of %r", instance, found.workflow_type, definition
        )
        return ""
