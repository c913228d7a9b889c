"""JSON-RPC 2.0: requests, notifications, and answers, also as a stream of server-sent events."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.strict_json import NotJSON, read_json, write_json
from swf_temporal.functions.http.client import OpenAnswer

_EVENTS: Final = "text/event-stream"
ACCEPT: Final = f"application/json, {_EVENTS}"
"""The header `Accept` of a request that may be answered by one message or by a stream of them."""
METHOD_NOT_FOUND: Final = -32601
_HOPELESS: Final = frozenset({-32700, -32600, METHOD_NOT_FOUND, -32602})
"""The codes of errors that are in the request."""
_LINE: Final = re.compile(rb"\r\n|\n|\r(?=.)", re.DOTALL)
"""The end of a line. A carriage return that has arrived last may be the first half of one."""


def request(method: str, parameters: JSON = None, *, number: JSON = None) -> dict[str, JSON]:
    """Return a request with the id *number*; without a number, a notification, which is not answered."""
    found: dict[str, JSON] = {"jsonrpc": "2.0"}
    found |= {} if number is None else {"id": number}
    return {**found, "method": method, **({} if parameters is None else {"params": parameters})}


def content_of(message: Mapping[str, JSON]) -> bytes:
    return write_json(message, ensure_ascii=False).encode()


def result_of(message: Mapping[str, JSON], what: str) -> JSON:
    """Return the result in the answer to *what*. Raises CallFailed for an error, which is its body."""
    error = message.get("error")
    if isinstance(error, dict):
        code, told = error.get("code"), error.get("message")
        retryable = code not in _HOPELESS
        raise CallFailed(
            f"{what} was answered with the error {code}: {told}", code="RpcError", body=error, retryable=retryable
        )
    if "result" not in message:
        raise malformed(what, "it has neither a result nor an error")
    return message["result"]


def malformed(what: str, why: str) -> CallFailed:
    """Return the fault of an answer that is not one of JSON-RPC."""
    return CallFailed(f"{what} was answered with something other than JSON-RPC: {why}", code="MalformedAnswer")


async def read_messages(answer: OpenAnswer, what: str) -> AsyncGenerator[dict[str, JSON], None]:
    """Yield the messages of an answer over HTTP: of a stream as they arrive, or all at once. Raises CallFailed."""
    if answer.headers.get("content-type", "").partition(";")[0].strip().lower() != _EVENTS:
        if content := await answer.read():
            for message in read_message(content, what):
                yield message
        return
    async with aclosing(events_of(answer.limited())) as events:
        async for event in events:
            for message in read_message(event.encode(), what):
                yield message


def read_message(content: bytes, what: str) -> list[dict[str, JSON]]:
    """Return the message in *content*, or the messages if it is an array of them. Raises CallFailed."""
    try:
        found = read_json(content.decode())
    except (NotJSON, UnicodeDecodeError) as error:
        raise malformed(what, str(error)) from None
    several = found if isinstance(found, list) else [found]
    if not all(isinstance(one, dict) for one in several):
        raise malformed(what, "it is not an object")
    return several


async def events_of(chunks: AsyncIterator[bytes]) -> AsyncGenerator[str, None]:
    """Yield the data of each server-sent event that has some. The last event needs no empty line after it."""
    data: list[str] = []
    async for line in _lines(chunks):
        if line:
            field, _, value = line.partition(":")
            if field == "data":
                data.append(value.removeprefix(" "))
        elif data:
            yield "\n".join(data)
            data = []


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[str, None]:
    parts: list[bytes] = []
    async for chunk in chunks:
        parts.append(chunk)
        if b"\n" in chunk or b"\r" in chunk or (len(parts) > 1 and parts[-2].endswith(b"\r")):
            *lines, rest = _LINE.split(b"".join(parts))
            parts = [rest]
            for line in lines:
                yield line.decode(errors="replace").removeprefix("\ufeff")
    if rest := b"".join(parts).removesuffix(b"\r"):
        yield rest.decode(errors="replace")
    yield ""
