"""Correlation: which events belong to this instance.

An event definition may name context attributes by which its events are told apart (section "Correlation
Definition"). An attribute with a value of its own must have it. One without is fixed by the first event taken that
has it: from then on only events with the same value belong to this instance.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import lru_cache

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON, as_text
from swf_temporal.expressions.early_paths import EarlyPath
from swf_temporal.languages.serverless_workflow.model.definitions import Correlation, Event


async def required_values(definition: Event, fill: Callable[[JSON], Awaitable[JSON]]) -> dict[str, JSON]:
    """Return the values that attributes must have, which *fill* makes of what is written."""
    return {
        _key(rule.context_attribute_name): await fill(rule.context_attribute_value)
        for rule in definition.correlation
        if rule.context_attribute_value is not None
    }


def correlates(definition: Event, event: CloudEvent, fixed: Mapping[str, JSON], values: Mapping[str, JSON]) -> bool:
    """Tell whether *event* may be taken by the instance whose attributes are *fixed*, and which demands *values*.

    An event that was addressed to the instance belongs to it; attributes that it has must be right all the same.
    """
    for rule in definition.correlation:
        name = _key(rule.context_attribute_name)
        value = value_in(event, rule)
        if value is None:
            if event.is_addressed:
                continue
            return False
        wanted = values if rule.context_attribute_value is not None else fixed
        if name in wanted and as_text(wanted[name]) != as_text(value):
            return False
    return True


def fixed_by(definition: Event, event: CloudEvent) -> dict[str, JSON]:
    found = {
        _key(rule.context_attribute_name): value_in(event, rule)
        for rule in definition.correlation
        if rule.context_attribute_value is None
    }
    return {name: value for name, value in found.items() if value is not None}


def known_values(definition: Event, fixed: Mapping[str, JSON], values: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return what attributes of *definition* must be: its own *values*, and of the others those that are *fixed*."""
    known = {
        _key(rule.context_attribute_name): rule.context_attribute_value is not None for rule in definition.correlation
    }
    found = {name: (values if is_own else fixed).get(name) for name, is_own in known.items()}
    return {name: value for name, value in found.items() if value is not None}


@lru_cache(maxsize=1024)
def _compiled(path: str) -> EarlyPath:
    return EarlyPath(path)


def value_in(event: CloudEvent, rule: Correlation) -> JSON:
    """Return the value by which *rule* tells events: of a context attribute or, in the first draft, at a path."""
    if rule.path is None:
        return event.attribute(rule.context_attribute_name)
    path = _compiled(rule.path)
    found = path.found(event.to_json()) or path.found(event.data)
    return found[0] if found else None


class CorrelationKeys:
    """The attributes that events have fixed, by which an instance knows its own: *values*, which this changes."""

    def __init__(self, values: dict[str, JSON]) -> None:
        self.values = values

    @property
    def names(self) -> list[str]:
        """The attributes, in the order in which they were fixed."""
        return list(self.values)

    def correlates(self, definition: Event, event: CloudEvent, values: Mapping[str, JSON]) -> bool:
        """Tell whether *event* may be taken, where *values* are those that the definition demands."""
        return correlates(definition, event, self.values, values)

    def fix(self, definition: Event, event: CloudEvent) -> None:
        if definition.correlation:
            self.values.update(fixed_by(definition, event))

    def free(self, names: Iterable[str]) -> None:
        """Let events with other values of these attributes belong to the instance again."""
        for name in names:
            self.values.pop(name, None)


def _key(name: str) -> str:
    """Return a name as names of attributes are compared: without regard to case."""
    return name.lower()
