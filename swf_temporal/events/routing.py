"""Routing of an event to definitions and instances: a pure function of the event and of the definitions.

An event starts an instance of a definition if it matches one of the definition's start events. If these are correlated,
all events with the same values belong to one instance, whose id is derived from the values; the same holds if an
instance needs several events. Otherwise each event starts a separate instance, whose id is derived from the event's
source and id.

An event that a definition consumes elsewhere may be awaited by running instances. A correlated event reaches them by
its correlation key; one that is not correlated may be taken by all running instances of that definition.

An event carries the length of the chain of instances that led to it, so that an endless chain is stopped. Only
instances that were started count: two instances that exchange events while they run are not a chain.

An instance that begins to wait for a correlated event may know the required values of all attributes, or only of some:
the first event that it takes fixes the others. The key therefore consists of the attributes that every instance waiting
for an event of this kind knows: those that are compared with its data, and those that all start events have. Other
values that an instance knows are compared there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from typing import Final, TypeAlias

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, as_text
from swf_temporal.base.records import Record
from swf_temporal.base.strict_json import write_json
from swf_temporal.languages.port import Definition
from swf_temporal.languages.triggers import ConsumedEvent, CorrelationRule, EventStart
from swf_temporal.runtime.correlation import is_like
from swf_temporal.runtime.ids import DIGITS

CorrelationKey: TypeAlias = Mapping[str, str]
"""The values of the context attributes that correlate events, by the names of the attributes in lower case."""

MAILBOX_PREFIX: Final = "swf-events:"
"""The prefix of the ids of mailboxes."""
_MAX_CACHED: Final = 1024
"""The number of keys whose digests are cached: each is needed several times while an event is routed."""


def instance_id(definition_id: str, key: CorrelationKey) -> str:
    """Return the id of the definition's instance to which all events with *key* belong."""
    return f"{definition_id}:{digest_of(key)}"


def single_id(definition_id: str, event: CloudEvent) -> str:
    """Return the id of the instance that *event* alone starts, which is the same if the event is delivered again."""
    return f"{definition_id}:{_digest((event.source, event.id))}"


def mailbox_id(definition_id: str, key: CorrelationKey) -> str:
    """Return the id of the workflow that receives the events of a definition with *key*."""
    return f"{MAILBOX_PREFIX}{instance_id(definition_id, key)}"


def definition_of_mailbox(mailbox: str) -> str:
    """Return the id of the definition whose events a mailbox receives."""
    return mailbox.removeprefix(MAILBOX_PREFIX).rpartition(":")[0]


def digest_of(key: CorrelationKey) -> str:
    """Return a digest of *key*, the same for equal keys."""
    return _digest(tuple(sorted(key.items())))


@lru_cache(maxsize=_MAX_CACHED)
def _digest(value: tuple[object, ...]) -> str:
    return sha256(write_json(value).encode()).hexdigest()[:DIGITS]


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription of a waiting instance: the key of the mailbox, and the events that it may take."""

    key: CorrelationKey
    """The key of the mailbox that receives the events."""
    values: CorrelationKey
    """The known values of all correlation attributes."""
    started: str | None = None
    """The id of the instance that events with this key start, if start events have the same correlation attributes."""


def subscription(definition: Definition, event: str, values: Mapping[str, str]) -> Subscription | None:
    """Return the subscription of an instance that waits for *event* and knows the *values* of its attributes.

    None if its events are not correlated, or if it lacks a value that all instances should know, because it was started
    manually with an event that lacked the value.
    """
    kind = next((one for one in definition.consumed_events if one.name == event and one.is_awaited), None)
    if kind is None or not kind.correlation:
        return None
    names = meeting_attributes(definition, kind)
    if not names <= values.keys():
        return None
    key = {name: values[name] for name in sorted(names)}
    known = {name: values[name] for name in sorted(attributes(kind)) if name in values}
    return Subscription(key, known, started_with(definition, key))


def meeting_attributes(definition: Definition, kind: ConsumedEvent) -> set[str]:
    """Return the attributes in the correlation key by which events of *kind* reach waiting instances."""
    names = attributes(kind)
    start = definition.event_start
    if start is not None and start.gathers_itself and names in _keys(start):
        return names
    known = {rule.attribute.lower() for rule in kind.correlation if rule.is_calculated}
    return known | (names & (shared(start) if start is not None and start.gathers_itself else set()))


def started_with(definition: Definition, key: CorrelationKey) -> str | None:
    """Return the id of the instance that events with *key* start."""
    start = definition.event_start
    if not key or start is None or not start.gathers_itself:
        return None
    return instance_id(definition.id, key) if set(key) in _keys(start) else None


def shared(start: EventStart) -> set[str]:
    """Return the correlation attributes that all events of *start* have in common."""
    names = [attributes(kind) for kind in _starting(start)]
    return set.intersection(*names) if names else set()


def attributes(kind: ConsumedEvent) -> set[str]:
    """Return the names of the correlation attributes of *kind*, in lower case."""
    return {rule.attribute.lower() for rule in kind.correlation}


def _keys(start: EventStart) -> list[set[str]]:
    return [shared(start)] if start.join == "all" else [attributes(kind) for kind in _starting(start)]


def _starting(start: EventStart) -> list[ConsumedEvent]:
    """Return the events of *start* except those that are compared with an instance's data, and so start none."""
    return [kind for kind in start.events if not any(rule.is_calculated for rule in kind.correlation)]


@dataclass(frozen=True, slots=True)
class Started:
    """An instance that an event starts, or may start together with others."""

    definition: Definition
    event: str
    """The name of the event in the definition."""
    start: EventStart
    key: CorrelationKey | None
    """The correlation key of its events; None if this event alone starts it."""
    instance_id: str | None
    """None if its events are not correlated, so that its id is known only once they have all arrived."""


@dataclass(frozen=True, slots=True)
class Awaiting:
    """Running instances of a definition that may wait for an event."""

    definition: Definition
    event: str
    key: CorrelationKey | None
    """The correlation key by which it reaches them; None if all running instances may take it."""
    values: CorrelationKey = field(default_factory=dict)
    """The values of all correlation attributes."""
    instance_id: str | None = None
    """The id of the instance that events with this key start, if start events have the same correlation attributes."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A definition that does not consume an event, and the reason."""

    definition: Definition
    event: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Route:
    starts: tuple[Started, ...] = ()
    awaited: tuple[Awaiting, ...] = ()
    passed: tuple[Passed, ...] = ()

    @property
    def leads_nowhere(self) -> bool:
        """True if no definition consumes the event."""
        return not self.starts and not self.awaited


def route(event: CloudEvent, definitions: Iterable[Definition]) -> Route:
    """Return where *event* goes among *definitions*, each of which is the latest of its id."""
    starts: list[Started] = []
    awaited: list[Awaiting] = []
    passed: list[Passed] = []
    for definition in definitions:
        reasons: list[Passed] = []
        started = _started(event, definition, reasons)
        found = _awaited(event, definition, reasons)
        starts += started
        awaited += found
        if not started and not found:
            passed += reasons or [Passed(definition, None, "it consumes no events")]
    return Route(tuple(starts), tuple(awaited), tuple(dict.fromkeys(passed)))


def _started(event: CloudEvent, definition: Definition, reasons: list[Passed]) -> list[Started]:
    """Return the instance that *event* starts, if it starts one: the first kind that matches decides."""
    start = definition.event_start
    if start is None:
        return []
    in_all = shared(start)
    for kind in start.events:
        rules = [rule for rule in kind.correlation if start.join == "any" or rule.attribute.lower() in in_all]
        reason = _mismatch(event, kind, definition) or _unknown(kind) or _lacking(event, kind.correlation, definition)
        if reason is not None:
            reasons.append(Passed(definition, kind.name, reason))
            continue
        if not rules and start.join == "any" and not start.goes_on:
            if not event.id:
                reasons.append(Passed(definition, kind.name, "it has no id to recognize it by if it comes twice"))
                continue
            return [Started(definition, kind.name, start, None, single_id(definition.id, event))]
        key = _key(event, rules, definition)
        known = instance_id(definition.id, key) if start.gathers_itself else None
        return [Started(definition, kind.name, start, key, known)]
    return []


def _awaited(event: CloudEvent, definition: Definition, reasons: list[Passed]) -> list[Awaiting]:
    """Return the running instances that *event* may reach, once for each key."""
    found: dict[tuple[tuple[str, str], ...] | None, Awaiting] = {}
    for kind in definition.consumed_events:
        if not kind.is_awaited:
            continue
        reason = _mismatch(event, kind, definition) or _lacking(event, kind.correlation, definition)
        if reason is not None:
            reasons.append(Passed(definition, kind.name, reason))
            continue
        if not kind.correlation:
            found.setdefault(None, Awaiting(definition, kind.name, None))
            continue
        values = _key(event, kind.correlation, definition)
        names = meeting_attributes(definition, kind)
        key = {name: value for name, value in values.items() if name in names}
        place = tuple(sorted(key.items()))
        if place in found:
            found[place] = replace(found[place], values={**found[place].values, **values})
        else:
            found[place] = Awaiting(definition, kind.name, key, values, started_with(definition, key))
    return list(found.values())


def fits(event: CloudEvent, kind: ConsumedEvent, definition: Definition) -> bool:
    return _mismatch(event, kind, definition) is None


def never_taken(event: CloudEvent, kind: ConsumedEvent, definition: Definition) -> str | None:
    """Return why no instance of *definition* takes *event* as one of *kind*; None if one may."""
    if event.is_addressed:
        return None
    return _mismatch(event, kind, definition) or _lacking(event, kind.correlation, definition)


def _key(event: CloudEvent, rules: Iterable[CorrelationRule], definition: Definition) -> CorrelationKey:
    return {rule.attribute.lower(): as_text(definition.correlation_value(event, rule)) for rule in rules}


def _mismatch(event: CloudEvent, kind: ConsumedEvent, definition: Definition) -> str | None:
    if kind.type is not None and kind.type != event.type:
        return f"its type is {event.type!r}, not {kind.type!r}"
    if not is_like(kind, event):
        return f"its source is {event.source!r}, not {kind.source!r}"
    for name, wanted in kind.filters.items():
        if not definition.has_attribute(event, name, wanted):
            if name == "data":
                return f"its data do not fit {as_text(wanted)!r}"
            found = event.attribute(name)
            if found is None:
                return f"it has no attribute {name!r}, which is to be {as_text(wanted)!r}"
            return f"its attribute {name!r} is {as_text(found)!r}, not {as_text(wanted)!r}"
    return None


def _unknown(kind: ConsumedEvent) -> str | None:
    calculated = next((rule.attribute for rule in kind.correlation if rule.is_calculated), None)
    if calculated is None:
        return None
    return f"its attribute {calculated!r} is compared with data of an instance, and so it starts none"


def _lacking(event: CloudEvent, rules: Iterable[CorrelationRule], definition: Definition) -> str | None:
    for rule in rules:
        if definition.correlation_value(event, rule) is None:
            where = f"the value {rule.attribute!r}" if rule.path else f"the attribute {rule.attribute!r}"
            return f"it lacks {where}, which identifies its instance"
    return None


HOPS: Final = "swfhops"
"""The extension attribute of produced events that holds the length of their chain, an integer."""
_MAX_INTEGER: Final = 2**31 - 1
"""The largest integer in CloudEvents."""


def hops_of(*events: CloudEvent) -> int:
    """Return the length of the chain that leads to *events*, which start one instance together."""
    return max(map(_hops, events), default=0)


def next_hops(hops: int) -> int:
    """Return the chain length of the events that an instance with *hops* produces."""
    return min(hops + 1, _MAX_INTEGER)


def _hops(event: CloudEvent) -> int:
    value = event.attribute(HOPS)
    if isinstance(value, str) and value.isdecimal() and value.isascii():  # in binary mode all values are strings
        return min(int(value[: len(str(_MAX_INTEGER)) + 1]), _MAX_INTEGER)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_INTEGER else 0


@dataclass(frozen=True, slots=True)
class Arrived(Record):
    """An event and its time of arrival, in seconds since 1970."""

    event: CloudEvent
    at: float


@dataclass(frozen=True, slots=True)
class Gathering:
    """The decision about the collected events of one correlation key when another arrives."""

    waiting: Sequence[Arrived] = ()
    """Events that are kept until others arrive."""
    is_complete: bool = False
    """True if the events are enough to start an instance."""
    input: JSON = None
    """The input of that instance."""


def gathered(definition: Definition, waiting: Sequence[Arrived], arrived: Arrived) -> Gathering:
    """Decide about *waiting*, the events of one key in order of arrival, now that another *arrived*.

    The window of the definition counts from the arrival of each event. Of each kind, at most as many events are kept as
    there are kinds: the latest, which the definition prefers.
    """
    start = definition.event_start
    if start is None:
        return Gathering()
    window = None if start.window is None else start.window.total_seconds()
    kept = [one for one in waiting if window is None or arrived.at - one.at <= window]
    events = [*kept, arrived]
    parsed = [one.event for one in events]
    inputs = definition.event_starts(parsed)
    if inputs:
        return Gathering((), is_complete=True, input=inputs[0])
    needed: set[int] = set()
    for kind in start.events:
        like = [index for index, event in enumerate(parsed) if fits(event, kind, definition)]
        needed.update(like[-len(start.events) :])
    return Gathering([events[index] for index in sorted(needed)])
