"""Functions of the type asyncapi as calls of DSL 1.0, which say themselves whether they send or receive."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from swf_temporal.languages.base import Upgraded
from swf_temporal.languages.known import upgrade
from swf_temporal.text.fetching.resources import Resources
from swf_temporal.text.origin import Source

VERSION_3 = {
    "asyncapi": "3.0.0",
    "channels": {
        "orders": {"address": "orders"},
        "arrivals": {"address": "rides/{ride}/arrivals", "parameters": {"ride": {}}},
        "rides": {
            "address": "rides/{id}",
            "parameters": {"id": {"location": "$message.payload#/id"}},
            "bindings": {"ws": {"query": {"properties": {"token": {}}}}},
        },
    },
    "operations": {
        "send": {"action": "send", "channel": {"$ref": "#/channels/orders"}},
        "receive": {"action": "receive", "channel": {"$ref": "#/channels/orders"}},
        "ask": {"action": "send", "channel": {"$ref": "#/channels/orders"}, "reply": {}},
        "arrived": {"action": "receive", "channel": {"$ref": "#/channels/arrivals"}},
        "ride": {"action": "send", "channel": {"$ref": "#/channels/rides"}},
        "elsewhere": {"action": "send", "channel": {"$ref": "other.yaml#/channels/rides"}},
    },
}
VERSION_2 = {
    "asyncapi": "2.6.0",
    "channels": {"orders": {"publish": {"operationId": "send"}, "subscribe": {"operationId": "receive"}}},
}


def written(folder: Path, operation: Any, arguments: Any = None, document: Any = None, **more: Any) -> Upgraded:
    (folder / "messages.yaml").write_text(yaml.safe_dump(document or VERSION_3))
    operation = f"messages.yaml#{operation}" if isinstance(operation, str) else operation
    function = {"name": "exchange", "type": "asyncapi", "operation": operation, **more}
    ref = {"refName": "exchange", **({} if arguments is None else {"arguments": arguments})}
    state = {"name": "A", "type": "operation", "actions": [{"functionRef": ref}], "end": True}
    workflow = {"id": "one", "specVersion": "0.8", "functions": [function], "states": [state]}
    resources = Resources(folders=(folder,))
    return upgrade(Source(json.dumps(workflow)), "1.0", fetch=lambda uri: resources.fetch(uri, folder))


def call(made: Upgraded) -> dict[str, Any]:
    assert made.is_complete, made.changes
    found: dict[str, Any] = json.loads(made.text)["use"]["functions"]["exchange"]
    return found


@pytest.mark.parametrize("document", [VERSION_2, VERSION_3])
def test_the_document_says_whether_a_call_sends_or_receives(tmp_path: Path, document: Any) -> None:
    sent = call(written(tmp_path, "send", {"a": 1}, document))
    assert sent["with"]["message"] == {"payload": {"a": "${ .a }"}}
    received = call(written(tmp_path, "receive", document=document))
    assert received["with"]["subscription"] == {"consume": {"amount": 1}}
    assert "message" not in received["with"]
    assert received["output"] == {"as": "${ .[0].payload }"}


def test_an_operation_may_say_it_otherwise_and_name_a_server(tmp_path: Path) -> None:
    operation = {"document": "messages.yaml", "operation": "receive", "action": "send"}
    given = {"payload": {"a": 1}, "server": {"name": "x"}}
    found = call(written(tmp_path, operation, given))["with"]
    assert found["message"] == {"payload": "${ .payload }"}
    assert found["server"] == {"name": "x"}
    apart = written(tmp_path, operation, {**given, "server": {"name": "${ .name }"}})
    assert "whose server is an expression, or another in some of its calls" in str(apart.changes)
    channel = {"document": "messages.yaml", "channel": "orders", "action": "receive"}
    assert "subscription" in call(written(tmp_path, channel, document=VERSION_2))["with"]


def test_a_whole_message_is_what_is_received(tmp_path: Path) -> None:
    assert call(written(tmp_path, "receive", metadata={"result": "message"}))["output"] == {"as": "${ .[0] }"}


def test_a_part_of_the_address_may_come_from_the_message(tmp_path: Path) -> None:
    assert call(written(tmp_path, "ride", {"id": 3}))["with"]["message"] == {"payload": {"id": "${ .id }"}}


@pytest.mark.parametrize(
    ("operation", "arguments", "message"),
    [
        ("ask", {"a": 1}, "which sends a message and waits for the reply: 1.0 sends it, and does not wait"),
        ("arrived", {"ride": 1}, "with 'ride' as a part of the channel's address, which 1.0 has not"),
        ("ride", {"id": 1, "token": "x"}, "with 'token' as a part of the channel's address"),
        ("receive", {"correlationId": "x"}, "which receives a message, with the argument 'correlationId'"),
        ("send", {"correlationId": "x"}, "with a correlationId, which a message that 1.0 sends has not"),
        ("nothing", None, "the document 'messages.yaml' of the function 'exchange', which has no 'nothing'"),
        ("elsewhere", None, "which has no 'elsewhere' that is written in it"),
        (
            {"document": "missing.yaml", "operation": "send"},
            None,
            "'missing.yaml' of the function 'exchange' is needed to know whether the function sends or receives",
        ),
    ],
)
def test_what_a_call_cannot_say_is_refused(tmp_path: Path, operation: Any, arguments: Any, message: str) -> None:
    made = written(tmp_path, operation, arguments)
    assert not made.is_complete
    [told] = [one for one in made.changes if one.kind == "inexpressible"]
    assert message in told.message
    assert told.line == 1
