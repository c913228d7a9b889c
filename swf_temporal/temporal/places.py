"""Places: limiting concurrent instances of a definition, or of a key, by a workflow for each.

Theory of operation. An instance asks for a place by a signal, which starts this workflow if need be, and waits for a
signal that it has one (`own_place.py`). Places are given in the order of the requests. An instance that ends releases
its place by another signal. One that was terminated or timed out, or was reset to before it continued as this
definition, sends none: an activity checks from time to time which instances with a place have ended, often as long as
others wait, and otherwise rarely, so that this workflow ends, too. An instance that ended while it waited is detected
by a failing signal.

An instance is identified by its id and its first run, so that one that continues as new, or is reset, keeps its place;
if another run of that id asks, the previous one has ended. Each request has its own id, which the answer repeats: the
answer to a request that a reset has undone is ignored.

A workflow whose places are all free, and for which no instance waits, ends after a while. The number of waiting
instances is limited, since they are carried over when it continues as new.
"""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

from temporalio import activity, workflow
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.common import RawValue, WorkflowIDConflictPolicy
from temporalio.exceptions import FailureError
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.temporal import summaries
from swf_temporal.temporal.constants import PLACE
from swf_temporal.temporal.place_records import (
    LOOK,
    PLACES,
    TAKE,
    TELL,
    Asking,
    Message,
    PlaceAnswer,
    PlacesRecord,
    Turn,
    read_message,
)
from swf_temporal.temporal.records import UNREADABLE, RecordInput, value_of
from swf_temporal.temporal.statuses import running_execution

MAX_WAITING: Final = 2000
"""The number of instances that may wait for a place of one definition, or of one key."""
MAX_ID_CHARACTERS: Final = 256 * 1024
"""The limit of the total length of their ids."""
MAX_EVENTS: Final = 2000
"""The history length at which it continues as new."""
LOOK_INTERVAL: Final = timedelta(minutes=1)
"""The pause between two checks for ended instances, as long as others wait."""
LOOK_PAUSE: Final = timedelta(seconds=5)
"""The pause if another instance has asked meanwhile."""
IDLE: Final = timedelta(minutes=1)
"""The time after which a workflow without instances ends."""
REST_INTERVAL: Final = timedelta(hours=1)
"""The pause between two checks as long as no instance waits."""
LOOK_HEARTBEAT: Final = timedelta(seconds=10)
"""The time within which a check that was lost with its worker is detected, and made again."""
_LOOK_LIMIT: Final = timedelta(minutes=5)
"""The time limit of one check."""
_NOTHING: Final = RawValue(Payload())
"""The payload of a signal without one."""


@workflow.defn(name=PLACES, sandboxed=False)
class Places:
    """The places of one definition, or of one key of it."""

    @workflow.init
    def __init__(self, given: Any = None) -> None:
        self._input = RecordInput({} if given is None else given, PlacesRecord)
        self._record = self._input.record
        self._held, self._waiting = self._record.held, self._record.waiting
        self._arrived: list[Message] = []
        self._asked = 0
        self._telling: set[asyncio.Task[None]] = set()

    @workflow.run
    async def run(self, given: Any = None) -> None:  # noqa: ARG002 - read in __init__
        """Give places as long as an instance has one, or waits."""
        self._input.check()
        looking = asyncio.create_task(self._look())
        self._give()
        while not looking.done():
            while self._arrived:
                self._take(self._arrived.pop(0))
            if self._is_to_continue():
                workflow.continue_as_new(self._record.to_json())
            was_idle = self._is_idle()
            try:
                await workflow.wait_condition(
                    lambda before=was_idle: (  # type: ignore[misc]  # its type is known
                        bool(self._arrived) or self._is_idle() != before or self._is_to_continue()
                    ),
                    timeout=IDLE if was_idle else None,
                    timeout_summary=summaries.IDLE if was_idle else None,
                )
            except TimeoutError:
                return
        looking.result()

    @workflow.signal(name=TAKE)
    def take(self, message: RawValue = _NOTHING) -> None:
        """Queue a message until it is processed; drop what is not a message."""
        try:
            self._arrived.append(read_message(value_of(message)))
        except UNREADABLE as error:
            workflow.logger.error("%s dropped a message: %s", workflow.info().workflow_id, error)

    @workflow.query(name="status")
    def status(self) -> dict[str, Any]:
        """Return the fields of any instance's status, and the instances that have a place or wait for one."""
        about = self._record
        places = {"definition": about.definition, "limit": about.limit} if about.definition else {}
        if about.key is not None:
            places["key"] = about.key.value
        turns = {"held": list(self._held), "waiting": list(self._waiting)}
        return {"state": None, "awaiting": [], "places": {**places, **turns}}

    def _take(self, message: Message) -> None:
        if isinstance(message, Asking):
            self._record.definition, self._record.limit = message.definition, message.limit
            self._record.key = message.key or self._record.key
            self._ask(message)
        else:
            for turns in (self._held, self._waiting):
                if message.instance in turns and turns[message.instance].run == message.run:
                    del turns[message.instance]
        self._give()

    def _ask(self, message: Asking) -> None:
        """Let an instance wait, or notify it again that it has a place."""
        self._asked += 1
        instance, turn = message.instance, Turn(message.run, message.ask)
        for turns in (self._held, self._waiting):
            if instance in turns and turns[instance].run != turn.run:
                del turns[instance]  # its id has another run by now, so it has ended
        if message.runs or instance in self._held:
            self._waiting.pop(instance, None)
            self._held[instance] = turn
            self._tell(instance, PlaceAnswer(turn.ask))
        elif instance not in self._waiting and self._is_full():
            self._tell(instance, PlaceAnswer(turn.ask, refused=len(self._waiting)))
        else:
            self._waiting[instance] = turn

    def _give(self) -> None:
        """Give free places to the instances that have waited longest."""
        while self._waiting and len(self._held) < self._record.limit and not self._is_long():
            instance = next(iter(self._waiting))
            turn = self._held[instance] = self._waiting.pop(instance)
            self._tell(instance, PlaceAnswer(turn.ask))

    def _tell(self, instance: str, told: PlaceAnswer) -> None:
        task = asyncio.create_task(self._send(instance, told))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _send(self, instance: str, told: PlaceAnswer) -> None:
        """Tell an instance that it has a place, or is refused; one that has ended has none."""
        try:
            await workflow.get_external_workflow_handle(instance).signal(PLACE, told.to_json())
        except FailureError:
            if instance in self._held and self._held[instance].ask == told.ask:
                del self._held[instance]
                self._give()

    async def _look(self) -> None:
        """Check from time to time which instances with a place have ended: soon if others wait for it."""
        while True:
            await workflow.wait_condition(lambda: bool(self._held or self._waiting))
            if not self._waiting:
                with suppress(TimeoutError):
                    await workflow.wait_condition(
                        lambda: bool(self._waiting),
                        timeout=REST_INTERVAL,
                        timeout_summary=summaries.LOOKING_FOR_ENDED,
                    )
            if self._is_idle():
                continue
            asked, runs = self._asked, {instance: turn.run for instance, turn in self._held.items()}
            ended: list[str] = await workflow.execute_activity(
                LOOK,
                args=[runs, self._record.definition],
                result_type=list[str],
                start_to_close_timeout=_LOOK_LIMIT,
                heartbeat_timeout=LOOK_HEARTBEAT,
                summary=summaries.LOOKING_FOR_ENDED,
            )
            for instance in ended:
                if instance in self._held and self._held[instance].run == runs[instance]:
                    del self._held[instance]
            self._give()
            await workflow.sleep(LOOK_PAUSE, summary=summaries.LOOKING_FOR_ENDED)
            with suppress(TimeoutError):
                await workflow.wait_condition(
                    lambda before=asked: self._asked > before,  # type: ignore[misc]  # its type is known
                    timeout=LOOK_INTERVAL - LOOK_PAUSE,
                    timeout_summary=summaries.LOOKING_FOR_ENDED,
                )

    def _is_full(self) -> bool:
        characters = sum(map(len, self._held)) + sum(map(len, self._waiting))
        return len(self._waiting) >= MAX_WAITING or characters > MAX_ID_CHARACTERS

    def _is_idle(self) -> bool:
        return not (self._held or self._waiting or self._telling)

    def _is_long(self) -> bool:
        info = workflow.info()
        return info.get_current_history_length() > MAX_EVENTS or info.is_continue_as_new_suggested()

    def _is_to_continue(self) -> bool:
        """Return whether it should continue as new; its notifications to instances must have arrived."""
        return not self._telling and self._is_long()


class PlaceActivities:
    """The activities for places, on a worker."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @activity.defn(name=TELL)
    async def tell(self, places: str, written: dict[str, Any]) -> None:
        """Send the message of an instance; a request starts the workflow that gives places, if need be."""
        message = read_message(written)
        if isinstance(message, Asking):
            await ask(self._client, places, message, activity.info().task_queue)
            return
        try:
            await self._client.get_workflow_handle(places).signal(TAKE, message.to_json())
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:  # it has ended, so it no longer knows the instance
                raise

    @activity.defn(name=LOOK)
    async def look(self, runs: dict[str, str], definition: str) -> list[str]:
        """Return the instances of *definition* that have ended, or continued as others; *runs* has their first runs."""
        return [one for one, run in runs.items() if not await self._is_running(one, run, definition)]

    async def _is_running(self, instance: str, run: str, definition: str) -> bool:
        activity.heartbeat()
        found = await running_execution(self._client.get_workflow_handle(instance))
        if found is None or found.workflow_type != definition:
            return False
        return found.raw_description.workflow_execution_info.first_run_id == run


async def ask(client: Client, places: str, message: Asking, task_queue: str) -> None:
    """Ask the workflow *places* for a place, starting it if need be."""
    await client.start_workflow(
        PLACES,
        id=places,
        task_queue=task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        start_signal=TAKE,
        start_signal_args=[message.to_json()],
        static_summary=summaries.of_places(message.definition),
    )
