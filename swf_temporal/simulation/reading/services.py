"""How does a scenario describe the services that its functions really call?"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from swf_temporal.dialects.placed import Array, Object, plain
from swf_temporal.errors import Position
from swf_temporal.model.workflow import Source
from swf_temporal.simulation.description import ExpectedRequests, Kind, Reply, Service
from swf_temporal.simulation.reading.strict import Strict

_REPLY = ("status", "headers", "body", "file")
_ORIGIN = re.compile(r"https?://[^/?#\s]+/?")
_STATUSES: Final = range(200, 600)
_FORMS = {
    Kind.ORIGIN: (re.compile(r"[A-Z]+ /\S*"), "a method and a path, such as GET /orders/7"),
    Kind.DOCUMENT: (re.compile(r"[A-Z]+ /\S*"), "a method and a path, such as GET /orders/7"),
    Kind.GRPC: (re.compile(r"[\w.]+/\w+"), "a service and a method, such as Orders/Get"),
    Kind.BROKER: (re.compile(r".*\S.*"), "the address of a channel, such as lights/1/measured"),
}
_FAILURES = (
    "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip
"""How a call of gRPC can fail."""


class Services(Strict):
    """Reads what services answer."""

    def __init__(self, source: Source, folder: Path) -> None:
        super().__init__(source)
        self._folder = folder

    def read(self, data: Object) -> tuple[Service, ...]:
        """Return the services of the scenario *data*."""
        return tuple(
            self._service(name, value, data["services"].where.key(name), position)
            for name, (value, position) in self.entries(data, "services")
        )

    def _service(self, name: str, value: Any, at: Position, position: Position) -> Service:
        kind = self._kind(name, at)
        if kind is Kind.DOCUMENT and isinstance(value, str):
            if not _ORIGIN.fullmatch(value):
                self.fail(f"{value!r} is no origin, such as https://orders.example", position)
            return Service(name, kind, origin=value.rstrip("/"))
        if not isinstance(value, Object):
            self.fail(f"the service {name!r} is an object: what it is asked, and what it answers", position)
        form, words = _FORMS[kind]
        for request in value:
            if not form.fullmatch(request):
                self.fail(f"{request!r} is no request of {name!r}: write {words}", value.where.key(request))
        replies = {request: self._replies(one, value.where.value(request), kind) for request, one in value.items()}
        return Service(name.rstrip("/") if kind is Kind.ORIGIN else name, kind, replies, self._folder)

    def _kind(self, name: str, at: Position) -> Kind:
        from swf_temporal.functions.asyncapi.brokers.protocols import WIRES  # noqa: PLC0415 - heavy, and seldom needed

        scheme, separator, _ = name.partition("://")
        if name.endswith(".proto"):
            self._file(name, at)
            return Kind.GRPC
        if not separator:
            return Kind.DOCUMENT
        if scheme in {"http", "https"}:
            if not _ORIGIN.fullmatch(name):
                self.fail(f"{name!r} has a path: a service is an origin, and paths are of its requests", at)
            return Kind.ORIGIN
        if scheme not in WIRES:
            hint = f"there are {', '.join(WIRES)}; a gRPC service goes by its proto file"
            self.fail(f"nothing speaks the protocol of {name!r}", at, hint)
        return Kind.BROKER

    def _replies(self, value: Any, position: Position, kind: Kind) -> tuple[Reply, ...]:
        if not (isinstance(value, Object) and list(value) == ["then"]):
            return (self._reply(value, position, kind),)
        then = self.items(value, "then")
        if not then:
            self.fail("`then` lists at least one answer", value.where.value("then"))
        return tuple(self._reply(*one, kind) for one in then)

    def _reply(self, value: Any, position: Position, kind: Kind) -> Reply:
        if not _says_more(value):
            return Reply(body=plain(value))
        if "body" in value and "file" in value:
            self.fail("an answer has a body or a file, not both", position)
        headers = self.entries(value, "headers")
        for name, (text, place) in headers:
            if not isinstance(text, str):
                self.fail(f"the header {name!r} is a text", place)
        file = self.typed(value, "file", str, "the path of a file", None)
        return Reply(
            status=self._status(value, kind),
            headers={name: text for name, (text, _) in headers},
            body=plain(value.get("body")),
            file=None if file is None else self._file(file, value.where.value("file")),
        )

    def _status(self, value: Object, kind: Kind) -> int | str:
        if "status" not in value:
            return 200
        position = value.where.value("status")
        if kind is Kind.BROKER:
            self.fail("a message has no status", position)
        if kind is Kind.GRPC:
            return self.choice(value["status"], position, _FAILURES)
        status: int = self.typed(value, "status", int, "a status of HTTP")
        if status not in _STATUSES:
            self.fail(f"{status} is no status of HTTP that ends a request", position)
        return status

    def _file(self, name: str, position: Position) -> Path:
        if not (self._folder / name).is_file():
            self.fail(f"there is no file {name!r} beside this one", position)
        return self._folder / name


class Requests(Strict):
    """Reads what services are expected to be asked."""

    FIELDS: Final[Collection[str]] = ("service", "request", "query", "headers", "body")

    def read(self, expect: Object) -> ExpectedRequests:
        """Return all requests in order, or what is said for each of some."""
        if not isinstance(expect["requests"], Object):
            return tuple(self._request(*one) for one in self.items(expect, "requests"))
        return {asked: self._of_a_kind(*one) for asked, one in self.entries(expect, "requests")}

    def _of_a_kind(self, value: Any, position: Position) -> int | tuple[dict[str, Any], ...]:
        if isinstance(value, Array):
            return tuple(self._request(*one) for one in zip(value, value.positions, strict=True))
        if not isinstance(value, int) or isinstance(value, bool):
            self.fail("of a request is said how often it was made, or in a list what it brought", position)
        return value

    def _request(self, value: Any, position: Position) -> dict[str, Any]:
        if isinstance(value, str):
            return {"request": value}
        if not isinstance(value, Object):
            self.fail("a request is a text such as GET /orders/7, or an object with what to compare", position)
        self.known(value, self.FIELDS, "a request")
        for key in ("service", "request"):
            self.typed(value, key, str, "a text", None)
        self.typed(value, "query", Object, "an object", None)
        for name, (text, place) in self.entries(value, "headers"):
            if not isinstance(text, str | None):
                self.fail(f"the header {name!r} is a text, or null where there is none", place)
        asked: dict[str, Any] = plain(value)
        return asked


def _says_more(value: Any) -> bool:
    """Tell whether *value* says how it is answered, and is not itself the answer."""
    return isinstance(value, Object) and bool(value) and all(key in _REPLY for key in value)
