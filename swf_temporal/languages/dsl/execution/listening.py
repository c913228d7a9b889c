"""Listening: consuming events until enough of them came (section "Listen")."""

from collections.abc import Sequence

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, as_text
from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.base.records import Record, nested
from swf_temporal.base.strict_json import write_json
from swf_temporal.expressions.patterns import PatternTooSlow
from swf_temporal.languages.dsl.execution.calls import iterate
from swf_temporal.languages.dsl.execution.filters import Filter, decides, filters_of, has_patterns, read_event, value_of
from swf_temporal.languages.dsl.execution.frames import ListenBody
from swf_temporal.languages.dsl.execution.lane import Lane
from swf_temporal.languages.dsl.model.parts import EventStrategy
from swf_temporal.languages.dsl.model.workflow import ListenTask
from swf_temporal.runtime.correlation import assigned, usable
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.waiting import EventSelector, next_event, put_back


async def run_listen(task: ListenTask, body: ListenBody, data: JSON, lane: Lane) -> JSON:
    """Consume the events; return them in the order in which they came."""
    listening = _Listening(task, body, data, lane)
    if not body.begun:
        await listening.begin()
    while not body.is_over or body.pending:
        if body.pending:
            await listening.consume()
        else:
            await listening.take()
    return body.consumed


def release(abandoned: Record, lane: Lane) -> None:
    """Put back the events that listen tasks in *abandoned* progress took but did not use."""
    records = [
        record
        for body in nested(abandoned, ListenBody)
        for record in (*body.pending_all, *(body.pending if body.step is None else body.pending[1:]))
    ]
    events = [CloudEvent.from_record(record) for record in records if isinstance(record, dict)]
    for event in events:
        lane.emit(TraceKind.EVENT_GIVEN_BACK, event.type)
    put_back(events, lane)


class _Listening:
    def __init__(self, task: ListenTask, body: ListenBody, data: JSON, lane: Lane) -> None:
        self.task = task
        self.body = body
        self.data = data
        self.lane = lane
        to = task.listen.to
        self.wanted = filters_of(to)
        self.ending = filters_of(to.until) if isinstance(to.until, EventStrategy) else []
        self.needs_all = to.all is not None
        self.is_single = to.one is not None or (to.any is not None and to.until is None)
        self.refs = [str(index) for index in range(len(self.wanted))]

    async def begin(self) -> None:
        """Evaluate the values that the definition expects."""
        for one in (*self.wanted, *self.ending):
            for name, correlation in one.correlate.items():
                if correlation.expect is not None:
                    self.body.expected[name] = await self.lane.fill(correlation.expect, self.data)
        self.body.begun = True

    async def take(self) -> None:
        """Wait for an event that fits, and decide what follows from it."""
        body = self.body
        free = usable(self.refs, body.taken, self._has_fit) if self.needs_all else self.refs
        left = [index for index in range(len(self.ending)) if str(index) not in body.until]
        filters = [*(self.wanted[int(ref)] for ref in free), *(self.ending[index] for index in left)]
        event, fitting = await self._next(filters)
        first = fitting[0]
        await self._fix(filters[first], event)
        if first >= len(free):
            self._end(left[first - len(free)])
            return
        if self.needs_all:
            self._assign(free[first], event)
            return
        body.pending.append(event.to_record())
        body.is_over = self.is_single

    def _end(self, index: int) -> None:
        """Record that an event of `until` came: it is in no output."""
        strategy = self.task.listen.to.until
        assert isinstance(strategy, EventStrategy)  # noqa: S101 - it has filters
        self.body.until.append(str(index))
        self.body.is_over = strategy.all is None or len(self.body.until) == len(self.ending)

    def _has_fit(self, ref: str, record: JSON) -> bool:
        return isinstance(record, dict) and ref in self.body.fits.get(_key(CloudEvent.from_record(record)), [])

    def _assign(self, ref: str, event: CloudEvent) -> None:
        """Assign *event* to a filter that has none; if there is no more to come, all are consumed as they came."""
        body, record = self.body, event.to_record()
        body.taken = assigned(record, ref, self.refs, body.taken, self._has_fit)
        body.pending_all = [*body.pending_all, record]
        if len(body.taken) == len(self.refs):
            body.pending, body.pending_all, body.is_over = body.pending_all, [], True

    async def consume(self) -> None:
        """Consume the first event that was taken."""
        body, task, record = self.body, self.task, self.body.pending[0]
        assert isinstance(record, dict)  # noqa: S101 - events are recorded as objects
        item = read_event(CloudEvent.from_record(record), task.listen.read)
        made = item
        if task.foreach is not None:
            made = await iterate(task.foreach, "foreach/do", body, item, len(body.consumed), self.lane)
        body.consumed.append(made)
        body.pending, body.step = body.pending[1:], None
        condition = task.listen.to.until
        if isinstance(condition, str) and await self.lane.holds(condition, body.consumed):
            body.is_over = True

    async def _next(self, filters: Sequence[Filter]) -> tuple[CloudEvent, list[int]]:
        """Return the next event that fits some of *filters*, and their indexes."""
        lane, body = self.lane, self.body
        refused = set(body.given_back)
        while True:

            def fits(event: CloudEvent, one: Filter) -> bool:
                return one.fits(event) and not (refused and _key(event) in refused)

            kinds = [lambda event, one=one: fits(event, one) for one in filters]
            selector = EventSelector([one.name for one in filters], kinds, None)
            found = await next_event(selector, body, lane, until=lane.deadline, known=self._known(filters))
            assert found is not None  # noqa: S101 - there is no deadline
            event = found[1]
            fitting = [
                index for index, one in enumerate(filters) if one.fits(event) and await self._is_meant(one, event)
            ]
            if fitting:
                if self.needs_all:
                    body.fits[_key(event)] = [
                        ref for ref in self.refs if await self._is_meant(self.wanted[int(ref)], event)
                    ]
                body.given_back = []  # what is expected of others may have changed
                return event, fitting
            refused.add(_key(event))
            body.given_back.append(_key(event))
            lane.emit(TraceKind.EVENT_GIVEN_BACK, selector.names[found[0]])
            put_back([event], lane)

    def _known(self, filters: Sequence[Filter]) -> dict[str, dict[str, str]]:
        """Return the expected values of correlation keys, by which events from elsewhere find this instance."""
        expected = self.body.expected
        return {
            one.name: {name.lower(): as_text(expected[name]) for name in one.correlate if name in expected}
            for one in filters
            if one.correlate
        }

    async def _is_meant(self, one: Filter, event: CloudEvent) -> bool:
        """Return whether the expressions of a filter hold for *event*, and its correlation values are the expected."""
        if not one.fits(event):
            return False
        try:
            if one.patterns and not await self.lane.run.evaluated(lambda: has_patterns(one, event)):
                return False
        except PatternTooSlow as slow:
            raise ExpressionLimitExceeded(str(slow)) from None
        for name, expression in one.expressions.items():
            value = value_of(event, name)
            if not decides(await self.lane.fill(expression, value), value):
                return False
        for name, correlation in one.correlate.items():
            found = await self.lane.evaluate(correlation.from_, event.to_json())
            if found is None or (name in self.body.expected and as_text(self.body.expected[name]) != as_text(found)):
                return False
        return True

    async def _fix(self, one: Filter, event: CloudEvent) -> None:
        """Let the values of *event* be expected of those that follow, where the definition expects none."""
        for name, correlation in one.correlate.items():
            if name not in self.body.expected:
                self.body.expected[name] = await self.lane.evaluate(correlation.from_, event.to_json())
                self.body.fixed.append(name)


def _key(event: CloudEvent) -> str:
    """Return a text that identifies *event*: those that are sent by their name have no id, and differ in their data."""
    return write_json([event.source, event.id] if event.id else event.to_record())
