"""The correlation keys under which events and the instances that wait for them meet.

An instance that begins to wait for an event that is correlated may know what all of the attributes must be, or only
some of them: the first event that it takes fixes the others. So events meet it under those attributes that every
instance knows which waits for an event of this kind: the ones that are compared with its data, and those that all
events have which start instances. The other values that an instance knows are compared there.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from swf_temporal.events.routing.keys import CorrelationKey, instance_id
from swf_temporal.languages.port import Definition
from swf_temporal.languages.triggers import ConsumedEvent, EventStart


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
