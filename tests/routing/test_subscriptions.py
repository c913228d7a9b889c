"""Where events and those who wait for them meet."""

from typing import Any

import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.routing import instance_id, route, subscription
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition

ORDER = {"contextAttributeName": "Order"}
LEG = {"contextAttributeName": "leg"}
MINE = {"contextAttributeName": "mine", "contextAttributeValue": "${ .id }"}
FIXED = {"contextAttributeName": "kind", "contextAttributeValue": "big"}


def definition(*correlation: dict[str, Any], start: tuple[dict[str, Any], ...] = (ORDER,)) -> Definition:
    """Return a definition that events start which are correlated by *start*, and that waits for others."""
    return load(
        {
            "id": "order",
            "version": "1.0",
            "specVersion": "0.8",
            "start": "Wait",
            "events": [
                {"name": "Placed", "type": "placed", "correlation": list(start)},
                {"name": "Paid", "type": "paid", "correlation": list(correlation)},
            ],
            "states": [
                {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["Placed"]}], "transition": "Pay"},
                {"name": "Pay", "type": "event", "onEvents": [{"eventRefs": ["Paid"]}], "end": True},
            ],
        }
    )


@pytest.mark.parametrize(("correlation", "known", "key", "values", "started"), [
    ((ORDER,), {"order": "7"}, {"order": "7"}, {"order": "7"}, "order"),
    ((ORDER, LEG), {"order": "7", "leg": "x"}, {"order": "7"}, {"order": "7", "leg": "x"}, "order"),
    ((ORDER, LEG), {"order": "7"}, {"order": "7"}, {"order": "7"}, "order"),
    ((MINE, LEG, FIXED), {"mine": "1", "kind": "big"}, {"mine": "1"}, {"mine": "1"}, None),
    ((MINE, ORDER), {"mine": "1", "order": "7"}, {"mine": "1", "order": "7"}, None, None),
    ((LEG,), {"leg": "x"}, {}, {"leg": "x"}, None),
    ((LEG,), {}, {}, {}, None),
])  # fmt: skip
def test_both_know_where_they_meet(
    correlation: tuple[dict[str, Any], ...],
    known: dict[str, str],
    key: dict[str, str],
    values: dict[str, str] | None,
    started: str | None,
) -> None:
    """An instance subscribes where an event comes that it may take, and says what it knows beside that."""
    one = definition(*correlation)
    found = subscription(one, "Paid", known)
    assert found is not None
    assert (found.key, found.values) == (key, known if values is None else values)
    assert found.started == (instance_id("order", key) if started else None)
    event = CloudEvent("1", "bank", "paid", None, {"order": 7, "leg": "x", "mine": 1, "kind": "big"})
    [awaiting] = route(event, [one]).awaited
    assert (awaiting.key, awaiting.instance_id) == (found.key, found.started)
    assert found.values.items() <= awaiting.values.items()


def test_what_does_not_subscribe() -> None:
    """What is not correlated, what only starts instances, and an instance that does not know what it should."""
    assert subscription(definition(), "Paid", {}) is None
    assert subscription(definition(FIXED), "Paid", {"kind": "big"}) is None
    assert subscription(definition(ORDER), "Placed", {"order": "7"}) is None
    assert subscription(definition(ORDER), "Paid", {}) is None


def test_an_event_that_is_compared_with_data_starts_nothing() -> None:
    """An instance that was begun by hand waits for it where it starts."""
    one = definition(ORDER, start=(MINE,))
    event = CloudEvent("1", "s", "placed", None, {"mine": 1})
    assert not route(event, [one]).starts
    [awaiting] = route(event, [one]).awaited
    assert (awaiting.event, awaiting.key, awaiting.instance_id) == ("Placed", {"mine": "1"}, None)
