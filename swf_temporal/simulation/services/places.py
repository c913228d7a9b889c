"""The addresses of a scenario's services."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import httpx

from swf_temporal.base.function_types import environment_name
from swf_temporal.base.origins import Origin, origin_of
from swf_temporal.functions.asyncapi.asyncapi import AsyncApi
from swf_temporal.functions.calling import Functions
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.configuration import argument
from swf_temporal.settings.network import Network
from swf_temporal.simulation.model.services import Kind, Service
from swf_temporal.simulation.services.answering import RecordedRequests, StubService, no_service
from swf_temporal.simulation.services.broker import ScriptedBrokers, StubBrokerAddress, server_of
from swf_temporal.simulation.services.grpc import GrpcService
from swf_temporal.simulation.services.http import THIS_MACHINE, HttpService, Rerouted

Address: TypeAlias = tuple[str, int]


class _OnlyServices(Network):
    """Lets calls reach the services of a scenario, and nothing else."""

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
    """By origin: where its server listens."""
    _base_urls: dict[str, str] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    """By the URL of a server: what the scenario calls it."""
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
        """Return what calls these services as a worker would, and no others."""
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
        """Return *text* with services called as the scenario does: their ports are others in every run."""
        for url, name in self._names.items():
            text = text.replace(url, name)
        return text

    def _start_http(self, answering: StubService, url: str | None = None) -> str:
        """Start a server that stands for *url*; return that, or its own if there is none."""
        server = HttpService(answering)
        self.servers.append(server)
        url = url or f"http://{THIS_MACHINE}:{server.port}"
        self._ports[origin_of(str(httpx.URL(url)))] = server.port  # a host may have letters that DNS does not know
        return url

    def _reached(self) -> Sequence[Address]:
        listening = [(THIS_MACHINE, server.port) for server in self.servers]
        brokers = ((broker.host, broker.port) for broker in self._brokers)
        return [*brokers, *((origin.host, origin.port) for origin in self._ports), *listening]
