"""Correlation: which events belong to an instance.

A definition may name values by which the events of its instances are told apart. One that it gives itself must be as
given. One that it leaves open is fixed by the first event taken that has it: from then on only events with the same
value belong to the instance.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, as_text


@dataclass(frozen=True, slots=True)
class KeyRule:
    """One value by which events are told apart."""

    name: str
    value_in: Callable[[CloudEvent], JSON]
    """Returns the value that an event has; None if it has none."""
    is_given: bool = False
    """Whether the definition says what it must be."""


KeyRules: TypeAlias = Sequence[KeyRule]
"""Those of one kind of event."""


def correlates(rules: KeyRules, event: CloudEvent, fixed: Mapping[str, JSON], given: Mapping[str, JSON]) -> bool:
    """Tell whether *event* may be taken by the instance whose values are *fixed*, where *given* are demanded.

    An event that was addressed to the instance belongs to it; values that it has must be right all the same.
    """
    for rule in rules:
        value = rule.value_in(event)
        if value is None:
            if event.is_addressed:
                continue
            return False
        wanted = given if rule.is_given else fixed
        if rule.name in wanted and as_text(wanted[rule.name]) != as_text(value):
            return False
    return True


def fixed_by(rules: KeyRules, event: CloudEvent) -> dict[str, JSON]:
    """Return the values that *event* fixes."""
    found = {rule.name: rule.value_in(event) for rule in rules if not rule.is_given}
    return {name: value for name, value in found.items() if value is not None}


def known_values(rules: KeyRules, fixed: Mapping[str, JSON], given: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return what the values must be: those that are *given*, and of the others those that are *fixed*."""
    sources = {rule.name: given if rule.is_given else fixed for rule in rules}
    found = {name: source.get(name) for name, source in sources.items()}
    return {name: value for name, value in found.items() if value is not None}


class CorrelationKeys:
    """The values that events have fixed, by which an instance knows its own: *values*, which this changes."""

    def __init__(self, values: dict[str, JSON]) -> None:
        self.values = values

    @property
    def names(self) -> list[str]:
        """The names of the values, in the order in which they were fixed."""
        return list(self.values)

    def fix(self, rules: KeyRules, event: CloudEvent) -> None:
        if rules:
            self.values.update(fixed_by(rules, event))

    def free(self, names: Iterable[str]) -> None:
        """Let events with other values belong to the instance again."""
        for name in names:
            self.values.pop(name, None)
