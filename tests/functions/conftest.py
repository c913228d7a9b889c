"""A real HTTP service on a free port of this machine, which answers as a test tells it to."""

import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from http.server import ThreadingHTTPServer
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import pytest

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Options, Settings
from tests.listening import Quiet, listening


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    content: bytes
    connection: tuple[str, int]

    @property
    def body(self) -> Any:
        return json.loads(self.content)


@dataclass(frozen=True)
class Answer:
    content: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    hangs: bool = False
    make: Callable[[], Any] | None = None


class Service:
    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.requests: list[Received] = []
        self.answers: dict[tuple[str, str], Answer] = {}
        self.asked = threading.Event()
        self.hung_up = threading.Event()

    def answers_with(
        self, method: str, path: str, body: Any = None, *, status: int = 200, content_type: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Answer with *body*: bytes as they are, anything else as JSON; None is an empty answer."""
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        typed = {"Content-Type": content_type} if content_type else {}
        self.answers[method, path] = Answer(content, status, {**typed, **(headers or {})})

    def answers_by(self, method: str, path: str, make: Callable[[], Any]) -> None:
        """Answer with what *make* returns, another one each time, as JSON."""
        self.answers[method, path] = Answer(headers={"Content-Type": "application/json"}, make=make)

    def sends_raw(self, method: str, path: str, raw: bytes) -> None:
        """Write *raw* in place of an HTTP answer, and close the connection."""
        self.answers[method, path] = Answer(raw=raw)

    def hangs(self, method: str, path: str) -> None:
        """Do not answer until the caller hangs up."""
        self.answers[method, path] = Answer(hangs=True)

    def answer_to(self, request: Received) -> Answer:
        return self.answers.get((request.method, request.path), Answer(b"no such page", 404))

    @property
    def last(self) -> Received:
        return self.requests[-1]


class _Handler(Quiet):
    service: Service

    def respond(self, content: bytes) -> None:
        url = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = parse_qsl(url.query, keep_blank_values=True)
        request = Received(self.command, url.path, query, headers, content, self.client_address)
        self.service.requests.append(request)
        self.service.asked.set()
        answer = self.service.answer_to(request)
        if answer.hangs:
            self.connection.recv(1)
            self.service.hung_up.set()
            self.close_connection = True
        elif answer.raw is not None:
            self.wfile.write(answer.raw)
            self.close_connection = True
        else:
            body = answer.content if answer.make is None else json.dumps(answer.make()).encode()
            self.answer(body, answer.status, answer.headers)


_S = TypeVar("_S", bound=Service)


@contextmanager
def serving(kind: Callable[[ThreadingHTTPServer], _S]) -> Iterator[_S]:
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    served = handler.service = kind(server)  # type: ignore[attr-defined]  # each service has a class of its own
    with listening(server):
        yield served


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(Service) as service:
        yield service


Calling = Callable[..., Functions]


@pytest.fixture
async def calling() -> AsyncIterator[Calling]:
    """Return what makes Functions, of a service *at* a URL, say; they are closed when the test is over."""
    async with AsyncExitStack() as stack:

        def calling(*given: Any, at: str | None = None, **more: Any) -> Functions:
            options = {} if at is None else {"settings": Settings(calls=Options(base_url=at, **more))}
            functions = Functions(*given, **(options or more))
            stack.push_async_callback(functions.aclose)
            return functions

        yield calling


@pytest.fixture
def functions(calling: Calling, service: Service) -> Functions:
    return calling(at=service.url)


def http_call(method: str, url: str, arguments: Any = None, **facts: Any) -> Call:
    return Call(Function(name="ask", type="custom", operation=f"rest:{method}:{url}"), arguments, **facts)


def showing(call: Call, scheme: str, properties: Any) -> Call:
    """Return *call*, which shows who is calling."""
    auth = Auth(name="a", scheme=scheme, properties=properties)
    return replace(call, function=replace(call.function, auth_ref=AuthRef(invocation="a")), auth=(auth,))


def showing_token(call: Call, service: Service) -> Call:
    """Return *call*, which shows a token that *service* grants."""
    properties = {"grantType": "password", "clientId": "app", "username": "ada", "password": "pw"}
    return showing(call, "oauth2", {**properties, "authority": f"{service.url}/token"})
