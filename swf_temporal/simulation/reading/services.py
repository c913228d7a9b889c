"""Reads the services that the functions of a scenario really call."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from swf_temporal.errors import Position
from swf_temporal.simulation.description import Kind, Service
from swf_temporal.simulation.reading.replies import Replies
from swf_temporal.simulation.reading.strict import Strict
from swf_temporal.text.located import Object
from swf_temporal.text.origin import Source

_HTTP = ("http", "https")
_FORMS = {
    Kind.ORIGIN: (re.compile(r"[A-Z]+ /\S*"), "a method and a path, such as GET /orders/7"),
    Kind.DOCUMENT: (re.compile(r"[A-Z]+ /\S*"), "a method and a path, such as GET /orders/7"),
    Kind.GRPC: (re.compile(r"[\w.]+/\w+"), "a service and a method, such as Orders/Get"),
    Kind.BROKER: (re.compile(r".*\S.*"), "the address of a channel, such as lights/1/measured"),
}


class Services(Strict):
    """Reads what services answer."""

    def __init__(self, source: Source, folder: Path) -> None:
        super().__init__(source)
        self._folder = folder
        self._places: dict[tuple[str, str, int], str] = {}
        """By the place of a service: its name."""

    def read(self, data: Object) -> tuple[Service, ...]:
        """Return the services of the scenario *data*."""
        return tuple(
            self._service(name, value, data["services"].where.key(name), position)
            for name, (value, position) in self.entries(data, "services")
        )

    def _service(self, name: str, value: Any, at: Position, position: Position) -> Service:
        kind = self._kind(name, at)
        if kind is Kind.DOCUMENT and isinstance(value, str):
            if urlsplit(value).scheme not in _HTTP:
                self.fail(f"{value!r} is not an origin, such as https://orders.example", position)
            self._place(value, position)
            return Service(name, kind, origin=value.rstrip("/"))
        if not isinstance(value, Object):
            self.fail(f"the service {name!r} is an object: what it is asked, and what it answers", position)
        form, words = _FORMS[kind]
        for request in value:
            if not form.fullmatch(request):
                self.fail(f"{request!r} is not a request of {name!r}: write {words}", value.where.key(request))
        reader = Replies(self.source, self._folder, kind)
        replies = {request: reader.read(one, value.where.value(request)) for request, one in value.items()}
        return Service(name.rstrip("/") if kind is Kind.ORIGIN else name, kind, replies, self._folder)

    def _kind(self, name: str, at: Position) -> Kind:
        from swf_temporal.functions.asyncapi.brokers.protocols import WIRES  # noqa: PLC0415 - heavy, and seldom needed

        scheme, separator, _ = name.partition("://")
        scheme = scheme.lower()
        if name.endswith(".proto"):
            Replies(self.source, self._folder, Kind.GRPC).file(name, at)
            return Kind.GRPC
        if not separator:
            return Kind.DOCUMENT
        if scheme not in WIRES:
            hint = f"there are {', '.join(WIRES)}; a gRPC service goes by its proto file"
            self.fail(f"nothing speaks the protocol of {name!r}", at, hint)
        host, port = self._place(name, at)
        wire = WIRES[scheme]
        place = scheme if scheme in _HTTP else wire.family, host, port or wire.port
        if (other := self._places.setdefault(place, name)) != name:
            self.fail(f"{name!r} is the same server as {other!r}: describe it once", at)
        return Kind.ORIGIN if scheme in _HTTP else Kind.BROKER

    def _place(self, name: str, at: Position) -> tuple[str, int | None]:
        """Return host and port of a server, which *name* is the URL of, with nothing else in it."""
        import httpx  # noqa: PLC0415 - heavy, and seldom needed

        try:
            parts = urlsplit(name)
            host, port = parts.hostname, parts.port
            httpx.URL(name)
        except (ValueError, httpx.InvalidURL) as error:
            self.fail(f"{name!r} is not a URL: {error}", at)
        if not host:
            self.fail(f"{name!r} names no host", at, "such as https://orders.example")
        if "@" in parts.netloc:
            self.fail(f"{name!r} has a user: leave it out, who is calling is shown by requests", at)
        if parts.path not in {"", "/"} or parts.query or parts.fragment:
            self.fail(f"{name!r} has a path: a service is an origin, and paths are of its requests", at)
        return host, port
