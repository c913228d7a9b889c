"""Which events belong to this instance?

An event definition may name context attributes by which its events are told apart (section "Correlation
Definition"). An attribute with a value of its own must have it. One without is fixed by the first event taken that
has it: from then on only events with the same value belong to this instance.
"""

from collections.abc import Callable, Mapping

from swf_temporal.data import JSON, identity
from swf_temporal.model.cloudevent import CloudEvent
from swf_temporal.model.definitions import Event

ADDRESSED = "swfaddressed"
"""The attribute of an event that was sent to this very instance: attributes that it lacks do not tell it apart."""


def belongs(definition: Event, event: CloudEvent, fixed: Mapping[str, JSON], fill: Callable[[JSON], JSON]) -> bool:
    """Tell whether *event* may be taken by the instance whose attributes are *fixed*."""
    for rule in definition.correlation:
        name = rule.context_attribute_name
        value = event.attribute(name)
        if value is None:
            if event.attributes.get(ADDRESSED):
                continue
            return False
        if rule.context_attribute_value is not None:
            if identity(value) != identity(fill(rule.context_attribute_value)):
                return False
        elif name in fixed and identity(fixed[name]) != identity(value):
            return False
    return True


def fixed_by(definition: Event, event: CloudEvent) -> dict[str, JSON]:
    """Return the attributes that taking *event* fixes."""
    return {
        rule.context_attribute_name: event.attribute(rule.context_attribute_name)
        for rule in definition.correlation
        if rule.context_attribute_value is None and event.attribute(rule.context_attribute_name) is not None
    }
