"""A worker that calls for real, and ways to see what becomes of a call that fails."""

import asyncio
import os
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
import trustme

from swf_temporal import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.events.sinks import Sinks
from swf_temporal.functions.calling import Calls
from swf_temporal.functions.secrets import Secrets
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.settings.calls import Settings
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.worker import make_worker
from tests.functions.conftest import Service, service

__all__ = ["service"]
_numbers = count(1)
_MAX_SECONDS = 60


@dataclass
class Attempt:
    """A call that is to fail: the function, what it is called with, and what the worker knows."""

    function: dict[str, Any]
    arguments: Any = None
    settings: Settings = field(default_factory=Settings)
    auth: list[dict[str, Any]] = field(default_factory=list)
    secrets: Mapping[str, JSON] = field(default_factory=dict)
    timeout: str | None = None
    """Of the action, for calls that would wait for ever."""

    def definition(self, expected: str | None, *, is_local: bool = False) -> dict[str, Any]:
        metadata = {**self.function.get("metadata", {}), "local": is_local}
        action: dict[str, Any] = {"functionRef": {"refName": "ask", "arguments": self.arguments}}
        if self.function.get("type") == "graphql":
            action["functionRef"]["selectionSet"] = "{ id }"
        ask: dict[str, Any] = {"name": "Ask", "type": "operation", "actions": [action], "end": True}
        if self.timeout:
            ask["timeouts"] = {"actionExecTimeout": self.timeout}
        caught = {"name": "Caught", "type": "inject", "data": {"caught": "${ $WORKFLOW.error }"}, "end": True}
        parts: dict[str, Any] = {"states": [ask]}
        if expected is not None:
            ask["onErrors"] = [{"errorRef": "expected", "transition": "Caught"}]
            parts = {"states": [ask, caught], "errors": [{"name": "expected", "code": expected}]}
        if self.auth:
            parts["auth"] = self.auth
        if self.secrets:
            parts["secrets"] = list(self.secrets)
        functions = [{"name": "ask", **self.function, "metadata": metadata}]
        return {"id": "asking", "version": "1", "specVersion": "0.8", "functions": functions, **parts}


@dataclass(frozen=True)
class FailedCall:
    caught: dict[str, Any]
    """`$WORKFLOW.error` in the state that the error led to."""
    text: str
    """What a person reads where nothing catches it."""


class Stage:
    def __init__(self, server: Server) -> None:
        self.client = server.client

    async def play(self, attempt: Attempt, code: str | int) -> FailedCall:
        """Make the failing call where an error with *code* is caught, and where nothing is; as a local one, too."""
        async with self._working(attempt) as queue:
            found = [await self._told(attempt, str(code), queue, is_local=is_local) for is_local in (True, False)]
        assert found[0] == found[1]
        return found[1]

    async def fails(
        self, attempt: Attempt, code: str | int, *texts: str,
        status: Any = None, body: Any = None, match: str | int = "",
    ) -> FailedCall:  # fmt: skip
        """Make the call, check what the workflow sees, and that the person reads state and action beside *texts*.

        What is `...` may be anything; *match* names the error otherwise than its code does.
        """
        told = await self.play(attempt, match or code)
        facts = {"code": str(code), "status": status, "body": body}
        for name, expected in facts.items():
            assert expected in (..., told.caught[name])
        assert told.caught["state"] == "Ask"
        for text in ("'Ask'", "action 'ask'", *texts):
            assert text in told.text, told.text
        assert all(text in told.caught["message"] for text in texts)
        return told

    async def _told(self, attempt: Attempt, code: str, queue: str, *, is_local: bool) -> FailedCall:
        output = await self._run(attempt.definition(code, is_local=is_local), queue)
        with pytest.raises(RunEnded) as ended:
            await self._run(attempt.definition(None, is_local=is_local), queue)
        return FailedCall(output["caught"], str(ended.value))

    @asynccontextmanager
    async def _working(self, attempt: Attempt) -> AsyncIterator[str]:
        calls = Calls(settings=attempt.settings, secrets=Secrets(attempt.secrets))
        queue = f"faults-{os.getpid()}-{next(_numbers)}"
        try:
            async with make_worker(self.client, Catalogue(()), calls, Sinks(), task_queue=queue):
                yield queue
        finally:
            await calls.aclose()

    async def _run(self, definition: dict[str, Any], queue: str) -> Any:
        handle = await swf.start(self.client, [load(definition)], {}, workflow_id=queue, task_queue=queue)
        return await asyncio.wait_for(swf.result(handle), _MAX_SECONDS)


@pytest.fixture(scope="session")
async def stage() -> AsyncIterator[Stage]:
    async with local_server() as server:
        yield Stage(server)


def by_client(url: str, secret: str = "s3cret-of-orders") -> dict[str, Any]:  # noqa: S107 - it is none
    """Return what a call has that shows a token, which a client gets from the service at *url*."""
    client = {"grantType": "clientCredentials", "clientId": "orders", "clientSecret": secret}
    auth = {"name": "by client", "scheme": "oauth2", "properties": {**client, "authority": f"{url}/token"}}
    return {"function": {"authRef": {"invocation": "by client"}}, "auth": [auth]}


def grants_tokens(service: Service) -> None:
    """Let *service* grant tokens, each another one, which it refuses itself."""
    tokens = iter(f"token-{number}-of-nobody" for number in range(100))
    granted = {"token_type": "Bearer", "expires_in": 3600}
    service.answers_by("POST", "/token", lambda: {"access_token": next(tokens), **granted})


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Return a port at which nobody listens, and nobody will while the test runs."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


@pytest.fixture
def silent_port() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield int(listening.getsockname()[1])


@pytest.fixture
def untrusted_port() -> Iterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["h2", "http/1.1"])
    trustme.CA().issue_cert("localhost").configure_cert(context)
    over = threading.Event()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(0.05)
        thread = threading.Thread(target=_shake_hands, args=(listening, context, over))
        thread.start()
        yield int(listening.getsockname()[1])
        over.set()
        thread.join()


def _shake_hands(listening: socket.socket, context: ssl.SSLContext, over: threading.Event) -> None:
    while not over.is_set():
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            continue
        connection.settimeout(5)
        try:
            with context.wrap_socket(connection, server_side=True) as secure:
                secure.recv(1)
        except (OSError, ssl.SSLError):
            connection.close()
