"""What `swf event` says of the events that it sends, as a process, on `swf dev`."""

import json

import pytest

from tests.cli.conftest import On
from tests.definitions import definition

pytestmark = pytest.mark.temporal

TWICE = definition("""\
id: twice
events:
  - {name: Paid up, type: com.paid, source: shop}
  - {name: Shipped, type: com.shipped, source: shop}
  - {name: Weighed, type: com.weighed, source: shop, correlation: [{contextAttributeName: parcel}]}
  - name: Signed
    type: com.signed
    source: shop
    correlation: [{contextAttributeName: hand, contextAttributeValue: left}]
states:
  - {name: First, type: event, onEvents: [{eventRefs: [Paid up]}], transition: Second}
  - {name: Second, type: event, onEvents: [{eventRefs: [Shipped]}, {eventRefs: [Weighed, Signed]}], end: true}
""")


@pytest.fixture(autouse=True)
def _twice(on: On) -> None:
    on.swf.write("twice.yaml", TWICE)


def test_what_became_of_it(on: On) -> None:
    on("start", "twice.yaml", "-w", "e-1")
    on("status", "e-1")
    assert on("event", "e-1", "--name", "Shipped") == (0, "", "e-1 keeps event 'Shipped' until it is awaited\n")
    paid = ["event", "-w", "e-1", "com.paid", "--source", "shop", "--attribute", "id=7"]
    code, out, err = on(*paid, "-o", "json")
    assert (code, json.loads(out)) == (0, {"id": "e-1", "event": "com.paid", "status": "taken"})
    assert err == "e-1 took an event of type 'com.paid' with the id '7'\n"
    assert on("result", "e-1")[0] == 0


def test_duplicate(on: On) -> None:
    on("start", "twice.yaml", "-w", "e-2")
    on.swf.write("shipped.json", '[{"id": "1", "type": "com.shipped", "source": "shop"}]')
    assert "status: kept" in on("event", "e-2", "--file", "shipped.json", "-o", "yaml")[1]
    code, out, err = on("event", "e-2", "--file", "shipped.json", "-o", "yaml")
    assert (code, out) == (0, "- id: e-2\n  event: com.shipped\n  status: duplicate\n")
    assert "already had an event of type 'com.shipped' with the id '1'" in err
    on("terminate", "e-2")


@pytest.mark.parametrize(("arguments", "told"), [
    (["--name", "Paid Up"], "'e-3' has no event called 'Paid Up'\n  did you mean 'Paid up'?"),
    (["--name", "xyz"], "'e-3' has no event called 'xyz'\n  it takes events called Paid up, Shipped, Weighed, Signed"),
    (["com.piad"], "'e-3' takes no event of type 'com.piad'\n  did you mean 'com.paid'?"),
    (["com.weighed", "--source=shop"], "it lacks the attribute 'parcel', which identifies"),
    (["com.signed", "--source=shop"], "it has no attribute 'hand', which is to be 'left'"),
    (["com.signed", "--source=shop", "--attribute=hand=x"], "its attribute 'hand' is 'x', not 'left'"),
    (["com.paid"], "whose source is 'shop' only, and this one's is 'swf'"),
])  # fmt: skip
def test_never_taken(on: On, arguments: list[str], told: str) -> None:
    on("start", "twice.yaml", "-w", "e-3")
    code, out, err = on("event", "e-3", *arguments)
    assert (code, out) == (1, "")
    assert told in err
    on("terminate", "e-3")


def test_without_a_worker(on: On) -> None:
    on("start", "twice.yaml", "-w", "e-4", "--task-queue", "nobody")
    assert on("event", "e-4", "--name", "Paid up", "--no-wait") == (
        0, "", "sent event 'Paid up' to e-4; no worker has answered for it\n",
    )  # fmt: skip
    code, out, err = on("event", "e-4", "--name", "Paid up")
    assert (code, out) == (1, "")
    assert err.startswith("error: no worker answered for 'e-4' within 10 seconds\n")
    assert "--no-wait" in err
    on("terminate", "e-4")


def test_no_instance_of_a_definition(on: On) -> None:
    on("start", "hello", "-w", "e-5", "--wait")
    code, _, err = on("event", "e-5", "--name", "any")
    assert code == 2
    assert "the instance 'e-5' has ended already" in err
