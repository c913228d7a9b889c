"""Which events belong to an instance, where no scenario can tell."""

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.runtime.waiting import KeyRule, correlates, known_values


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
    """A value that is given is that one, whatever another event fixed; any other what was fixed."""
    rules = [_rule("order"), _rule("shop", is_given=True), _rule("item")]
    fixed: dict[str, JSON] = {"order": 7, "shop": "south", "other": 1}
    assert known_values(rules, fixed, {"shop": "north", "order": 8}) == {"order": 7, "shop": "north"}
    assert known_values(rules, fixed, {}) == {"order": 7}
