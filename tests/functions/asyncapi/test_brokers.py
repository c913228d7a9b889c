"""Operations of one AsyncAPI document are carried out over real brokers of every kind."""

import asyncio
import json
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.events.brokers.port import Bindings, Channel, Message
from swf_temporal.events.brokers.protocols import WIRES, Brokers
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.http.client import Http
from swf_temporal.settings.calls import Settings
from tests.brokers.servers import HOST, Server

BROKERS = {"mqtt": "mosquitto", "amqp": "rabbitmq", "nats": "nats_server", "kafka": "kafka_cluster"}
MESSAGES = {"any": {"correlationId": {"location": "$message.header#/nr"}, "contentType": "application/json"}}


class Street:
    def __init__(self, protocol: str, server: Server, folder: Path) -> None:
        self.protocol = protocol
        self.port = server.port
        self.folder = folder
        self._nr = uuid4().hex
        (folder / "street.json").write_text(json.dumps(self._document()), encoding="utf-8")

    def address(self, name: str) -> str:
        return f"{name}-{self._nr}"

    def channel(self, name: str) -> Channel:
        binding = self._binding(self.address(name)).get(self.protocol, {})
        address, client = self.address(name), uuid4().hex
        return Channel(self.protocol, HOST, self.port, "", address, client, 10, bindings=Bindings(channel=binding))

    def back(self, address: str) -> Channel:
        return Channel(self.protocol, HOST, self.port, "", address, uuid4().hex, 10)

    def call(self, operation: str, arguments: JSON = None) -> Call:
        metadata: Any = {"result": "message"} if operation == "hear" else {}
        function = Function(name="street", type="asyncapi", operation=f"street.json#{operation}", metadata=metadata)
        return Call(function, arguments, base=str(self.folder), idempotency_key=uuid4().hex)

    def _binding(self, address: str) -> dict[str, Any]:
        return {"amqp": {"is": "queue", "queue": {"name": address, "durable": False}}}

    def _document(self) -> dict[str, Any]:
        def channel(name: str) -> dict[str, Any]:
            address = self.address(name)
            return {"address": address, "messages": MESSAGES, "bindings": self._binding(address)}

        lights, questions = {"$ref": "#/channels/lights"}, {"$ref": "#/channels/questions"}
        return {
            "asyncapi": "3.0.0",
            "servers": {"street": {"host": f"{HOST}:{self.port}", "protocol": self.protocol}},
            "channels": {
                "lights": channel("lights"),
                "questions": channel("questions"),
                "inbox": {"address": None, "messages": MESSAGES},
            },
            "operations": {
                "tell": {"action": "send", "channel": lights},
                "hear": {"action": "receive", "channel": lights},
                "ask": {
                    "action": "send",
                    "channel": questions,
                    "reply": {
                        "channel": {"$ref": "#/channels/inbox"},
                        "address": {"location": "$message.header#/replyTo"},
                    },
                },
            },
        }


@pytest.fixture(params=sorted(BROKERS))
def street(request: pytest.FixtureRequest, tmp_path: Path) -> Street:
    server: Server = request.getfixturevalue(BROKERS[request.param])
    return Street(request.param, server, tmp_path)


async def test_what_a_workflow_sends_arrives(street: Street) -> None:
    broker = Brokers(HttpBroker(Http(Settings()))).speaking(WIRES[street.protocol].family)
    async with aclosing(Functions()) as functions, broker.receive(street.channel("lights")) as deliveries:
        arguments: JSON = {"payload": {"on": True}, "headers": {"by": "ada"}, "correlationId": "7"}
        assert await functions.call(street.call("tell", arguments)) is None
        delivery = await anext(deliveries)
        await delivery.accept()
    message = delivery.message
    assert (json.loads(message.payload), message.content_type) == ({"on": True}, "application/json")
    assert message.headers.items() >= {"by": "ada", "nr": "7"}.items()
    assert "Idempotency-Key" in message.headers


async def test_a_workflow_receives_what_is_for_it(street: Street) -> None:
    async with aclosing(Functions()) as functions:
        hearing = asyncio.create_task(functions.call(street.call("hear", {"correlationId": "7"})))
        while not hearing.done():
            with suppress(CallFailed):  # a queue of AMQP is there once somebody receives from it
                for number in ("6", "7"):
                    await functions.call(street.call("tell", {"payload": {"nr": number}, "correlationId": number}))
            await asyncio.wait([hearing], timeout=0.1)
        message = await hearing
    assert isinstance(message, dict)
    assert (message["payload"], message["correlationId"]) == ({"nr": "7"}, "7")


async def test_a_workflow_asks_and_is_answered(street: Street) -> None:
    broker = Brokers(HttpBroker(Http(Settings()))).speaking(WIRES[street.protocol].family)
    async with aclosing(Functions()) as functions, broker.receive(street.channel("questions")) as deliveries:
        asking = asyncio.create_task(functions.call(street.call("ask", {"payload": "how?"})))
        delivery = await anext(deliveries)
        await delivery.accept()
        asked = delivery.message
        reply = Message(b'{"answer": 42}', "application/json", {"nr": asked.headers["nr"]})
        await broker.send(street.back(asked.headers["replyTo"]), reply)
        assert await asking == {"answer": 42}
