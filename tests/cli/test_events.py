"""`swf events` as a process."""

import json

from tests.cli.conftest import Dev, Swf

PLACED = '{"id": "1", "source": "shop", "type": "placed", "order": 7}'
ORDER = """\
id: order
version: '1.0'
specVersion: '0.8'
start: Wait
events: [{name: Placed, type: placed, source: shop, correlation: [{contextAttributeName: order}]}]
states: [{name: Wait, type: event, onEvents: [{eventRefs: [Placed]}], end: true}]
"""


def test_explain(swf: Swf) -> None:
    """Of every definition in a folder it says what the event means to it; nothing is asked of a server."""
    swf.write("defs/order.yaml", ORDER)
    swf.write("defs/hello.yaml", (swf.folder / "hello.yaml").read_text())
    swf.write("placed.json", PLACED)
    ended = swf("events", "explain", "defs", "placed.json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (
        "starts the instance with order=7 of 'order', which is order:c350c154131475f461029663: it is its Placed\n"
        "means nothing to 'hello': it consumes no events\n"
    )


def test_explain_as_json(swf: Swf) -> None:
    """The event may be on stdin; where nothing consumes it, the exit code tells."""
    swf.write("order.yaml", ORDER)
    ended = swf("events", "explain", "order.yaml", "-", "--output", "json", stdin=PLACED)
    [start] = json.loads(ended.out)["starts"]
    assert (start["definition"], start["key"], start["needs"]) == ("order", {"order": "7"}, ["Placed"])
    ended = swf("events", "explain", "order.yaml", "-", stdin=PLACED.replace("placed", "lost"))
    assert ended.code == 1
    assert ended.out.startswith("no definition consumes the event of type 'lost'\n")


def test_send(swf: Swf, dev: Dev) -> None:
    """An event starts an instance, whose id is told; sent again it has no further effect."""
    swf.write("order.yaml", ORDER.replace("order", "order-sent"))
    swf.write("placed.json", PLACED.replace('"order"', '"order-sent"'))
    at = ("--address", dev.address)
    for _ in range(2):
        ended = swf("events", "send", "order.yaml", "placed.json", "--output", "json", *at)
        [answer] = json.loads(ended.out)
        [receipt] = answer["receipts"]
        assert (ended.code, receipt["definition"], receipt["status"]) == (0, "order-sent", "accepted")
    assert ended.err == f"the event '1' of type 'placed' goes to {receipt['instance']}\n"
    found = swf("result", receipt["instance"], *at)
    while "there is no instance" in found.err:  # its mailbox has yet to begin it
        found = swf("result", receipt["instance"], *at)
    assert (found.code, found.out) == (0, "{}\n")


def test_send_nowhere(swf: Swf, dev: Dev) -> None:
    """What no definition consumes is told, and an event without an id is refused."""
    swf.write("order.yaml", ORDER)
    at = ("--address", dev.address)
    ended = swf("events", "send", "order.yaml", "-", *at, stdin=PLACED.replace("placed", "lost"))
    assert (ended.code, ended.err) == (
        1,
        "the event '1' of type 'lost' goes nowhere: see swf events explain\n",
    )
    ended = swf("events", "send", "order.yaml", "-", *at, stdin='{"type": "placed", "source": "shop", "order": 1}')
    assert ended.code == 2
    assert "has no id" in ended.err


def test_send_to_an_instance(swf: Swf, dev: Dev) -> None:
    """An event reaches the instance that the sender names or, where that is trusted, the event itself."""
    definition = ORDER.replace("order", "order-by-hand").replace("Placed, type: placed", "Placed, type: by-hand")
    swf.write("order.yaml", definition)
    swf.write("none.yaml", definition.replace("id: order-by-hand", "id: none").replace("type: by-hand", "type: none"))
    at = ("--address", dev.address)
    placed = {"id": "1", "source": "shop", "type": "by-hand", "order-by-hand": 7, "swfinstance": "hand-1"}
    for instance, options in (("hand-1", ["--trust-instance"]), ("hand-2", ["--instance", "hand-2"])):
        assert swf("start", "order.yaml", "--id", instance, *at).code == 0
        assert swf("events", "send", "none.yaml", "-", *at, stdin=json.dumps(placed)).code == 1  # nobody trusts it
        ended = swf("events", "send", "none.yaml", "-", *options, *at, stdin=json.dumps(placed))
        assert (ended.code, ended.err) == (0, f"sent the event '1' of type 'by-hand' to {instance}\n")
        assert swf("result", instance, *at).out == "{}\n"
    for lost in ("hand-1", "no-such", "swf-events:order"):
        ended = swf("events", "send", "none.yaml", "-", "--instance", lost, *at, stdin=json.dumps(placed))
        assert ended.code == 1
        assert f"does not reach {lost}: no such instance runs" in ended.err
