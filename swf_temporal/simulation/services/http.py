"""A scenario's HTTP service.

It is a real server on this machine, so that requests of a definition are really sent. A request for `https://…` is
redirected there without TLS: certificates do not concern definitions.
"""

import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import MimeTypes
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
from google.protobuf import json_format
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.importing import Origin, origin_of
from swf_temporal.base.strict_json import NotJSON, read_json, write_json
from swf_temporal.functions.http.connections import Transport
from swf_temporal.functions.rpc.channels import library
from swf_temporal.functions.rpc.protos import Protos, ProtoServices
from swf_temporal.settings.network import Tls, looked_up
from swf_temporal.simulation.model.services import Reply, Service

_FORM = "application/x-www-form-urlencoded"
_TYPES = MimeTypes()
"""The media types of file suffixes that are the same on every machine."""


@dataclass(frozen=True, slots=True)
class RecordedRequests:
    """The requests that all services of one run received."""

    requests: list[dict[str, JSON]] = field(default_factory=list)
    """In their order: `service`, `request`, its `query`, `headers` with lower-case names, `body`."""
    unanswered: list[str] = field(default_factory=list)
    """Messages about requests without a service or an answer in the scenario, or with one that cannot be sent."""


class StubService:
    """One service, and the number of answers that it has given. Its servers may use it from any thread."""

    def __init__(self, service: Service, recorded: RecordedRequests) -> None:
        self.service = service
        self._recorded = recorded
        self._given: dict[str, int] = {}
        self._lock = threading.Lock()

    def record_request(self, request: str, headers: Mapping[str, str], body: JSON) -> None:
        lower = {name.lower(): value for name, value in headers.items()}
        record: dict[str, JSON] = {
            "service": self.service.name,
            "request": request,
            "query": _fields(urlsplit(request.partition(" ")[2]).query),
            "headers": {**lower},
            "body": body,
        }
        with self._lock:
            self._recorded.requests.append(record)

    def reply_to(self, *requests: str) -> Reply | None:
        """Return the next answer to the first of *requests*, notations of the same request, that has any.

        The last answer repeats. If the scenario has none, records that and returns None.
        """
        answered = self.service.requests
        known = next((request for request in requests if request in answered), None)
        with self._lock:
            if known is None:
                self._recorded.unanswered.append(
                    f"{self.service.name} received {requests[0]}, for which there is no answer"
                )
                return None
            given = self._given[known] = self._given.get(known, 0) + 1
        replies = answered[known].replies
        return replies[min(given, len(replies)) - 1]

    def record_problem(self, of: str) -> None:
        """Record a problem of an answer of the scenario."""
        with self._lock:
            self._recorded.unanswered.append(f"{self.service.name}: {of}")


def no_service(where: str) -> CallFailed:
    """Return the fault of a call to a place where the scenario has no service."""
    return permanent_failure("NotScripted", f"the scenario has no service at {where}: describe it in `services`")


def without_query(request: str) -> str:
    """Return a request of HTTP without its query."""
    method, _, target = request.partition(" ")
    return f"{method} {urlsplit(target).path}"


def body_of(content: bytes, content_type: str) -> JSON:
    """Return the body of a request in the form of scenarios: JSON as it is, a form as an object, else a text."""
    if not content:
        return None
    text = content.decode(errors="replace")
    if content_type.partition(";")[0].strip().lower() == _FORM:
        return _fields(text)
    try:
        value: JSON = read_json(text)
    except NotJSON:
        return text
    return value


def content_of(reply: Reply) -> tuple[bytes, str | None]:
    """Return the content of a reply, and its default media type."""
    if reply.file is not None:
        yaml = "application/yaml" if reply.file.suffix in {".yaml", ".yml"} else None
        return reply.file.read_bytes(), yaml or _TYPES.guess_type(reply.file.name)[0] or "application/octet-stream"
    if reply.body is None:
        return b"", None
    if isinstance(reply.body, str) and any(name.lower() == "content-type" for name in reply.headers):
        return reply.body.encode(), None
    return write_json(reply.body, ensure_ascii=False).encode(), "application/json"


def _fields(text: str) -> dict[str, JSON]:
    """Return the fields of a query or a form; one that is repeated has the list of its values."""
    values: dict[str, list[JSON]] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        values.setdefault(name, []).append(value)
    return {name: several if len(several) > 1 else several[0] for name, several in values.items()}


THIS_MACHINE = "127.0.0.1"
_POLLING = 0.01
"""The interval, in seconds, at which a server checks whether to stop."""
_GOODBYE = 1.0
"""The time, in seconds, that connections have to end."""
_MAX_CONNECTIONS = 100
_WITHOUT_BODY = (204, 304)
"""Statuses of responses without a body: a client would read one as the beginning of the next response."""


class _Server(ThreadingHTTPServer):
    """Listens on a free port."""

    daemon_threads = True

    def __init__(self, answering: StubService) -> None:
        super().__init__((THIS_MACHINE, 0), _handler(answering))
        self._handling: list[threading.Thread] = []

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer requests on one connection, until that is closed."""
        self._handling.append(threading.current_thread())
        super().process_request_thread(request, client_address)

    def server_close(self) -> None:
        """Stop listening. The clients have disconnected before, so there are no open requests."""
        super().server_close()
        for thread in self._handling:
            thread.join(_GOODBYE)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report the error, unless a client has cancelled its call and closed the connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class HttpService:
    """A server on a free port."""

    def __init__(self, answering: StubService) -> None:
        self._server = _Server(answering)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_POLLING,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    async def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Rerouted(httpx.AsyncBaseTransport):
    """Redirects requests to the servers of a scenario; the URLs in messages stay those of the definition."""

    def __init__(self, ports: Mapping[Origin, int]) -> None:
        self._ports = ports
        self._transport = Transport(Tls().context(), _MAX_CONNECTIONS, looked_up)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send *request* to the stub server of its origin. Raises CallFailed if the origin has none."""
        origin = origin_of(str(request.url))
        if origin not in self._ports:
            raise no_service(f"{origin.scheme}://{origin.host}:{origin.port}")
        there = request.url.copy_with(scheme="http", host=THIS_MACHINE, port=self._ports[origin])
        led = httpx.Request(
            request.method, there, headers=request.headers, stream=request.stream, extensions=request.extensions
        )
        return await self._transport.handle_async_request(led)

    async def aclose(self) -> None:
        await self._transport.aclose()


def _handler(answering: StubService) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def __getattr__(self, name: str) -> Callable[[], None]:
            """Handle every method in the same way: the library calls `do_GET`, `do_POST` and so on."""
            if name.startswith("do_"):
                return self._answer
            raise AttributeError(name)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

        def _answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = f"{self.command} {self.path}"
            answering.record_request(
                request, dict(self.headers), body_of(content, self.headers.get("Content-Type", ""))
            )
            reply = answering.reply_to(request, without_query(request))
            self._send(_no_answer(request, answering) if reply is None else reply)

        def _send(self, reply: Reply) -> None:
            content, media_type = content_of(reply)
            self.send_response_only(int(reply.status))  # without a date, which would differ from run to run
            headers = {name.lower(): value for name, value in reply.headers.items()}
            if media_type is not None:
                headers.setdefault("content-type", media_type)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD" and int(reply.status) not in _WITHOUT_BODY:
                self.wfile.write(content)

    return Handler


def _no_answer(request: str, answering: StubService) -> Reply:
    known = ", ".join(answering.service.requests) or "no request at all"
    return Reply(
        status=501, headers={"content-type": "text/plain"}, body=f"the scenario answers {known}, and not {request}"
    )


class GrpcService:
    """A server on a free port."""

    def __init__(self, answering: StubService, described: ProtoServices) -> None:
        self._answering = answering
        self._described = described
        self._library = library("grpc")
        self._server = library("grpc.aio").server()
        self._server.add_generic_rpc_handlers((_Handlers(self),))
        self.port: int = self._server.add_insecure_port(f"{THIS_MACHINE}:0")

    @classmethod
    async def started(cls, answering: StubService, proto: Path) -> "GrpcService":
        """Return a server that listens. Raises CallFailed if the proto file cannot be compiled."""
        made = cls(answering, await Protos().load(proto.name, str(proto), None))
        await made._server.start()
        return made

    async def stop(self) -> None:
        """Stop listening, and let the clients go first: a connection that is cut off is logged by the library."""
        await self._server.stop(_GOODBYE)

    def handler(self, path: str) -> Any:
        """Return what answers calls of `/Service/Method`; on the wire all kinds of streams are alike."""
        service, _, name = path.strip("/").partition("/")
        try:
            method = self._described.method(service, name)
        except CallFailed:
            return None  # then the library answers that it is not implemented
        return self._library.stream_stream_rpc_method_handler(partial(self._answers, method))

    async def _answers(
        self, method: MethodDescriptor, requests: AsyncIterator[bytes], context: Any
    ) -> AsyncIterator[bytes]:
        full = f"{method.containing_service.full_name}/{method.name}"
        short = f"{method.containing_service.name}/{method.name}"
        message = GetMessageClass(method.input_type)
        sent: list[JSON] = [_as_json(message.FromString(one)) async for one in requests]
        metadata = {key: value for key, value in context.invocation_metadata() if isinstance(value, str)}
        self._answering.record_request(short, metadata, sent if method.client_streaming else sent[0])
        reply = self._answering.reply_to(short, full)
        if reply is None:
            known = ", ".join(self._answering.service.requests) or "nothing"
            reply = Reply(status="UNIMPLEMENTED", body=f"the scenario answers {known}, and not {short}")
        if isinstance(reply.status, str):
            await context.abort(self._library.StatusCode[reply.status], str(reply.body or ""))
        answers = reply.body if method.server_streaming and isinstance(reply.body, list) else [reply.body]
        for answer in answers:
            try:
                made = self._as_message({} if answer is None else answer, method)
            except json_format.ParseError as error:
                wrong = f"the answer to {short} is not a {method.output_type.full_name}: {error}"
                self._answering.record_problem(wrong)
                await context.abort(self._library.StatusCode.INTERNAL, wrong)
            yield made

    def _as_message(self, answer: JSON, method: MethodDescriptor) -> bytes:
        if not isinstance(answer, dict) and method.output_type.file.package != "google.protobuf":
            raise json_format.ParseError("it is not an object")
        message = GetMessageClass(method.output_type)()
        content: bytes = json_format.Parse(
            write_json(answer), message, descriptor_pool=self._described.pool
        ).SerializeToString()
        return content


class _Handlers:
    """The handlers of calls, as the gRPC library looks them up."""

    def __init__(self, service: GrpcService) -> None:
        self._service = service

    def service(self, details: Any) -> Any:
        return self._service.handler(details.method)


def _as_json(message: Any) -> JSON:
    value: JSON = json_format.MessageToDict(message, preserving_proto_field_name=True)
    return value
