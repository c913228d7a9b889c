"""Which definition an event belongs to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.model.workflow import Event
from swf_temporal.runtime.correlation import KeyRule, Taken, assigned, correlates, is_like, known_values, usable

REFS = ["a", "b", "c", "d"]
EVENTS = st.lists(st.sets(st.sampled_from(REFS)).map(sorted), max_size=5)
"""Of each event the definitions that it is like."""


def _fits(ref: str, event: JSON) -> bool:
    return isinstance(event, dict) and ref in str(event["for"])


def _taken(events: list[list[str]]) -> Taken:
    taken: Taken = {}
    for number, like in enumerate(events):
        event: JSON = {"number": number, "for": "".join(like)}
        ref = next((ref for ref in usable(REFS, taken, _fits) if ref in like), None)
        if ref is not None:
            taken = assigned(event, ref, REFS, taken, _fits)
    return taken


def _most(events: list[list[str]], free: frozenset[str] = frozenset(REFS)) -> int:
    if not events:
        return 0
    first, *others = events
    return max([_most(others, free), *(1 + _most(others, free - {ref}) for ref in free & set(first))])


@given(EVENTS)
def test_as_many_definitions_as_can_have_an_event(events: list[list[str]]) -> None:
    """Taken one by one, without knowing what comes, events are as many as if all had been known."""
    assert len(_taken(events)) == _most(events)


@given(EVENTS)
def test_every_event_is_where_it_fits_and_nowhere_else(events: list[list[str]]) -> None:
    """What moves on moves to a definition that it is like, and none is taken twice or lost."""
    taken = _taken(events)
    assert all(_fits(ref, event) for ref, event in taken.items())
    numbers = [event["number"] for event in taken.values() if isinstance(event, dict)]
    assert len(set(numbers)) == len(numbers)
    earlier = _taken(events[:-1])
    assert {str(event) for event in earlier.values()} <= {str(event) for event in taken.values()}


def test_what_was_taken_first_stands_first() -> None:
    """Moving on does not change the order in which events were taken: in that order they are given back."""
    taken = _taken([["a", "b"], ["a", "c"], ["a"]])
    assert list(taken) == ["b", "c", "a"]


def test_definitions_that_have_none_come_first() -> None:
    taken = _taken([["a", "b"]])
    assert usable(REFS[:2], taken, _fits) == ["b", "a"]
    assert usable(REFS[:1], taken, _fits) == []


@pytest.mark.parametrize(("type_", "source", "expected"), [
    ("paid", None, True), ("sent", None, False), (None, "shop/north/1", True), ("sent", "shop/north/1", False),
    (None, None, True), (None, "shop/north", False), (None, "shop/north/1/2", False), (None, "shop/+/1", True),
    (None, "shop/+", False), (None, "shop/north/1/+", False), (None, "+/+/+", True), (None, "shop/#", True),
    (None, "shops/#", False), (None, "shop/+/2", False),
])  # fmt: skip
def test_which_events_a_definition_means(type_: str | None, source: str | None, *, expected: bool) -> None:
    """What it says of type and source holds, level by level; one that says nothing means all."""
    definition = Event(name="e", type=type_, source=source)
    assert is_like(definition, CloudEvent("1", "shop/north/1", "paid")) is expected


def _rule(name: str, *, is_given: bool = False) -> KeyRule:
    return KeyRule(name, lambda event: event.attribute(name), is_given)


def _belongs(fixed: dict[str, JSON], *, is_addressed: bool, **attributes: JSON) -> bool:
    event = CloudEvent("1", "s", "paid", None, attributes, is_addressed=is_addressed)
    return correlates([_rule("order"), _rule("shop")], event, fixed, {})


def test_every_value_counts_that_an_addressed_event_has() -> None:
    """One that it does not have is passed over, and those behind it are compared all the same."""
    assert _belongs({"shop": "north"}, is_addressed=True, shop="north")
    assert not _belongs({"shop": "north"}, is_addressed=True, shop="south")
    assert not _belongs({"shop": "north"}, is_addressed=False, shop="north")


def test_what_the_definition_gives_itself_counts_before_what_events_fixed() -> None:
    rules = [_rule("order"), _rule("shop", is_given=True), _rule("item")]
    fixed: dict[str, JSON] = {"order": 7, "shop": "south", "other": 1}
    assert known_values(rules, fixed, {"shop": "north", "order": 8}) == {"order": 7, "shop": "north"}
    assert known_values(rules, fixed, {}) == {"order": 7}
