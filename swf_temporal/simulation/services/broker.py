"""A scenario's broker, which takes and gives messages.

It stands where a protocol would, behind the port that all of them have. So what is sent, to which channel of which
server, is what the document and the definition say; how a protocol carries it is not part of a scenario.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

from swf_temporal.events.brokers.port import Broker, BrokerMessage, Channel, Message
from swf_temporal.events.brokers.protocols import WIRES, Brokers
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.http.client import Http
from swf_temporal.simulation.model.services import Service
from swf_temporal.simulation.services.answering import StubService, body_of, content_of, no_service


class StubBrokerAddress(NamedTuple):
    family: str
    host: str
    port: int


class ScriptedBrokers(Brokers):
    """The brokers of a scenario, whatever their protocol; what goes over HTTP goes to services of HTTP."""

    def __init__(self, http: Http, brokers: Mapping[StubBrokerAddress, StubService]) -> None:
        super().__init__(HttpBroker(http))
        self._scripted = _ScriptedBroker(brokers)

    def speaking(self, family: str) -> Broker:
        return super().speaking(family) if family == "http" else self._scripted


class _ScriptedBroker:
    """Takes messages, and gives those that wait on a channel, each of them once."""

    def __init__(self, brokers: Mapping[StubBrokerAddress, StubService]) -> None:
        self._brokers = brokers
        self._waiting = {
            (address, channel): [Message(*content_of(reply), reply.headers) for reply in replies.replies]
            for address, answering in brokers.items()
            for channel, replies in answering.service.requests.items()
        }
        self._asked: dict[str, tuple[str, Message]] = {}
        """By the address at which a reply is wanted: where the question went, and the question."""

    async def send(self, channel: Channel, message: Message) -> None:
        body = body_of(message.payload, message.content_type or "")
        self._answering(channel).record_request(f"SEND {channel.address}", message.headers, body)
        if message.reply_to is not None:
            self._asked[message.reply_to] = channel.address, message

    @asynccontextmanager
    async def receive(self, channel: Channel) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Give the messages that wait, and then end: there will not be another."""
        self._answering(channel).record_request(f"RECEIVE {channel.address}", dict(channel.credentials.headers), None)
        yield self._deliveries(channel)

    async def _deliveries(self, channel: Channel) -> AsyncIterator[BrokerMessage]:
        address, question = self._asked.get(channel.address, (channel.address, None))
        waiting = self._waiting.get((_server(channel), address), [])
        for message in list(waiting):

            async def accept(message: Message = message) -> None:
                waiting.remove(message)

            answers = None if question is None else question.correlation_id
            yield BrokerMessage(replace(message, correlation_id=answers), accept)

    def _answering(self, channel: Channel) -> StubService:
        server = _server(channel)
        if server not in self._brokers:
            raise no_service(f"{channel.protocol}://{channel.host}:{channel.port}")
        return self._brokers[server]


def server_of(service: Service) -> StubBrokerAddress:
    """Return where the broker is that the name of *service* is the URL of."""
    url = urlsplit(service.name)
    wire = WIRES[url.scheme]
    return StubBrokerAddress(wire.family, url.hostname or "", url.port or wire.port)


def _server(channel: Channel) -> StubBrokerAddress:
    return StubBrokerAddress(WIRES[channel.protocol].family, channel.host.lower(), channel.port or 0)
