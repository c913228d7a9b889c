"""The inbox: which event goes to which waiting path, and which events are kept for later.

Theory of operation. Events are delivered from outside at any time; delivering never waits. An event goes to the
first waiting path, in the order in which the paths began to wait, that accepts it. If none does, it is kept, in the
order of arrival, until a path asks for one like it. Duplicates, which have the same source and id, are dropped;
the ids that were seen are remembered up to a limit, so that an instance can live forever.

A path that asks repeatedly by the same *criterion*, as in a loop, is not shown again what it did not accept: the
inbox remembers, for each criterion, how far the kept events were searched. So an instance can keep thousands of events
that it asks for later, or never, without searching them for every event that it takes.

Data move through an instance without being copied: the input of a run, the data of the current state and the progress
of a foreach are often the same object, or share parts. Written as JSON, each place would have a copy, and the size of
what continue-as-new carries over is limited. So a record has such a value at the first place, null at the others, and
lists under `same` which place has the value of which other.
"""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.records import Record
from swf_temporal.runtime.joining import SuspendRequested
from swf_temporal.runtime.performing import size_of

Accepts: TypeAlias = Callable[[CloudEvent], bool]

MAX_SEEN = 2000
"""The maximum number of event ids that are remembered."""

MAX_CRITERIA = 100
"""The maximum number of criteria for which an inbox remembers how far it was searched."""


@dataclass(slots=True)
class InboxRecord(Record):
    """The part of an inbox that survives a suspension."""

    kept: list[CloudEvent] = field(default_factory=list)
    """The events that no path has taken yet."""
    seen: list[tuple[str, str]] = field(default_factory=list)
    """The source and the id of the events that arrived."""
    returnable: list[tuple[str, str]] = field(default_factory=list)
    """The source and the id of kept events that are forwarded if this instance never takes them."""
    has_taken: bool = False
    """Whether a path has taken any event."""


class Inbox:
    def __init__(self, record: InboxRecord | None = None) -> None:
        record = InboxRecord() if record is None else record
        self.kept = list(record.kept)
        self.seen = dict.fromkeys(record.seen)
        self._returnable = dict.fromkeys(record.returnable)
        self._has_taken = record.has_taken
        self._waiting: list[tuple[Accepts, asyncio.Future[CloudEvent]]] = []
        self._sizes: dict[int, int] = {}
        """The sizes of the kept events that were measured, by their identity."""
        self._measured = 0
        self._unmeasured = {id(event): event for event in self.kept}
        self._searched: dict[Hashable, int] = {}
        """For each criterion, how many of the kept events, from the first on, it does not accept."""
        self._interrupted = False

    def record(self) -> InboxRecord:
        """Return what must survive a suspension."""
        return InboxRecord(list(self.kept), list(self.seen), list(self._returnable), self._has_taken)

    @property
    def size(self) -> int:
        """The size of the kept events in bytes: about what they take in a record."""
        for key, event in self._unmeasured.items():
            self._sizes[key] = size = size_of(event.to_record())
            self._measured += size
        self._unmeasured.clear()
        return self._measured

    @property
    def is_empty(self) -> bool:
        """True if no event is kept."""
        return not self.kept

    @property
    def has_untaken(self) -> bool:
        """True if there are kept events to forward: there are none as long as no event at all was taken."""
        return bool(self._returnable) and self._has_taken

    def forward_untaken(self, goes: Callable[[CloudEvent], bool] = lambda _: True) -> list[CloudEvent]:
        """Return the kept events that are to be forwarded and that *goes* accepts, and forget that they arrived.

        There are none as long as no event at all was taken.
        """
        if not self.has_untaken:
            return []
        kept = [event for event in self.kept if (event.source, event.id) in self._returnable]
        given = [event for event in kept if goes(event)]
        for event in given:
            self.kept.remove(event)
            self.seen.pop((event.source, event.id), None)
            self._unmeasured.pop(id(event), None)
            self._measured -= self._sizes.pop(id(event), 0)
        self._returnable = {(event.source, event.id): None for event in kept if event not in given}
        self._searched.clear()
        return given

    def deliver(self, event: CloudEvent, *, is_forwardable: bool = False) -> bool:
        """Accept *event*, unless it is a duplicate: then return False.

        One that *is_forwardable* is forwarded if this instance ends without having taken it.
        """
        if event.id:
            key = (event.source, event.id)
            if key in self.seen:
                return False
            self.seen[key] = None
            if len(self.seen) > MAX_SEEN:
                del self.seen[next(iter(self.seen))]
        if is_forwardable and event.id:
            self._returnable[event.source, event.id] = None
        self.hand_over(event)
        return True

    def hand_over(self, event: CloudEvent) -> None:
        """Hand *event* to the first path that waits for one like it, or keep it."""
        for accepts, waiting in self._waiting:
            if not waiting.done() and accepts(event):
                waiting.set_result(event)
                return
        self.kept.append(event)
        self._unmeasured[id(event)] = event

    def release(self, events: Sequence[CloudEvent]) -> None:
        """Put back events that a path took but did not use, before all kept events: they arrived before those."""
        kept, self.kept = self.kept, []
        self._searched.clear()
        for event in events:
            self.hand_over(event)
        self.kept += kept

    def is_awaited(self, event: CloudEvent) -> bool:
        """Return whether some path waits for an event like *event*."""
        return any(not waiting.done() and accepts(event) for accepts, waiting in self._waiting)

    def take(self, accepts: Accepts, criterion: Hashable = None) -> CloudEvent | None:
        """Return the first kept event that *accepts* accepts, and remove it.

        *criterion* identifies *accepts*: functions with equal criteria return the same for the same event. Without one,
        all kept events are searched.
        """
        begin = 0 if criterion is None else self._searched.get(criterion, 0)
        for index in range(begin, len(self.kept)):
            event = self.kept[index]
            if accepts(event):
                del self.kept[index]
                self.note_taken(event)
                if self._unmeasured.pop(id(event), None) is None:
                    self._measured -= self._sizes.pop(id(event))
                self._note_searched(criterion, index)
                for other, count in self._searched.items():
                    if count > index:
                        self._searched[other] = count - 1
                return event
        self._note_searched(criterion, len(self.kept))
        return None

    def _note_searched(self, criterion: Hashable, count: int) -> None:
        if criterion is not None:
            if len(self._searched) >= MAX_CRITERIA and criterion not in self._searched:
                self._searched.clear()
            self._searched[criterion] = count

    async def wait(self, accepts: Accepts, criterion: Hashable = None) -> CloudEvent:
        """Return an event that *accepts* accepts: one that is kept, as `take` finds it, or the next to be delivered."""
        event = self.take(accepts, criterion)
        if event is not None:
            return event
        if self._interrupted:
            raise SuspendRequested
        waiting: asyncio.Future[CloudEvent] = asyncio.get_running_loop().create_future()
        entry = (accepts, waiting)
        self._waiting.append(entry)
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
                self.put_back(waiting.result())
            raise
        finally:
            self._waiting.remove(entry)

    def note_taken(self, event: CloudEvent) -> None:
        """Record that a path uses *event*, which was handed to it: it is not forwarded any more."""
        self._has_taken = True
        if self._returnable:
            self._returnable.pop((event.source, event.id), None)

    def put_back(self, event: CloudEvent) -> None:
        """Keep *event*, which was handed to a path just as that was cancelled: another path may want it."""
        self.kept.insert(0, event)
        self._unmeasured[id(event)] = event
        self._searched.clear()

    def interrupt(self) -> None:
        """End all waits, and refuse new ones: the instance is to be suspended."""
        self._interrupted = True
        for _, waiting in list(self._waiting):
            if not waiting.done():
                waiting.set_exception(SuspendRequested())


SAME = "same"
"""The field of a record that lists `[place, place that has the value]`; a place is a list of keys and indexes."""

_WORTH = 256
"""The size in bytes from which a value is not written twice."""

_HolderPlace: TypeAlias = "tuple[_HolderPlace, str | int] | None"
"""The place of the value that contains it, and its key there."""


def is_worth_sharing(text: str) -> bool:
    """Return whether a copy of *text* is left out."""
    return len(text) >= _WORTH


def without_copies(record: dict[str, Any]) -> dict[str, Any]:
    """Return *record* with every large value once: the same object if it has none twice."""
    sharing = _Sharing()
    try:
        written = sharing.written(record, None)
    except RecursionError:
        return record  # nested as deeply as JSON can be, so there is little else to share
    return {**written, SAME: sharing.same} if sharing.same else record


def with_copies(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Restore, in place, the values that `without_copies` left out of *record*, and return it."""
    for place, other in record.get(SAME, ()):
        value: Any = record
        for step in other:
            value = value[step]
        parent: Any = record
        for step in place[:-1]:
            parent = parent[step]
        parent[place[-1]] = value
    return record


class _Sharing:
    def __init__(self) -> None:
        self.same: list[list[list[str | int]]] = []
        self._places: dict[int, _HolderPlace] = {}

    def written(self, value: Any, place: _HolderPlace) -> Any:
        """Return *value*, an object or an array at *place*, without values that were met before."""
        self._places[id(value)] = place
        changed: Any = None
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if not isinstance(item, dict | list) and not (isinstance(item, str) and is_worth_sharing(item)):
                continue
            own = (place, key)
            if id(item) in self._places and size_of(item) >= _WORTH:
                self.same.append([_steps(own), _steps(self._places[id(item)])])
                kept = None
            elif isinstance(item, str):
                self._places[id(item)] = own
                continue
            else:
                kept = self.written(item, own)
            if kept is not item:
                changed = value.copy() if changed is None else changed
                changed[key] = kept
        return value if changed is None else changed


def _steps(place: _HolderPlace) -> list[str | int]:
    steps: list[str | int] = []
    while place is not None:
        place, step = place
        steps.append(step)
    return steps[::-1]
