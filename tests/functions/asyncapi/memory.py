"""A broker in memory, which speaks every protocol: for what does not depend on any of them."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.events.brokers.families import Brokers
from swf_temporal.events.brokers.port import Broker, BrokerMessage, Channel, Message
from swf_temporal.functions.asyncapi.asyncapi import AsyncApi
from swf_temporal.functions.call import Call
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.http.client import Http
from swf_temporal.functions.port import Services
from swf_temporal.settings.calls import Settings

Responder = Callable[[Channel, Message], Message | None]


class Memory(Brokers):
    """Keeps what is sent until it is received. What was not accepted stays."""

    def __init__(self, http: Http) -> None:
        super().__init__(HttpBroker(http))
        self.sent: list[tuple[Channel, Message]] = []
        self.subscribed: list[Channel] = []
        self.accepted: list[Message] = []
        self.responder: Responder | None = None
        self._queues: defaultdict[str, asyncio.Queue[Message]] = defaultdict(asyncio.Queue)

    @property
    def channel(self) -> Channel:
        return self.sent[-1][0]

    @property
    def message(self) -> Message:
        return self.sent[-1][1]

    def put(self, address: str, payload: bytes | Any, **facts: Any) -> None:
        content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        self._queues[address].put_nowait(Message(content, **facts))

    def speaking(self, family: str) -> Broker:
        assert family
        return self

    async def send(self, channel: Channel, message: Message) -> None:
        self.sent.append((channel, message))
        answer = self.responder(channel, message) if self.responder else None
        if answer is not None:
            assert answer.reply_to is not None
            self._queues[answer.reply_to].put_nowait(replace(answer, reply_to=None))

    @asynccontextmanager
    async def receive(self, channel: Channel) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        self.subscribed.append(channel)
        yield self._deliveries(channel)

    async def _deliveries(self, channel: Channel) -> AsyncIterator[BrokerMessage]:
        while True:
            message = await self._queues[channel.address].get()

            async def accept(message: Message = message) -> None:
                self.accepted.append(message)

            yield BrokerMessage(message, accept)


class Bench:
    """Performs calls of the operations of one document."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.given()

    def given(self, **settings: Any) -> Bench:
        self._services = Services(Settings(**settings))
        self.memory = Memory(self._services.http)
        self._api = AsyncApi(self._services, self.memory)
        return self

    def has(self, document: dict[str, Any], name: str = "api.json") -> Bench:
        (self.folder / name).write_text(json.dumps(document), encoding="utf-8")
        return self

    async def call(self, operation: str, arguments: JSON = None, *, metadata: Any = None, **facts: Any) -> JSON:
        reference = operation if "#" in operation else f"api.json#{operation}"
        return await self.perform(reference, arguments, metadata=metadata, **facts)

    async def perform(
        self, operation: Any, arguments: JSON = None, *, key: str = "k", metadata: Any = None, auth_ref: Any = None,
        **facts: Any,
    ) -> JSON:  # fmt: skip
        function = Function("ask", "asyncapi", operation, metadata=metadata or {}, auth_ref=auth_ref)
        return await self._api.perform(Call(function, arguments, base=str(self.folder), idempotency_key=key, **facts))

    async def aclose(self) -> None:
        await self._api.aclose()
        await self._services.aclose()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    await bench.aclose()


def version2(channels: dict[str, Any], **more: Any) -> dict[str, Any]:
    servers = {"broker": {"url": "127.0.0.1:1", "protocol": "mqtt"}}
    return {"asyncapi": "2.6.0", "servers": servers, "channels": channels, **more}


def version3(channels: dict[str, Any], operations: dict[str, Any], **more: Any) -> dict[str, Any]:
    servers = {"broker": {"host": "127.0.0.1:1", "protocol": "mqtt"}}
    return {"asyncapi": "3.0.0", "servers": servers, "channels": channels, "operations": operations, **more}


def publishing(message: Any = None, address: str = "lights", **channel: Any) -> dict[str, Any]:
    operation: dict[str, Any] = {"operationId": "send"} | ({} if message is None else {"message": message})
    return version2({address: {"publish": operation, **channel}})


def subscribing(message: Any = None, address: str = "lights", **channel: Any) -> dict[str, Any]:
    operation: dict[str, Any] = {"operationId": "take"} | ({} if message is None else {"message": message})
    return version2({address: {"subscribe": operation, **channel}})


def sending(channel: dict[str, Any] | None = None, *, components: Any = None, **operation: Any) -> dict[str, Any]:
    """Return a document of version 3 whose one operation, `send`, sends over its one channel."""
    made = {"action": "send", "channel": {"$ref": "#/channels/lights"}, **operation}
    channels = {"lights": {"address": "lights", **(channel or {})}}
    return version3(channels, {"send": made}, components=components or {})
