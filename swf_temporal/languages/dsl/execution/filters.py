"""Event filters: which events a definition means, as far as their attributes show it.

An attribute in a filter is a value, a regular expression, or a runtime expression. Whether an event has the values is
seen when it arrives. The others may take time: they are compared by the path that waits, which gives an event back that
does not match.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, as_text
from swf_temporal.expressions.patterns import BadPattern, matches_somewhere
from swf_temporal.languages.dsl.model.parts import EventFilter, EventStrategy

_SPECIAL: Final = re.compile(r"[\\^$*+?()\[\]{}|]")
"""The characters that show that a text is meant as a regular expression; a dot does not."""


class Filter:
    """An event filter: its attributes with values, with regular expressions, and with runtime expressions."""

    def __init__(self, given: EventFilter) -> None:
        self._hold(given.with_ if isinstance(given.with_, dict) else {})
        self.correlate = given.correlate

    @classmethod
    def of(cls, wanted: Mapping[str, JSON]) -> "Filter":
        """Return a filter for events with the attributes *wanted*; without any, every event fits it."""
        return cls(EventFilter.model_construct(with_=dict(wanted), correlate={}))

    def _hold(self, wanted: Mapping[str, Any]) -> None:
        self.expressions = {name: value for name, value in wanted.items() if has_expression(value)}
        others = {name: value for name, value in wanted.items() if name not in self.expressions}
        self.patterns = {name: value for name, value in others.items() if isinstance(value, str) and is_pattern(value)}
        self.values = {name: value for name, value in others.items() if name not in self.patterns}
        kind = others.get("type")
        self.name = kind if isinstance(kind, str) else "any event"
        """The name of its events for people: their type."""

    def fits(self, event: CloudEvent) -> bool:
        """Return whether *event* has the values of the filter."""
        return all(_matches(value, value_of(event, name)) for name, value in self.values.items())


def has_expression(value: JSON) -> bool:
    """Return whether there is a runtime expression in *value*."""
    if isinstance(value, str):
        return "${" in value
    if isinstance(value, dict | list):
        return any(has_expression(item) for item in (value.values() if isinstance(value, dict) else value))
    return False


def value_of(event: CloudEvent, name: str) -> JSON:
    """Return the attribute *name* of *event*, or its data."""
    return event.data if name == "data" else event.attribute(name)


def _matches(wanted: JSON, value: JSON) -> bool:
    if isinstance(wanted, dict) and isinstance(value, dict):
        return all(_matches(item, value.get(name)) for name, item in wanted.items())
    if isinstance(wanted, str) and value is not None:
        return as_text(value) == wanted
    return wanted == value and isinstance(wanted, bool) == isinstance(value, bool)


def has_patterns(one: Filter, event: CloudEvent) -> bool:
    """Return whether *event* has attributes that match the regular expressions of the filter, all of each.

    Raises PatternTooSlow.
    """
    for name, pattern in one.patterns.items():
        value = value_of(event, name)
        if value is None:
            return False
        text = as_text(value)
        if text != pattern and not _is_match(pattern, text):
            return False
    return True


def _is_match(pattern: str, text: str) -> bool:
    try:
        return matches_somewhere(f"^(?:{pattern})$", text)
    except BadPattern:
        return False


def decides(found: JSON, value: JSON) -> bool:
    """Return whether an attribute with this *value* matches a runtime expression that yields *found*."""
    if found is None or isinstance(found, bool):
        return found is True
    return as_text(found) == as_text(value)


def filters_of(strategy: EventStrategy) -> list[Filter]:
    """Return the filters of *strategy*; for `any` without filters, one that every event fits."""
    if strategy.one is not None:
        return [Filter(strategy.one)]
    given: Iterable[EventFilter] = strategy.all or strategy.any or ()
    return [Filter(one) for one in given] or [Filter.of({})]


def read_event(event: CloudEvent, how: str) -> JSON:
    """Return what a definition sees of *event*: its data, the event itself, or its data as they came."""
    if how == "envelope":
        return event.to_json()
    return event.data


def is_pattern(text: str) -> bool:
    """Return whether a value in a filter is meant as a regular expression."""
    return _SPECIAL.search(text) is not None


def static_filters(one: Filter) -> Mapping[str, JSON]:
    """Return the attributes by which events can be routed without an instance, besides a plain type and source."""
    others = {**one.values, **one.patterns}
    return {name: value for name, value in others.items() if name != "data" and not is_plain(one, name)}


def is_plain(one: Filter, name: str) -> bool:
    """Return whether *name* is the type or the source, and its value is no pattern."""
    return name in ("type", "source") and isinstance(one.values.get(name), str)
