"""The place of an instance, if its definition limits the number of concurrent ones.

Theory of operation. If the definition limits concurrent instances, an instance asks for a place before its first state
(`places.py`), and releases it when it ends. An execution that continues the run keeps the place, and so does one that
continues as another instance of the same definition and key. A sub-workflow that is waited for runs in the place of an
ancestor that has one of the same kind: otherwise each would wait for the other.

The request is repeated after a while, since the workflow that was to answer it may have been terminated.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar, Final

from temporalio import workflow
from temporalio.common import RawValue

from swf_temporal.base.errors import TooManyWaiting
from swf_temporal.base.records import Record
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import ContinuedAs, TraceKind
from swf_temporal.runtime.progress import Value
from swf_temporal.runtime.run import Run
from swf_temporal.runtime.trace import PlaceAwaited
from swf_temporal.temporal import summaries
from swf_temporal.temporal.constants import PLACE
from swf_temporal.temporal.instance_part import Instance, Part
from swf_temporal.temporal.place_records import TELL, Asking, Leaving, Message, PlaceAnswer, places_id
from swf_temporal.temporal.records import UNREADABLE, value_of

ANSWER_LIMIT: Final = timedelta(hours=1)
"""How long an instance waits for an answer before it asks again."""
_ATTEMPT: Final = timedelta(seconds=10)
"""The time limit of one attempt to send a message."""


@dataclass(slots=True)
class OwnPlaceRecord(Record):
    WHAT: ClassVar[str] = "the record of its place"

    place: str | None = None
    """The id of the workflow that gave the run its place, or lets it wait for one: see `places.py`."""
    above: list[str] = field(default_factory=list)
    """The places of the ancestors that wait for this instance."""


class OwnPlace(Part):
    KEY = "place"
    SIGNALS = frozenset({PLACE})

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.given_by: str | None = None
        """The id of the workflow that gives the place that the run has or waits for."""
        self._above: list[str] = []
        self.had: str | None = None
        """The id of what has given the run a place, also after it has given that back."""
        self._told: dict[str, PlaceAnswer] = {}
        """The answers, by the ids of the requests."""
        self.awaited: PlaceAwaited | None = None
        """The place that it waits for; None if it does not wait."""

    def resume(self) -> None:
        record = self.carried(OwnPlaceRecord)
        self.given_by = self.had = record.place
        self._above = record.above

    def record(self, to: ContinuedAs | None = None) -> OwnPlaceRecord:  # noqa: ARG002 - it keeps its place
        """Return the place, and those of ancestors."""
        return OwnPlaceRecord(self.given_by, self._above)

    def for_child(self) -> OwnPlaceRecord:
        """Return the places of a sub-workflow's ancestors."""
        return OwnPlaceRecord(above=[*self._above, *([] if self.given_by is None else [self.given_by])])

    def status(self) -> dict[str, Any]:
        """Return the place that it waits for."""
        return {} if self.awaited is None else {"awaitedPlace": {**self.awaited, "givenBy": self.given_by}}

    def signal(self, raw: RawValue | None) -> None:
        """Take in the signal's answer, if it is a valid one."""
        try:
            told = PlaceAnswer.from_json(None if raw is None else value_of(raw))
        except UNREADABLE as error:
            workflow.logger.warning("an answer about a place was not taken: %s", error)
            return
        self._told[told.ask] = told

    async def prepare(self, definition: Definition, run: Run) -> None:
        """Wait for a place, if *definition* limits concurrent instances. Raises TooManyWaiting."""
        if not run.is_new or (definition.concurrency is None and self.given_by is None):
            return
        asked = definition.concurrency
        if asked is None:
            await self.leave()
            return
        key = None if asked.key is None else await run.execution.concurrency_key()
        places = places_id(definition.id, key, has_key=asked.key is not None)
        if self.given_by != places:
            await self.leave()
            if places not in self._above:
                awaited = PlaceAwaited(limit=asked.limit)
                if asked.key is not None:
                    awaited["key"] = key
                await self._wait(places, definition.id, awaited, run)

    async def _wait(self, places: str, definition: str, awaited: PlaceAwaited, run: Run) -> None:
        info, ask = workflow.info(), str(workflow.uuid4())
        key = Value(awaited["key"]) if "key" in awaited else None
        request = Asking(info.workflow_id, info.first_execution_run_id, ask, definition, awaited["limit"], key)
        self.given_by, self.awaited = places, awaited
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
            self.given_by = None
            raise TooManyWaiting(
                f"{refused:,} instances wait for a place already, and no more may: "
                f"at most {awaited['limit']:,} of {definition!r} run at once"
            )

    async def leave(self) -> None:
        """Release the place, or stop waiting for one."""
        places, self.given_by, self.awaited = self.given_by, None, None
        if places is not None:
            info = workflow.info()
            left = Leaving(info.workflow_id, info.first_execution_run_id)
            await _send(places, left, summaries.LEAVING_PLACE)


async def _send(places: str, message: Message, summary: str) -> None:
    await workflow.execute_local_activity(
        TELL, args=[places, message.to_json()], start_to_close_timeout=_ATTEMPT, summary=summary
    )
