"""What an instance carried that a person lets go on, as a worker finds it out: it takes no client's word for it."""

from typing import Any

from temporalio import activity
from temporalio.client import Client as TemporalClient
from temporalio.exceptions import ApplicationError

from swf_temporal.base.errors import UsageError
from swf_temporal.operations.client import Client
from swf_temporal.operations.rerunning import plan_for
from swf_temporal.temporal.records import CARRIED, NOT_CARRIED, Wanted


class Carried:
    """The activity, on a worker that runs only definitions that it serves."""

    def __init__(self, client: TemporalClient) -> None:
        self._client = Client(client)

    @activity.defn(name=CARRIED)
    async def carried(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the pin with which the instance that asks goes on, by its history; what is *given* is a `Wanted`."""
        info, wanted = activity.info(), Wanted.from_json(given)
        instance = str(info.workflow_id)
        row = {"id": instance, "definition": info.workflow_type, "status": "failed"}
        try:
            plan = await plan_for(self._client, row, wanted.state, wanted.action, wanted.patch, wanted.latest)
            following = await plan.restart_input(self._client, drop_events=wanted.drops_events)
        except UsageError as error:
            raise _refused(str(error)) from None
        if following.task_queue != info.task_queue:
            raise _refused(f"it ran on the task queue {following.task_queue!r}")
        if following.parts:
            raise _refused("it carries more than one payload holds")
        return following.pin.to_json()


def _refused(why: str) -> ApplicationError:
    return ApplicationError(why, type=NOT_CARRIED, non_retryable=True)
