"""Which events belong to an instance, where no scenario can tell."""

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.languages.serverless_workflow.execution.correlation import correlates, known_values
from swf_temporal.languages.serverless_workflow.model.definitions import Event

ORDER_AND_SHOP = Event.model_validate(
    {
        "name": "paid",
        "type": "paid",
        "correlation": [{"contextAttributeName": "order"}, {"contextAttributeName": "shop"}],
    }
)


def _belongs(fixed: dict[str, JSON], *, is_addressed: bool, **attributes: JSON) -> bool:
    event = CloudEvent("1", "s", "paid", None, attributes, is_addressed=is_addressed)
    return correlates(ORDER_AND_SHOP, event, fixed, {})


def test_every_attribute_counts_that_an_addressed_event_has() -> None:
    """One that it does not have is passed over, and those behind it are compared all the same."""
    assert _belongs({"shop": "north"}, is_addressed=True, shop="north")
    assert not _belongs({"shop": "north"}, is_addressed=True, shop="south")
    assert not _belongs({"shop": "north"}, is_addressed=False, shop="north")


def test_what_the_definition_fixes_itself_counts_before_what_events_fixed() -> None:
    """An attribute with a value of its own has that one, whatever another event fixed; any other what was fixed."""
    definition = Event.model_validate(
        {
            "name": "paid",
            "type": "paid",
            "correlation": [
                {"contextAttributeName": "Order"},
                {"contextAttributeName": "shop", "contextAttributeValue": "north"},
                {"contextAttributeName": "item"},
            ],
        }
    )
    fixed: dict[str, JSON] = {"order": 7, "shop": "south", "other": 1}
    assert known_values(definition, fixed, {"shop": "north", "order": 8}) == {"order": 7, "shop": "north"}
    assert known_values(definition, fixed, {}) == {"order": 7}
