"""What differs between two definitions, and what that means."""

from typing import Any

import pytest

from swf_temporal.base.errors import UsageError
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.operations.compat import compare, named

OLD: dict[str, Any] = {
    "id": "orders", "version": "1.0.0", "specVersion": "0.8",
    "functions": [{"name": "charge", "type": "custom", "operation": "charge"}],
    "events": [{"name": "paid", "type": "com.paid", "source": "shop", "correlation": [{"contextAttributeName": "o"}]}],
    "states": [{"name": "Charge", "type": "operation", "actions": [{"functionRef": "charge"}], "transition": "Wait"},
               {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["paid"]}], "end": True}],
}  # fmt: skip
WITH_SCHEMA = [{**OLD["events"][0], "metadata": {"dataSchema": {"type": "object"}}}]
SCHEDULED = {"stateName": "Charge", "schedule": "R/PT1H"}


def changed(**changes: Any) -> dict[str, Any]:
    return {**OLD, "version": "1.1.0", **changes}


def codes(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one.code, str(one.severity)) for one in compare(load(old), load(new)).consequences]


USUAL = [("running-instances", "note"), ("new-instances", "note")]


@pytest.mark.parametrize(("old", "new", "told"), [
    (OLD, OLD, [("same-text", "note")]),
    (OLD, changed(), USUAL),
    (OLD, {**OLD, "name": "Orders"}, [("running-instances", "note"), ("same-version", "warning")]),
    (OLD, changed(version="0.9.0"), [("running-instances", "note"), ("not-the-latest", "warning")]),
    (OLD, changed(id="bills"), [("other-id", "warning")]),
    (OLD, changed(start=SCHEDULED), [*USUAL, ("schedule", "note")]),
    ({**OLD, "start": SCHEDULED}, changed(), [*USUAL, ("schedule", "warning")]),
    ({**OLD, "start": SCHEDULED}, changed(start=SCHEDULED), [*USUAL, ("schedule", "warning")]),
    (OLD, changed(dataInputSchema={"schema": {"required": ["a"]}}), [*USUAL, ("input-schema", "warning")]),
    (OLD, changed(secrets=["token"]), [*USUAL, ("secrets", "warning")]),
    ({**OLD, "secrets": ["token"]}, changed(), [*USUAL, ("secrets", "note")]),
    (OLD, changed(events=[{**OLD["events"][0], "type": "paid.v2"}]), [*USUAL, ("events-consumed", "warning")]),
    ({**OLD, "events": WITH_SCHEMA}, changed(events=WITH_SCHEMA), USUAL),
    (OLD, changed(functions=[{"name": "charge", "type": "custom", "operation": "bill"}]),
     [*USUAL, ("functions", "warning")]),
])  # fmt: skip
def test_what_it_means(old: dict[str, Any], new: dict[str, Any], told: list[tuple[str, str]]) -> None:
    assert codes(old, new) == told


def test_the_places_that_differ() -> None:
    first, second = OLD["states"]
    states = [
        {**first, "name": "Bill"},
        {**second, "timeouts": {"eventTimeout": "PT1H"}, "end": {"terminate": True}},
        {"name": "Tell", "type": "inject", "data": {}, "end": True},
    ]
    events = [{**OLD["events"][0], "correlation": [{"contextAttributeName": "order"}]}]
    found = compare(load(OLD), load(changed(states=states, events=events, start="Bill"))).changes
    assert [(" › ".join(one.path), one.kind) for one in found] == [
        ("version", "changed"),
        ("events › paid › correlation", "changed"),
        ("states › Wait › end", "changed"),
        ("states › Wait › timeouts", "added"),
        ("states › Bill", "renamed"),
        ("states › Tell", "added"),
        ("start", "added"),
    ]
    renamed = next(one for one in found if one.kind == "renamed")
    assert renamed.to_json() == {"path": ["states", "Bill"], "kind": "renamed", "old": "Charge"}


def test_workflows_of_direktiv_are_compared_alike() -> None:
    old = {"id": "/pay", "states": [{"id": "a", "type": "consumeEvent", "event": {"type": "paid"}}]}
    new = {"id": "/pay", "states": [{"id": "a", "type": "consumeEvent", "event": {"type": "billed"}}]}
    found = compare(load(old), load(new))
    assert [one.path for one in found.changes] == [("states", "a", "event", "type")]
    assert [one.code for one in found.consequences] == ["running-instances", "same-version", "events-consumed"]


def test_definitions_by_their_ids() -> None:
    old, new = load(OLD), load(changed())
    catalogue = Catalogue([old, new])
    assert named(catalogue, "orders") is new
    assert named(catalogue, "orders@1.0.0") is old
    with pytest.raises(UsageError, match=r"there is no version '2'"):
        named(catalogue, "orders@2")
    with pytest.raises(UsageError, match="no definition has that id"):
        named(catalogue, "bills")
