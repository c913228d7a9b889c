"""Which definitions and instances an event goes to: a pure function of the event and of what is known of them.

An event starts an instance of a definition if it is like one of the events that do. Where these are correlated, all
events with the same values belong to one instance, whose id follows from the values; the same holds where an instance
needs several events. Otherwise each event has an instance of its own, whose id follows from the event's source and id.

An event that a definition consumes elsewhere may be awaited by running instances. Where it is correlated, it meets them
under its values; where it is not, all running instances of that definition may take it.

An event says how many instances stand before it, so that a chain which would never end is stopped. Counted are the
instances that were started: two that exchange events for as long as they run are no chain.

An instance that begins to wait for an event that is correlated may know what all of the attributes must be, or only
some of them: the first event that it takes fixes the others. So events meet it under those attributes that every
instance knows which waits for an event of this kind: the ones that are compared with its data, and those that all
events have which start instances. The other values that an instance knows are compared there.
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
"""The beginning of the ids of mailboxes."""
_MAX_CACHED: Final = 1024
"""The number of keys whose digests are remembered: each is asked for several times while an event is routed."""


def instance_id(definition_id: str, key: CorrelationKey) -> str:
    """Return the id of the instance of a definition to which all events with *key* belong."""
    return f"{definition_id}:{digest_of(key)}"


def single_id(definition_id: str, event: CloudEvent) -> str:
    """Return the id of the instance that *event* alone starts, which is the same however often the event comes."""
    return f"{definition_id}:{_digest((event.source, event.id))}"


def mailbox_id(definition_id: str, key: CorrelationKey) -> str:
    """Return the id of the workflow that takes the events of a definition with *key* in."""
    return f"{MAILBOX_PREFIX}{instance_id(definition_id, key)}"


def definition_of_mailbox(mailbox: str) -> str:
    """Return the id of the definition whose events a mailbox takes in."""
    return mailbox.removeprefix(MAILBOX_PREFIX).rpartition(":")[0]


def digest_of(key: CorrelationKey) -> str:
    """Return a short text that two keys share exactly if they are equal."""
    return _digest(tuple(sorted(key.items())))


@lru_cache(maxsize=_MAX_CACHED)
def _digest(value: tuple[object, ...]) -> str:
    return sha256(write_json(value).encode()).hexdigest()[:DIGITS]


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription of a waiting instance: the mailbox of the events, and which of them it may take."""

    key: CorrelationKey
    """Under which they come."""
    values: CorrelationKey
    """What is known of all of their attributes."""
    started: str | None = None
    """The id of the instance that events with this key start, where these are correlated by the same attributes."""


def subscription(definition: Definition, event: str, values: Mapping[str, str]) -> Subscription | None:
    """Return how an instance subscribes that waits for *event*, and knows so much of its attributes.

    None if its events are not correlated, or if it lacks a value that all instances should know: one that was begun by
    hand with an event that did not say to which instance it belongs.
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
    """Return the attributes under which events of *kind* meet those that wait for them."""
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
    """Return the attributes that correlate every one of the events of *start*."""
    names = [attributes(kind) for kind in _starting(start)]
    return set.intersection(*names) if names else set()


def attributes(kind: ConsumedEvent) -> set[str]:
    """Return the names of the attributes that correlate *kind*, in lower case."""
    return {rule.attribute.lower() for rule in kind.correlation}


def _keys(start: EventStart) -> list[set[str]]:
    return [shared(start)] if start.join == "all" else [attributes(kind) for kind in _starting(start)]


def _starting(start: EventStart) -> list[ConsumedEvent]:
    """Return the events of *start* without those that are compared with data of an instance, and so start none."""
    return [kind for kind in start.events if not any(rule.is_calculated for rule in kind.correlation)]


@dataclass(frozen=True, slots=True)
class Started:
    """An instance that an event starts, or may start together with others."""

    definition: Definition
    event: str
    """The name that the definition has for the event."""
    start: EventStart
    key: CorrelationKey | None
    """By which its events are known; None if this event alone starts it."""
    instance_id: str | None
    """None where each instance has events of its own, and so an id that is known once they have come together."""


@dataclass(frozen=True, slots=True)
class Awaiting:
    """Running instances of a definition that may wait for an event."""

    definition: Definition
    event: str
    key: CorrelationKey | None
    """Under which it meets them; None if all that are running may take it."""
    values: CorrelationKey = field(default_factory=dict)
    """All the values by which it is correlated."""
    instance_id: str | None = None
    """The id of the instance with this key that events start, where they are correlated by the same attributes."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A definition that an event means nothing to, and why."""

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
        """Whether no definition consumes the event."""
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
    """Return the instance that *event* starts, if it starts one: the first kind that it is like decides."""
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
                reasons.append(Passed(definition, kind.name, "it has no id, by which it would be known again"))
                continue
            return [Started(definition, kind.name, start, None, single_id(definition.id, event))]
        key = _key(event, rules, definition)
        known = instance_id(definition.id, key) if start.gathers_itself else None
        return [Started(definition, kind.name, start, key, known)]
    return []


def _awaited(event: CloudEvent, definition: Definition, reasons: list[Passed]) -> list[Awaiting]:
    """Return whom *event* may reach, once for each key."""
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
    """Return why no instance of *definition* takes *event* as one of *kind*, which it is like; None if one may."""
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
            return f"it lacks {where}, which tells to which instance it belongs"
    return None


HOPS: Final = "swfhops"
"""The extension attribute of produced events that has the length of their chain, an integer."""
_MAX_INTEGER: Final = 2**31 - 1
"""The largest integer of CloudEvents."""


def hops_of(*events: CloudEvent) -> int:
    """Return the length of the chain that leads to *events*, which start one instance together."""
    return max(map(_hops, events), default=0)


def next_hops(hops: int) -> int:
    """Return the length that an instance gives to the chains of the events which it produces."""
    return min(hops + 1, _MAX_INTEGER)


def _hops(event: CloudEvent) -> int:
    value = event.attribute(HOPS)
    if isinstance(value, str) and value.isdecimal() and value.isascii():  # in the binary mode all values are texts
        return min(int(value[: len(str(_MAX_INTEGER)) + 1]), _MAX_INTEGER)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_INTEGER else 0


@dataclass(frozen=True, slots=True)
class Arrived(Record):
    """An event, and when it came, in seconds since 1970."""

    event: CloudEvent
    at: float


@dataclass(frozen=True, slots=True)
class Gathering:
    """The decision about the collected events of one correlation key when another arrives."""

    waiting: Sequence[Arrived] = ()
    """Those that wait for others."""
    is_complete: bool = False
    """Whether they are enough for an instance."""
    input: JSON = None
    """The input of that instance."""


def gathered(definition: Definition, waiting: Sequence[Arrived], arrived: Arrived) -> Gathering:
    """Return what becomes of *waiting*, events of one key in the order in which they came, now that another *arrived*.

    The window of the definition counts from when they came. Of each kind no more are kept than there are kinds: the
    latest, which the definition prefers.
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
