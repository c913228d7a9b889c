"""The services that the functions of a scenario really call, and their answers."""

import re
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Final, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, StrictInt, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from swf_temporal.runtime.retrying import GRPC_STATUSES
from swf_temporal.simulation.model.part import File, Json, OptionalKey, ScenarioPart, beside
from swf_temporal.text.model_errors import validation_error

_HTTP = ("http", "https")
_STATUSES: Final = range(200, 600)
_WITHOUT_BODY = (204, 304)
_FAILURES = tuple(status for status in GRPC_STATUSES if status != "OK")
"""The statuses of gRPC calls that fail."""
_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_FRAMING = ("content-length", "transfer-encoding")
_AS_VALUE = "an answer that itself has the key `status` is written {body: {status: …}}"


class Kind(Enum):
    """The kind of a service, which follows from its name and determines its protocol."""

    ORIGIN = "origin"
    """Named by an HTTP origin: `https://orders.example`."""
    DOCUMENT = "document"
    """Named by a document or a function without the URL of its HTTP service."""
    GRPC = "grpc"
    """Named by the proto file that describes it."""
    BROKER = "broker"
    """Named by the URL of a broker: `mqtt://broker.example`."""


_FORMS = {
    Kind.ORIGIN: (re.compile(r"[A-Z]+ /\S*"), "a method and a path, such as GET /orders/7"),
    Kind.DOCUMENT: (re.compile(r"[A-Z]+ /\S*"), "a method and a path, such as GET /orders/7"),
    Kind.GRPC: (re.compile(r"[\w.]+/\w+"), "a service and a method, such as Orders/Get"),
    Kind.BROKER: (re.compile(r".*\S.*"), "the address of a channel, such as lights/1/measured"),
}


class Reply(ScenarioPart):
    """The response of a service, or a message from a broker."""

    status: StrictInt | str = 200
    """An HTTP status, or the name of a gRPC status."""
    headers: dict[str, str] = Field(default_factory=dict)
    body: Json = None
    file: OptionalKey[File] = None
    """A file whose content is the body."""

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        if "body" in self.model_fields_set and self.file is not None:
            raise validation_error("an answer has a body or a file, not both")
        if self.status in _WITHOUT_BODY and (self.body is not None or self.file is not None):
            raise validation_error(f"an answer with the status {self.status} has no body")
        return self


def _in_full(value: Any) -> Any:
    """Return *value* if it describes an answer; else an answer with it as the body."""
    says = isinstance(value, dict) and bool(value) and all(key in Replies.model_fields for key in value)
    return value if says else {"body": value}


def _whole(value: Any) -> Any:
    return {"body": value} if isinstance(value, dict) and "then" in value else _in_full(value)


_Whole: TypeAlias = Annotated[Reply, BeforeValidator(_whole, json_schema_input_type=Reply | Any)]


class Replies(Reply):
    """The answers of a service to one request, one each time."""

    then: OptionalKey[Annotated[tuple[_Whole, ...], Field(min_length=1)]] = None
    """The answers; the last repeats, but a message comes only once."""

    @model_validator(mode="after")
    def _each_says_it(self) -> Self:
        for key in self.given:
            if self.then is not None and key != "then":
                message = f"`then` lists complete answers: write {key!r} in each of them"
                raise validation_error(message, key, at_key=True)
        return self

    @property
    def replies(self) -> tuple[Reply, ...]:
        """The answers, one each time."""
        return (self,) if self.then is None else self.then


class Service(ScenarioPart):
    """A service that functions really call. Its kind, and what that allows, follows from its name."""

    name: str
    kind: Kind
    requests: dict[str, Annotated[Replies, BeforeValidator(_in_full)]] = Field(default_factory=dict, alias="@requests")
    """For a request: its answers. For a broker: messages by their channel."""
    proto: Path = Path()
    """For gRPC: the file that it is named by."""
    origin: str | None = None
    """For a document: the HTTP service that answers for it, if that has its own name."""

    @model_validator(mode="after")
    def _is_of_its_kind(self) -> Self:
        form, words = _FORMS[self.kind]
        for request, replies in self.requests.items():
            if not form.fullmatch(request):
                message = f"{request!r} is not a request of {self.name!r}: write {words}"
                raise validation_error(message, request, at_key=True)
            for number, reply in enumerate(replies.replies):
                path = (request,) if replies.then is None else (request, "then", number)
                self._check_status(reply, path)
                if self.kind is Kind.GRPC and (reply.headers or reply.file):
                    raise validation_error("an answer of gRPC has a body, or a status", *path)
                if self.kind is not Kind.BROKER:
                    _check_headers(reply, path)
        return self

    def _check_status(self, reply: Reply, path: tuple[str | int, ...]) -> None:
        status = reply.status
        if "status" not in reply.model_fields_set:
            return
        path = (*path, "status")
        if self.kind is Kind.BROKER:
            raise validation_error("a message has no status", *path, hint=_AS_VALUE)
        if self.kind is Kind.GRPC:
            if status not in _FAILURES:
                raise validation_error(f"{status!r} is not one of {', '.join(_FAILURES)}", *path, hint=_AS_VALUE)
        elif not isinstance(status, int):
            raise validation_error("'status' is a status of HTTP", *path, hint=_AS_VALUE)
        elif status not in _STATUSES:
            raise validation_error(f"{status} is not an HTTP status that ends a request", *path)


def _check_headers(reply: Reply, path: tuple[str | int, ...]) -> None:
    for name, text in reply.headers.items():
        place = (*path, "headers", name)
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(text):
            raise validation_error(f"the header {name!r} has characters that HTTP does not allow there", *place)
        if name.lower() in _FRAMING:
            message = f"the header {name!r} must be left out: the server sets it"
            raise validation_error(message, *place)


def _named(services: Any, info: ValidationInfo) -> Any:
    """Return *services*, each with the facts that follow from its name: pydantic validates a value without its key."""
    if not isinstance(services, dict):
        return services
    servers: dict[tuple[str, str, int], str] = {}
    return {name: _service(name, content, servers, info) for name, content in services.items()}


def _service(name: str, content: Any, servers: dict[tuple[str, str, int], str], info: ValidationInfo) -> dict[str, Any]:
    kind = _kind(name, servers)
    if kind is Kind.DOCUMENT and isinstance(content, str):
        if urlsplit(content).scheme not in _HTTP:
            raise validation_error(f"{content!r} is not an origin, such as https://orders.example", name)
        _host(content, name, at_key=False)
        return {"name": name, "kind": kind, "origin": content.rstrip("/")}
    facts = {"name": name.rstrip("/") if kind is Kind.ORIGIN else name, "kind": kind, "@requests": content}
    return facts | ({"proto": beside(name, info, name)} if kind is Kind.GRPC else {})


def _kind(name: str, servers: dict[tuple[str, str, int], str]) -> Kind:
    """Return the kind of the service *name*, and record its server in *servers*."""
    from swf_temporal.events.brokers.families import WIRES  # noqa: PLC0415 - seldom needed

    scheme, separator, _ = name.partition("://")
    scheme = scheme.lower()
    if not separator:
        return Kind.GRPC if name.endswith(".proto") else Kind.DOCUMENT
    if scheme not in WIRES:
        hint = f"there are {', '.join(WIRES)}; a gRPC service is described by its proto file"
        raise validation_error(f"no stub service supports the protocol of {name!r}", name, hint=hint, at_key=True)
    host, port = _host(name, name, at_key=True)
    wire = WIRES[scheme]
    server = scheme if scheme in _HTTP else wire.family, host, port or wire.port
    if (other := servers.setdefault(server, name)) != name:
        raise validation_error(f"{name!r} is the same server as {other!r}: describe it once", name, at_key=True)
    return Kind.ORIGIN if scheme in _HTTP else Kind.BROKER


def _host(url: str, service: str, *, at_key: bool) -> tuple[str, int | None]:
    """Return host and port of the server in *url*, which must not contain anything else."""
    import httpx  # noqa: PLC0415 - heavy, and seldom needed

    def refuse(message: str, hint: str | None = None) -> PydanticCustomError:
        return validation_error(f"{url!r} {message}", service, hint=hint, at_key=at_key)

    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL) as error:
        raise refuse(f"is not a URL: {error}") from None
    if not host:
        raise refuse("names no host", "such as https://orders.example")
    if "@" in parts.netloc:
        raise refuse("has a user: leave it out, since requests show who calls")
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise refuse("has a path: a service is an origin, and paths belong to its requests")
    return host, port


Services: TypeAlias = Annotated[
    dict[str, Service],
    BeforeValidator(_named, json_schema_input_type=dict[str, str | dict[str, Replies | Any]]),
]
"""The services and their answers, by their names in the file."""
