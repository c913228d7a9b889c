"""Makes the calls that a scenario does not answer itself, to its stub services, as a worker would.

It replaces the protocols, behind their common port. So the content, the channel and the server of a message come from
the document and the definition; how a protocol transports it is not part of a scenario.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

import httpx

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.function_types import environment_name
from swf_temporal.base.importing import Origin, origin_of
from swf_temporal.events.brokers.families import WIRES, Brokers
from swf_temporal.events.brokers.port import Broker, BrokerMessage, Channel, Message
from swf_temporal.functions.asyncapi.asyncapi import AsyncApi
from swf_temporal.functions.calling import Calls, Functions
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.http.client import Http
from swf_temporal.functions.secrets import Secrets
from swf_temporal.runtime.external_activities import parse_activity
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.configuration import argument
from swf_temporal.settings.network import Network
from swf_temporal.simulation.model.services import Kind, Service
from swf_temporal.simulation.services.calling_thread import CallingThread
from swf_temporal.simulation.services.http import (
    THIS_MACHINE,
    GrpcService,
    HttpService,
    RecordedRequests,
    Rerouted,
    StubService,
    body_of,
    content_of,
    no_service,
)


class StubBrokerAddress(NamedTuple):
    family: str
    host: str
    port: int


class ScriptedBrokers(Brokers):
    """The brokers of a scenario, whatever their protocol; messages over HTTP are sent to HTTP services."""

    def __init__(self, http: Http, brokers: Mapping[StubBrokerAddress, StubService]) -> None:
        super().__init__(HttpBroker(http))
        self._scripted = _ScriptedBroker(brokers)

    def speaking(self, family: str) -> Broker:
        return super().speaking(family) if family == "http" else self._scripted


class _ScriptedBroker:
    """Accepts messages, and delivers those that wait on a channel, each of them once."""

    def __init__(self, brokers: Mapping[StubBrokerAddress, StubService]) -> None:
        self._brokers = brokers
        self._waiting = {
            (address, channel): [Message(*content_of(reply), reply.headers) for reply in replies.replies]
            for address, answering in brokers.items()
            for channel, replies in answering.service.requests.items()
        }
        self._asked: dict[str, tuple[str, Message]] = {}
        """The channel and the message of requests, by the address for the reply."""

    async def send(self, channel: Channel, message: Message) -> None:
        body = body_of(message.payload, message.content_type or "")
        self._answering(channel).record_request(f"SEND {channel.address}", message.headers, body)
        if message.reply_to is not None:
            self._asked[message.reply_to] = channel.address, message

    @asynccontextmanager
    async def receive(self, channel: Channel) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Yield the messages that wait, and then end: there will be no others."""
        self._answering(channel).record_request(f"RECEIVE {channel.address}", dict(channel.credentials.headers), None)
        yield self._deliveries(channel)

    def resume(self, channel: Channel, _: Sequence[str]) -> AbstractAsyncContextManager[AsyncIterator[BrokerMessage]]:
        return self.receive(channel)

    async def forget(self, channel: Channel) -> None:
        self._answering(channel)

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
    """Return the address of the broker whose URL is the name of *service*."""
    url = urlsplit(service.name)
    wire = WIRES[url.scheme]
    return StubBrokerAddress(wire.family, url.hostname or "", url.port or wire.port)


def _server(channel: Channel) -> StubBrokerAddress:
    return StubBrokerAddress(WIRES[channel.protocol].family, channel.host.lower(), channel.port or 0)


Address: TypeAlias = tuple[str, int]


class _OnlyServices(Network):
    """Allows calls to the services of a scenario only."""

    services: frozenset[Address] = argument(frozenset())

    def check(self, host: str, port: int) -> None:
        """Raise CallFailed if the scenario has no service there."""
        written = httpx.URL(scheme="http", host=host).raw_host.decode() if host else ""
        if (written.strip("[]").lower(), port) not in self.services:
            raise no_service(f"{host}:{port}")

    async def allowed_addresses(self, host: str, port: int) -> list[str]:
        """Return the address at which servers of scenarios listen. Raises CallFailed as `check` does."""
        self.check(host, port)
        return [THIS_MACHINE]


@dataclass(slots=True)
class Places:
    servers: list[HttpService | GrpcService] = field(default_factory=list)
    _ports: dict[Origin, int] = field(default_factory=dict)
    """The ports of the servers, by origin."""
    _base_urls: dict[str, str] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    """The names of the services in the scenario, by the URLs of their servers."""
    _brokers: dict[StubBrokerAddress, StubService] = field(default_factory=dict)

    async def start(self, services: Sequence[Service], recorded: RecordedRequests) -> None:
        """Start *services*. Raises CallFailed if a proto file cannot be compiled."""
        for service in services:
            answering = StubService(service, recorded)
            match service.kind:
                case Kind.ORIGIN:
                    self._start_http(answering, service.name)
                case Kind.DOCUMENT:
                    url = service.origin or self._start_http(answering)
                    self._base_urls[service.name], self._names[url] = url, service.origin or service.name
                case Kind.GRPC:
                    server = await GrpcService.started(answering, service.proto)
                    self.servers.append(server)
                    url = f"grpc://{THIS_MACHINE}:{server.port}"
                    self._base_urls[service.name], self._names[url] = url, service.name
                case Kind.BROKER:
                    self._brokers[server_of(service)] = answering

    def functions(self) -> Functions:
        """Return the functions that call these services as a worker would, and no others."""
        brokers = self._brokers
        settings = Settings(
            named={environment_name(name): Options(base_url=url) for name, url in self._base_urls.items()},
            network=_OnlyServices(services=frozenset(self._reached())),
            calls=Options(proxy=""),  # a proxy of the environment would not find them
        )
        return Functions(
            settings=settings,
            transport=Rerouted(self._ports),
            replaced={"asyncapi": lambda services: AsyncApi(services, ScriptedBrokers(services.http, brokers))},
        )

    def as_named(self, text: str) -> str:
        """Return *text* with the URLs of servers, whose ports differ from run to run, replaced by names of services."""
        for url, name in self._names.items():
            text = text.replace(url, name)
        return text

    def _start_http(self, answering: StubService, url: str | None = None) -> str:
        """Start a stub server for *url*; return that, or without it the server's own URL."""
        server = HttpService(answering)
        self.servers.append(server)
        url = url or f"http://{THIS_MACHINE}:{server.port}"
        self._ports[origin_of(str(httpx.URL(url)))] = server.port  # a host may have letters that DNS does not know
        return url

    def _reached(self) -> Sequence[Address]:
        listening = [(THIS_MACHINE, server.port) for server in self.servers]
        brokers = ((broker.host, broker.port) for broker in self._brokers)
        return [*brokers, *((origin.host, origin.port) for origin in self._ports), *listening]


_WHERE_TO_SAY = {
    "UnknownSecret": "give it in `secrets`",
    "NoServer": "describe it in `services`, by the name of its document or of the function",
}
"""The advice for scenarios, by the code of a fault for which a worker would be configured."""


class StubServices(CallingThread):
    """The stub services of one run, and the calls to them. They start with the first call."""

    def __init__(self, services: Iterable[Service], secrets: Mapping[str, JSON]) -> None:
        super().__init__()
        self._services = tuple(services)
        self._secrets = Secrets(secrets)
        self._places = Places()

    async def start(self) -> Calls:
        """Start the services."""
        await self._places.start(self._services, self.recorded)
        return Calls(functions=self._places.functions(), secrets=self._secrets)

    async def attempt(self, calls: Calls, call: FunctionCall, source: str, key: str, attempt: int) -> JSON:
        """Return the result from a service. Raises CallFailed with messages for authors of scenarios."""
        try:
            if parse_activity(call.function) is not None:
                message = f"function {call.function.name!r} is an activity of another worker: answer it in `functions`"
                raise permanent_failure("NotScripted", message)
            return await calls.perform(call, source=source, key=key, attempt=attempt)
        except CallFailed as fault:
            fault.message = _for_scenarios(self._places.as_named(fault.message), fault.code)
            if fault.code == "NotScripted":
                self.recorded.unanswered.append(fault.message)  # a definition may catch it
            raise

    async def stop(self) -> None:
        """Stop the services."""
        for server in self._places.servers:
            await server.stop()


def _for_scenarios(message: str, code: str) -> str:
    """Return *message* with the advice for scenarios, if it has advice for workers."""
    return f"{message.partition(': ')[0]}: {_WHERE_TO_SAY[code]}" if code in _WHERE_TO_SAY else message
