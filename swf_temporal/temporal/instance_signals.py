"""Signals of a mailbox to instances of its definition, and to no other workflow that has the id of one.

Theory of operation. Whoever may start workflows can start one under the id of an instance that has ended, or has yet to
be begun. So a signal goes to a run, and not to an id: to the one that the mailbox has begun, or has looked up, which a
local activity does. The run that an instance continues as is looked up once the signal to the one before has failed.
One that continues as another definition is an instance of this one no more, though it keeps the id.

One that refuses a signal and runs still was sent as many as the server lets one execution have, such as an instance
that is paused, or makes a call for long. It has not ended, so the signal is sent again until there is room for it.
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
"""The local activity that looks an instance of a mailbox up."""
_HANDED_OVER: Final = "handed over"
"""Its answer about an instance that the mailbox has begun, and that has continued as another definition."""
_ATTEMPT: Final = timedelta(seconds=10)
"""The time limit for one look."""
_TRIES: Final = 5
"""How often an instance is looked up that continues as new meanwhile."""
_PAUSE, _MAX_PAUSE = timedelta(seconds=1), timedelta(minutes=1)


def pauses() -> Iterator[timedelta]:
    """Yield the pauses before an instance is tried again that could be neither begun nor reached, or had no room.

    Each is twice as long as the one before.
    """
    pause = _PAUSE
    while True:
        yield pause
        pause = min(2 * pause, _MAX_PAUSE)


class InstanceSignals:
    """Signals instances, in the workflow of a mailbox."""

    def __init__(self, continue_if_long: Callable[[], None]) -> None:
        """Signal for a workflow that may continue as new by *continue_if_long*, and then sends the same again."""
        self.runs: dict[str, str] = {}
        """By the ids of instances, the runs that are known."""
        self.handed_over = False
        """Whether the instance that was looked up last has continued as another definition, and runs still."""
        self._continue_if_long = continue_if_long

    async def send(self, instance: str, name: str, value: Mapping[str, JSON], *, insists: bool = True) -> bool:
        """Send a signal to an instance; tell whether it runs. Who *insists* waits until it has room for the signal."""
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
        """Return the run of an instance of *definition*; an empty text if none runs.

        Tells of one that *mailbox* has begun whether it has continued as another definition.
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
