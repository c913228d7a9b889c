"""The route of an event: a pure function of the event and of definitions in any language.

An event starts an instance of a definition if it is like one of the events that do. Where these are correlated, all
events with the same values belong to one instance, whose id follows from the values; the same holds where an instance
needs several events. Otherwise each event has an instance of its own, whose id follows from the event's source and id.

An event that a definition consumes elsewhere may be awaited by running instances. Where it is correlated, it meets them
under its values (`subscriptions.py`); where it is not, all running instances of that definition may take it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import as_text
from swf_temporal.events.routing.keys import CorrelationKey, instance_id, single_id
from swf_temporal.events.routing.subscriptions import meeting_attributes, shared, started_with
from swf_temporal.languages.port import Definition
from swf_temporal.languages.triggers import ConsumedEvent, CorrelationRule, EventStart
from swf_temporal.runtime.event_matching import is_like


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
