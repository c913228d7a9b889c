"""The place of an instance among those of its definition that run at once.

Theory of operation. Where the definition bounds them, the instance asks for a place before its first state
(`places.py`), and gives it back when it ends. An execution that goes on with the run keeps the place, and so does one
that continues as another instance of the same definition and key. A sub-workflow that is waited for runs in the place
of an instance above it that has one of the same kind: it would wait for that one, which waits for it.

The request is made again after a while, for what was to answer it may have been terminated.
"""

from contextlib import suppress
from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RawValue

from swf_temporal.errors import TooManyWaiting
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.progress import Value
from swf_temporal.runtime.run import Run
from swf_temporal.runtime.trace import PlaceAwaited
from swf_temporal.temporal import summaries
from swf_temporal.temporal.place_records import TELL, Asking, Leaving, Message, Told, places_id
from swf_temporal.temporal.records import Pin
from swf_temporal.temporal.workflow_input import UNREADABLE, value_of

ANSWER_LIMIT: Final = timedelta(hours=1)
"""How long an instance waits for an answer before it asks again."""
_ATTEMPT: Final = timedelta(seconds=10)
"""The time limit of one attempt to send a message."""


class OwnPlace:
    def __init__(self, pin: Pin) -> None:
        self._pin = pin
        """It says of which places the run has one, also in earlier executions."""
        self.had = pin.place
        """The id of what has given the run a place, also after it has given that back."""
        self._told: dict[str, Told] = {}
        """The answers, by the ids of the requests."""
        self.awaited: PlaceAwaited | None = None
        """What it waits for, as long as it waits for a place."""

    @property
    def given_by(self) -> str | None:
        """The id of what gives the place that the run has or waits for."""
        return self._pin.place

    def is_needed(self, definition: Definition) -> bool:
        """Tell whether there is a place to wait for, or one that the run may have to give back."""
        return definition.concurrency is not None or self._pin.place is not None

    def tell(self, raw: RawValue | None) -> None:
        """Take in what the signal carries, if that is an answer."""
        try:
            told = Told.from_json(None if raw is None else value_of(raw))
        except UNREADABLE as error:
            workflow.logger.warning("an answer about a place was not taken: %s", error)
            return
        self._told[told.ask] = told

    async def take(self, definition: Definition, run: Run) -> None:
        """Wait for a place, if *definition* bounds how many run at once. Raises TooManyWaiting."""
        if not run.is_new:
            return
        asked = definition.concurrency
        if asked is None:
            await self.leave()
            return
        key = None if asked.key is None else await run.execution.concurrency_key()
        places = places_id(definition.id, key, has_key=asked.key is not None)
        if self._pin.place != places:
            await self.leave()
            if places not in self._pin.above:
                awaited = PlaceAwaited(limit=asked.limit)
                if asked.key is not None:
                    awaited["key"] = key
                await self._wait(places, definition.id, awaited, run)

    async def _wait(self, places: str, definition: str, awaited: PlaceAwaited, run: Run) -> None:
        info, ask = workflow.info(), str(workflow.uuid4())
        key = Value(awaited["key"]) if "key" in awaited else None
        request = Asking(info.workflow_id, info.first_execution_run_id, ask, definition, awaited["limit"], key)
        self._pin.place, self.awaited = places, awaited
        run.emit(TraceKind.PLACE_AWAITED, definition, **awaited)
        while ask not in self._told:
            await _send(places, request, summaries.ASKING_FOR_PLACE)
            with suppress(TimeoutError):
                await workflow.wait_condition(
                    lambda: ask in self._told, timeout=ANSWER_LIMIT, timeout_summary=summaries.WAITING_FOR_PLACE
                )
        self.awaited, self.had = None, places
        refused = self._told[ask].refused
        if refused is not None:
            self._pin.place = None
            raise TooManyWaiting(
                f"{refused:,} instances wait for a place already, and no more may: "
                f"at most {awaited['limit']:,} of {definition!r} run at once"
            )

    async def leave(self) -> None:
        """Give the place back, or wait for none any more."""
        places, self._pin.place, self.awaited = self._pin.place, None, None
        if places is not None:
            info = workflow.info()
            left = Leaving(info.workflow_id, info.first_execution_run_id)
            await _send(places, left, summaries.LEAVING_PLACE)


async def _send(places: str, message: Message, summary: str) -> None:
    await workflow.execute_local_activity(
        TELL, args=[places, message.to_json()], start_to_close_timeout=_ATTEMPT, summary=summary
    )
