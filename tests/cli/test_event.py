"""`swf event` and `swf events`, on `swf dev`."""

import json

import pytest

from tests.cli.conftest import Dev, On, Swf, free_port
from tests.definitions import definition

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


@pytest.mark.temporal
def test_what_became_of_it(on: On) -> None:
    on("start", "twice.yaml", "-w", "e-1")
    on("status", "e-1")
    assert on("event", "e-1", "--name", "Shipped") == (0, "", "e-1 keeps event 'Shipped' until it is awaited\n")
    paid = ["event", "-w", "e-1", "com.paid", "--source", "shop", "--attribute", "id=7"]
    code, out, err = on(*paid, "-o", "json")
    assert (code, json.loads(out)) == (0, {"id": "e-1", "event": "com.paid", "status": "taken"})
    assert err == "e-1 took an event of type 'com.paid' with the id '7'\n"
    assert on("result", "e-1")[0] == 0


@pytest.mark.temporal
def test_duplicate(on: On) -> None:
    on("start", "twice.yaml", "-w", "e-2")
    on.swf.write("shipped.json", '[{"id": "1", "type": "com.shipped", "source": "shop"}]')
    assert "status: kept" in on("event", "e-2", "--file", "shipped.json", "-o", "yaml")[1]
    code, out, err = on("event", "e-2", "--file", "shipped.json", "-o", "yaml")
    assert (code, out) == (0, "- id: e-2\n  event: com.shipped\n  status: duplicate\n")
    assert "already had an event of type 'com.shipped' with the id '1'" in err
    on("terminate", "e-2")


@pytest.mark.temporal
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


@pytest.mark.temporal
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


@pytest.mark.temporal
def test_no_instance_of_a_definition(on: On) -> None:
    on("start", "hello", "-w", "e-5", "--wait")
    code, _, err = on("event", "e-5", "--name", "any")
    assert code == 2
    assert "the instance 'e-5' has ended already" in err


PLACED = '{"id": "1", "source": "shop", "type": "placed", "order": 7}'
ORDER = definition("""\
id: order
start: Wait
events: [{name: Placed, type: placed, source: shop, correlation: [{contextAttributeName: order}]}]
states: [{name: Wait, type: event, onEvents: [{eventRefs: [Placed]}], end: true}]
""")
PARCEL = definition("""\
id: parcel
start: Wait
events:
  - name: Arrived
    type: arrived
    source: depot
    correlation: [{contextAttributeName: parcel, contextAttributeValue: '${ .parcel }'}]
  - {name: Lost, type: lost, source: depot}
  - {name: Found, type: found, source: depot}
states:
  - name: Wait
    type: switch
    eventConditions: [{eventRef: Arrived, end: true}, {eventRef: Lost, transition: Search}]
    defaultCondition: {end: true}
  - {name: Search, type: event, onEvents: [{eventRefs: [Found]}], end: true}
""")
ARRIVED = '{"id": "1", "source": "depot", "type": "arrived", "parcel": "7"}'


def test_explain(swf: Swf) -> None:
    swf.write("defs/order.yaml", ORDER)
    swf.write("defs/hello.yaml", (swf.folder / "hello.yaml").read_text())
    swf.write("placed.json", PLACED)
    away = swf.env["TEMPORAL_ADDRESS"] = f"127.0.0.1:{free_port()}"
    ended = swf("events", "explain", "defs", "placed.json")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[:2] == [
        "starts the instance with order=7 of 'order', which is order:c350c154131475f461029663, as its event 'Placed'",
        "is ignored by 'hello': it consumes no events",
    ]
    reason = f"no Temporal server answers at {away}: nothing listens there (connection refused)"
    assert lines[2:] == [f"no server was queried for the instances that get it: {reason}"]
    assert "no Temporal server answers" in swf.refused("events", "explain", "defs", "placed.json", "--address", away)


def test_explain_at_the_end_of_a_chain(swf: Swf) -> None:
    swf.write("order.yaml", ORDER)
    swf.env["TEMPORAL_ADDRESS"] = f"127.0.0.1:{free_port()}"
    last = json.dumps({**json.loads(PLACED), "swfhops": 100})
    ended = swf("events", "explain", "order.yaml", last)
    assert (ended.code, ended.out) == (1, "")
    assert "starts no instance of 'order': it would start another instance, after a chain of 100" in ended.err
    assert swf("events", "explain", "order.yaml", last.replace("100", "99")).code == 0


def test_explain_as_json(swf: Swf) -> None:
    swf.write("order.yaml", ORDER)
    swf.env["TEMPORAL_ADDRESS"] = f"127.0.0.1:{free_port()}"
    for argument, stdin in (("-", PLACED), (PLACED, "")):
        ended = swf("events", "explain", "order.yaml", argument, "--output", "json", stdin=stdin)
        found = json.loads(ended.out)
        [start] = found["starts"]
        assert (start["definition"], start["key"], start["needs"]) == ("order", {"order": "7"}, ["Placed"])
        assert (found["server"]["asked"], found["instances"]) == (False, None)
    ended = swf("events", "explain", "order.yaml", "-", stdin=PLACED.replace("placed", "lost"))
    assert ended.code == 1
    assert ended.out.startswith("no definition consumes the event of type 'lost'\n")
    assert "removed its double quotes" in swf.refused("events", "explain", "order.yaml", "{type: placed}")


def test_explain_instances(swf: Swf, dev: Dev) -> None:
    swf.write("parcel.yaml", PARCEL)
    at = ("--address", dev.address)
    for instance, parcel in (("parcel-7", 7), ("parcel-8", 8), ("parcel-9", 9)):
        assert swf("start", "parcel.yaml", "--id", instance, "--input", f'{{"parcel": "{parcel}"}}', *at).code == 0
    assert swf("events", "send", "parcel.yaml", ARRIVED.replace("7", "9"), *at).code == 0
    assert swf("result", "parcel-9", *at).code == 0
    assert swf("event", "parcel-8", "--name", "Lost", "--data", "{}", *at).code == 0
    ended = swf("events", "explain", "parcel.yaml", ARRIVED, *at)
    assert ended.out.splitlines() == [
        "may be taken by the instances of 'parcel' that wait for it with parcel=7, as its event 'Arrived'",
        f"on the server at {dev.address}:",
        "  parcel-7 gets it: it waits for such an event in 'Wait'",
        "  parcel-8 does not get it: it waits for 'Found', not for this event",
        "  parcel-9 does not get it: it has ended (completed)",
    ]
    ended = swf("events", "explain", "parcel.yaml", ARRIVED.replace("7", "6"), "--output", "json", *at)
    found = json.loads(ended.out)
    reasons = {one["instance"]: (one["gets"], one["status"], one["reason"]) for one in found["instances"]}
    assert reasons["parcel-7"] == (False, "running", "it waits for 'Arrived' with parcel=7")
    assert found["notes"] == [
        "no instance of 'parcel' gets it now: it is kept for an hour, and goes to the first that waits"
    ]
    ended = swf("events", "explain", "parcel.yaml", ARRIVED.replace("7", "9"), *at)
    assert ended.out.endswith("  'parcel' has had the event before: sent again it has no effect\n")


def test_send_with_sub_workflows(swf: Swf, dev: Dev) -> None:
    calls = "{name: Call, type: operation, actions: [{subFlowRef: callee}], end: true}"
    caller = ORDER.replace("id: order", "id: caller").replace("end: true}]", f"transition: Call}}, {calls}]")
    swf.write("caller.yaml", caller)
    swf.write(
        "callee.yaml",
        ORDER.replace("id: order", "id: callee")
        .replace("start: Wait", "start: Say")
        .replace("states: [", "states: [{name: Say, type: inject, data: {said: hello}, end: true}, "),
    )
    at = ("--address", dev.address)
    ended = swf("events", "send", "caller.yaml", PLACED, "--output", "json", *at)
    [answer] = json.loads(ended.out)
    [receipt] = answer["receipts"]
    assert receipt["definition"] == "caller"
    found = swf("result", receipt["instance"], *at)
    while "there is no instance" in found.err:
        found = swf("result", receipt["instance"], *at)
    assert (found.code, found.out) == (0, '{"said": "hello"}\n')


def test_send(swf: Swf, dev: Dev) -> None:
    swf.write("order.yaml", ORDER.replace("order", "ordersent"))
    swf.write("placed.json", PLACED.replace('"order"', '"ordersent"'))
    at = ("--address", dev.address)
    for _ in range(2):
        ended = swf("events", "send", "order.yaml", "placed.json", "--output", "json", *at)
        [answer] = json.loads(ended.out)
        [receipt] = answer["receipts"]
        assert (ended.code, receipt["definition"], receipt["status"]) == (0, "ordersent", "accepted")
    assert ended.err == f"the event '1' of type 'placed' goes to {receipt['instance']}\n"
    found = swf("result", receipt["instance"], *at)
    while "there is no instance" in found.err:  # its mailbox has yet to begin it
        found = swf("result", receipt["instance"], *at)
    assert (found.code, found.out) == (0, "{}\n")


def test_send_nowhere(swf: Swf, dev: Dev) -> None:
    swf.write("order.yaml", ORDER)
    at = ("--address", dev.address)
    ended = swf("events", "send", "order.yaml", "-", *at, stdin=PLACED.replace("placed", "lost"))
    assert (ended.code, ended.err) == (1, "the event '1' of type 'lost' has no destination: see swf events explain\n")
    assert "has no id" in swf.refused(
        "events", "send", "order.yaml", "-", *at, stdin='{"type": "placed", "source": "shop", "order": 1}'
    )


def test_send_to_an_instance(swf: Swf, dev: Dev) -> None:
    definition = ORDER.replace("order", "orderbyhand").replace("Placed, type: placed", "Placed, type: by-hand")
    swf.write("order.yaml", definition)
    swf.write("none.yaml", definition.replace("id: orderbyhand", "id: none").replace("type: by-hand", "type: none"))
    at = ("--address", dev.address)
    placed = {"id": "1", "source": "shop", "type": "by-hand", "orderbyhand": 7, "swfinstance": "hand-1"}
    for instance, options in (("hand-1", ["--trust-instance"]), ("hand-2", ["--instance", "hand-2"])):
        assert swf("start", "order.yaml", "--id", instance, *at).code == 0
        assert swf("events", "send", "none.yaml", "-", *at, stdin=json.dumps(placed)).code == 1  # nobody trusts it
        ended = swf("events", "send", "none.yaml", "-", *options, *at, stdin=json.dumps(placed))
        assert (ended.code, ended.err) == (0, f"sent the event '1' of type 'by-hand' to {instance}\n")
        assert swf("result", instance, *at).out == "{}\n"
    for lost in ("hand-1", "no-such", "swf-events:order"):
        ended = swf("events", "send", "none.yaml", "-", "--instance", lost, *at, stdin=json.dumps(placed))
        assert ended.code == 1
        assert f"does not reach {lost}: it is not running" in ended.err
