"""Where events go, and meet those who wait for them: a pure function, the same for every language."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.routing import (
    HOPS,
    Route,
    digest_of,
    hops_of,
    instance_id,
    next_hops,
    route,
    single_id,
    subscription,
)
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition

ORDER = """
id: order
version: '1.0'
specVersion: '0.8'
start: {start}
events:
- {{name: Placed, type: placed, source: shop/+, correlation: [{{contextAttributeName: Order}}]}}
- {{name: Packed, type: packed, correlation: [{{contextAttributeName: order}}, {{contextAttributeName: box}}]}}
- {{name: Paid, type: paid, source: 'bank/#', correlation: [{{contextAttributeName: order}}]}}
- {{name: Mine, type: mine, correlation: [{{contextAttributeName: who, contextAttributeValue: '${{ .me }}'}}]}}
- {{name: Fixed, type: fixed, correlation: [{{contextAttributeName: kind, contextAttributeValue: big}}]}}
- {{name: Loose, type: loose}}
- {{name: Made, type: made, source: us, kind: produced}}
{keepActive}
states:
- {{name: One, type: event, onEvents: [{{eventRefs: [Placed]}}, {{eventRefs: [Loose]}}], transition: Two}}
- {{name: All, type: event, exclusive: false, onEvents: [{{eventRefs: [Placed, Packed]}}], transition: Two}}
- {{name: Calc, type: event, onEvents: [{{eventRefs: [Mine]}}], transition: Two}}
- {{name: Const, type: event, onEvents: [{{eventRefs: [Fixed]}}], transition: Two}}
- {{name: Two, type: event, onEvents: [{{eventRefs: [Paid]}}], end: {{produceEvents: [{{eventRef: Made}}]}}}}
"""

DIREKTIV = """
id: /flow
start: {start}
states:
- {{id: a, type: consumeEvent, event: {{type: later, context: {{subject: 'x-*', of: 'jq(.me)'}}}}}}
"""

NOVEMBER = """
id: draft
startsAt: Wait
triggerDefs:
- {name: placed, type: placed, source: shop, correlationToken: $.order}
- {name: paid, type: paid, source: bank, correlationToken: $.order}
states:
- name: Wait
  type: EVENT
  events: [{eventExpression: placed and paid, timeout: PT1H, actions: [], nextState: End}]
- {name: End, type: DELAY, timeDelay: PT1S, end: true}
"""


def order(start: str = "One", extra: str = "") -> Definition:
    return load(ORDER.format(start=start, keepActive=extra))


def direktiv(start: str) -> Definition:
    return load(DIREKTIV.format(start=start))


def routed(definition: Definition, type_: str, source: str = "shop/1", **attributes: Any) -> Route:
    return route(CloudEvent("1", source, type_, attributes=attributes), [definition])


def test_events_of_one_key_belong_to_one_instance() -> None:
    """The key has names in lower case and values as texts, and the id of the instance follows from it."""
    [start] = routed(order(), "placed", order=7).starts
    [other] = routed(order(), "placed", source="shop/2", ORDER="7", more="x").starts
    assert (start.event, start.key, start.instance_id) == ("Placed", {"order": "7"}, other.instance_id)
    assert start.instance_id == instance_id("order", {"order": "7"})
    assert routed(order(), "placed", order=8).starts[0].instance_id != start.instance_id


def test_an_event_without_correlation_has_an_instance_of_its_own() -> None:
    [start] = routed(order(), "loose").starts
    assert (start.key, start.instance_id) == (None, single_id("order", CloudEvent("1", "shop/1", "loose")))
    nameless = route(CloudEvent("", "s", "loose"), [order()])
    assert nameless.passed[1].reason == "it has no id to recognize it by if it comes twice"
    [kept] = routed(order(extra="keepActive: true"), "loose").starts
    assert kept.key == {}


def test_several_events_share_what_all_of_them_have() -> None:
    """A state that gathers needs one instance for events that are correlated by different attributes."""
    [placed] = routed(order("All"), "placed", order=7).starts
    [packed] = routed(order("All"), "packed", order=7, box=1).starts
    assert placed.instance_id == packed.instance_id
    assert (packed.start.join, packed.start.gathers_itself, packed.key) == ("all", True, {"order": "7"})
    assert [one.event for one in routed(order("All"), "paid", "bank/a/b", order=7).awaited] == ["Paid"]


@pytest.mark.parametrize(("start", "event", "name", "reason"), [
    ("One", ("placed", "shop"), "Placed", "its source is 'shop', not 'shop/+'"),
    ("One", ("placed", "shop/1/2"), "Placed", "its source is 'shop/1/2', not 'shop/+'"),
    ("One", ("placed", "shop/1"), "Placed", "it lacks the attribute 'Order', which identifies its instance"),
    ("One", ("made", "us"), "Placed", "its type is 'made', not 'placed'"),
    ("Const", ("fixed", "s"), "Fixed", "it has no attribute 'kind', which is to be 'big'"),
    ("Calc", ("mine", "s"), "Mine", "its attribute 'who' is compared with data of an instance"),
])  # fmt: skip
def test_the_reason_is_told(start: str, event: tuple[str, str], name: str, reason: str) -> None:
    """Each event of a definition has a reason of its own."""
    found = routed(order(start), *event)
    assert found.leads_nowhere
    assert any(one.event == name and one.reason.startswith(reason) for one in found.passed)


def test_a_fixed_value_is_a_filter() -> None:
    [start] = routed(order("Const"), "fixed", kind="big").starts
    assert start.key is None
    [reason] = [one.reason for one in routed(order("Const"), "fixed", kind="small").passed if one.event == "Fixed"]
    assert reason == "its attribute 'kind' is 'small', not 'big'"


def test_waiting_instances_are_known_by_their_key() -> None:
    """Those of an event without correlation are all that run. What only starts instances, none of them waits for."""
    [one] = routed(order(), "paid", "bank/x/y", order=7).awaited
    assert (one.event, one.key) == ("Paid", {"order": "7"})
    assert not routed(order(), "loose").awaited
    [loose] = routed(order("Calc"), "loose").awaited
    assert (loose.event, loose.key) == ("Loose", None)


@pytest.mark.parametrize(("start", "event", "starts"), [
    ("{type: default}", {"type": "a"}, None),
    ("{type: event, event: {type: a, context: {subject: 'x-*'}}}", {"type": "a", "subject": "x-1"}, ("any", None)),
    ("{type: event, event: {type: a, context: {subject: 'x-*'}}}", {"type": "a", "subject": "y-1"}, None),
    ("{type: eventsXor, events: [{type: a}, {type: b}]}", {"type": "b"}, ("any", None)),
    ("{type: eventsAnd, events: [{type: a}, {type: b}]}", {"type": "b"}, ("all", {})),
    ("{type: eventsAnd, correlate: [of], events: [{type: a}, {type: b}]}", {"type": "b", "of": 1},
     ("all", {"of": "1"})),
    ("{type: eventsAnd, correlate: [of], events: [{type: a}, {type: b}]}", {"type": "b"}, None),
])  # fmt: skip
def test_direktiv_starts(start: str, event: dict[str, Any], starts: Any) -> None:
    """What is gathered before has no instance yet; the others have one for each event."""
    found = route(CloudEvent.from_json({"id": "1", "source": "s", **event}), [direktiv(start)]).starts
    assert [(one.start.join, one.key) for one in found] == ([] if starts is None else [starts])
    assert all((one.instance_id is None) == (one.start.join == "all") for one in found)


def test_direktiv_contexts() -> None:
    """A glob counts; what is calculated from an instance's data does not, as it is not known here."""
    definition = direktiv("{type: default}")
    assert [one.key for one in routed(definition, "later", subject="x-1").awaited] == [None]
    assert routed(definition, "later", subject="y-1").passed[0].reason == "its attribute 'subject' is 'y-1', not 'x-*'"


def test_a_draft_correlates_by_what_stands_at_a_path() -> None:
    """The token of November 2019 is found in the data, too."""
    event = CloudEvent("1", "shop", "placed", data={"order": 7})
    [start] = route(event, [load(NOVEMBER)]).starts
    assert (start.start.join, start.key) == ("all", {"correlationtoken": "7"})
    [lacking] = {
        one.reason for one in route(CloudEvent("1", "shop", "placed"), [load(NOVEMBER)]).passed if "lacks" in one.reason
    }
    assert lacking == "it lacks the value 'correlationToken', which identifies its instance"


_KEYS = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=4)


@given(_KEYS, _KEYS)
def test_a_digest_tells_keys_apart(one: dict[str, str], other: dict[str, str]) -> None:
    assert (digest_of(one) == digest_of(other)) == (one == other)
    assert digest_of(dict(reversed(one.items()))) == digest_of(one)


BY_ORDER = {"contextAttributeName": "Order"}
LEG = {"contextAttributeName": "leg"}
MINE = {"contextAttributeName": "mine", "contextAttributeValue": "${ .id }"}
FIXED = {"contextAttributeName": "kind", "contextAttributeValue": "big"}


def definition(*correlation: dict[str, Any], start: tuple[dict[str, Any], ...] = (BY_ORDER,)) -> Definition:
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
    ((BY_ORDER,), {"order": "7"}, {"order": "7"}, {"order": "7"}, "order"),
    ((BY_ORDER, LEG), {"order": "7", "leg": "x"}, {"order": "7"}, {"order": "7", "leg": "x"}, "order"),
    ((BY_ORDER, LEG), {"order": "7"}, {"order": "7"}, {"order": "7"}, "order"),
    ((MINE, LEG, FIXED), {"mine": "1", "kind": "big"}, {"mine": "1"}, {"mine": "1"}, None),
    ((MINE, BY_ORDER), {"mine": "1", "order": "7"}, {"mine": "1", "order": "7"}, None, None),
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
    assert subscription(definition(BY_ORDER), "Placed", {"order": "7"}) is None
    assert subscription(definition(BY_ORDER), "Paid", {}) is None


def test_an_event_that_is_compared_with_data_starts_nothing() -> None:
    """An instance that was begun by hand waits for it where it starts."""
    one = definition(BY_ORDER, start=(MINE,))
    event = CloudEvent("1", "s", "placed", None, {"mine": 1})
    assert not route(event, [one]).starts
    [awaiting] = route(event, [one]).awaited
    assert (awaiting.event, awaiting.key, awaiting.instance_id) == ("Placed", {"mine": "1"}, None)


@pytest.mark.parametrize(("value", "hops"), [
    (0, 0), (7, 7), ("7", 7), ("-7", 0), (-7, 0), ("x", 0), (True, 0), (1.5, 0), (2**31, 0), ([], 0),
])  # fmt: skip
def test_what_a_sender_may_write(value: Any, hops: int) -> None:
    """An integer, or a text as the binary mode has it; anything else counts as none."""
    assert hops_of(CloudEvent("1", "s", "t", attributes={HOPS: value})) == hops


def test_the_longest_chain_counts() -> None:
    """Of several events that start an instance; and the number stays an integer of CloudEvents."""
    events = [CloudEvent("1", "s", "t", attributes={HOPS: 2}), CloudEvent("2", "s", "t")]
    assert (hops_of(), hops_of(*events), next_hops(2)) == (0, 2, 3)
    most = next_hops(next_hops(2**31 - 2))
    assert most == hops_of(CloudEvent("1", "s", "t", attributes={HOPS: str(10**30)})) == 2**31 - 1
