"""The connections to MCP servers: streamable HTTP, and the standard input and output of a process."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from tempfile import TemporaryDirectory
from typing import Final, Protocol

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.auth.requests import authenticated
from swf_temporal.functions.call import Call
from swf_temporal.functions.http.client import Http, Request
from swf_temporal.functions.json_rpc import ACCEPT, content_of, read_message, read_messages
from swf_temporal.functions.processes.running import RunningProcess, clean_environment, started

INITIALIZE: Final = "initialize"
"""The method of the request that begins a session."""
_SESSION: Final = "mcp-session-id"
_VERSION: Final = "mcp-protocol-version"
_OUTPUT: Final = 4096
"""The number of characters of a server's standard error in a message."""

Message = dict[str, JSON]


class Transport(Protocol):
    """A connection to a server."""

    def use_version(self, version: str) -> None:
        """Use the *version* of the protocol that the server has agreed to."""
        ...

    async def send(self, message: Mapping[str, JSON]) -> None:
        """Send a message that is not answered."""
        ...

    def ask(self, message: Mapping[str, JSON]) -> AsyncGenerator[Message, None]:
        """Send a request, and yield the messages that the server sends; one of them is the answer."""
        ...


class HttpTransport:
    """A server that is called over HTTP. Each message is a POST, answered by JSON or by a stream of events."""

    def __init__(
        self, http: Http, call: Call, what: str, endpoint: str, headers: Mapping[str, str], timeout: float | None
    ) -> None:
        self._http, self._call, self._what = http, call, what
        self._endpoint, self._headers = endpoint, headers
        self._timeout = None if timeout is None else timedelta(seconds=timeout)
        self._session: str | None = None
        self._version: str | None = None

    def use_version(self, version: str) -> None:
        self._version = version

    async def send(self, message: Mapping[str, JSON]) -> None:
        """Send a message that is not answered."""
        # The idempotency key is for the one request of the call that may change something.
        await self._http.request_raw(self._request("POST", content_of(message), is_call=False))

    async def ask(self, message: Mapping[str, JSON]) -> AsyncGenerator[Message, None]:
        is_call = message["method"] != INITIALIZE
        async with self._http.opened(self._request("POST", content_of(message), is_call=is_call)) as answer:
            self._session = answer.headers.get(_SESSION, self._session)
            async with aclosing(read_messages(answer, self._what)) as messages:
                async for one in messages:
                    yield one

    async def aclose(self) -> None:
        """End the session, which a server may refuse."""
        if self._session is not None:
            with suppress(CallFailed):
                await self._http.request_raw(self._request("DELETE", is_call=False))

    def _request(self, method: str, content: bytes | None = None, *, is_call: bool) -> Request:
        headers = [("Accept", ACCEPT), *self._headers.items()]
        headers += [("Content-Type", "application/json")] if content else []
        headers += [(_SESSION, self._session)] if self._session else []
        headers += [(_VERSION, self._version)] if self._version else []
        call = self._call if is_call else replace(self._call, idempotency_key=None)
        request = authenticated(Request(method, self._endpoint, tuple(headers), content), call)
        return replace(request, timeout=self._timeout)


@asynccontextmanager
async def over_http(
    http: Http, call: Call, what: str, endpoint: str, headers: Mapping[str, str], timeout: float | None
) -> AsyncIterator[HttpTransport]:
    """Yield the connection to a server, whose session ends with the context."""
    transport = HttpTransport(http, call, what, endpoint, headers, timeout)
    try:
        yield transport
    finally:
        await transport.aclose()


class StdioTransport:
    """A server that is a process. Each message is a line."""

    def __init__(self, process: RunningProcess, what: str) -> None:
        self._process, self._what = process, what

    def use_version(self, version: str) -> None:
        """Do nothing: only HTTP repeats it."""

    async def send(self, message: Mapping[str, JSON]) -> None:
        self._process.write(content_of(message) + b"\n")

    async def ask(self, message: Mapping[str, JSON]) -> AsyncGenerator[Message, None]:
        await self.send(message)
        while True:
            for line in self._process.take_lines():
                for one in _messages_in(line, self._what):
                    yield one
            if self._process.has_ended:
                result = await self._process.result()
                told = result.stderr.strip()[-_OUTPUT:]
                why = f"the server ended with the exit code {result.code}{told and f': {told}'}"
                raise CallFailed(f"{self._what}: {why}", code="ProcessFailed", body=result.to_json())
            await self._process.changed()


@asynccontextmanager
async def over_stdio(
    what: str, command: list[str], environment: Mapping[str, str], limit: int
) -> AsyncIterator[StdioTransport]:
    """Yield the connection to a server that is started, and ended with the context."""
    with TemporaryDirectory(prefix="swf-mcp-", ignore_cleanup_errors=True) as folder:
        async with started(what, command, clean_environment(folder, environment), folder, limit) as process:
            yield StdioTransport(process, what)
            process.close_stdin()


def _messages_in(line: bytes, what: str) -> list[Message]:
    """Return the messages in a line. Many servers also write lines for people, which are ignored."""
    return read_message(line, what) if line.lstrip()[:1] in (b"{", b"[") else []
