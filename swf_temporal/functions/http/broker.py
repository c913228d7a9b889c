"""Messages over HTTP.

A message is sent by a request, whose answer is its reply. One is received by polling: the server may hold the request
until there is a message, or answer 204.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from swf_temporal.base.errors import CallFailed
from swf_temporal.events.brokers.port import BrokerMessage, Channel, Message, headers_of, url_of
from swf_temporal.functions.http.client import Http, Request

_PAUSE = 1.0
"""Seconds between two requests, so that a server without messages is not polled continuously."""


class HttpBroker:
    """Sends and receives messages by HTTP requests."""

    def __init__(self, http: Http, pause: float = _PAUSE) -> None:
        self._http = http
        self._pause = pause

    async def send(self, channel: Channel, message: Message) -> None:
        """Send *message* by POST, or as the operation's binding says. Raises CallFailed for any answer but 2xx."""
        await self._http.request_raw(_sending(channel, message))

    @asynccontextmanager
    async def receive(self, channel: Channel) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Poll for messages by GET, or as the operation's binding says."""
        yield self._asking(channel)

    @asynccontextmanager
    async def converse(self, channel: Channel, message: Message) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Send *message*; the answer is the reply."""
        yield _once(await self._http.request_raw(_sending(channel, message)))

    async def _asking(self, channel: Channel) -> AsyncIterator[BrokerMessage]:
        request = Request(_method(channel, "GET"), url_of(channel), tuple(headers_of(channel)), callee=channel.callee)
        while True:
            try:
                content, headers = await self._http.request_raw(request)
            except CallFailed as fault:
                # A server may hold the request for longer than one attempt may take.
                if fault.code != "Timeout":
                    raise
                continue
            if content:
                yield _delivery(content, headers)
            await asyncio.sleep(self._pause)


def _sending(channel: Channel, message: Message) -> Request:
    headers = [(name, value) for name, value in headers_of(channel, message) if name.lower() != "content-type"]
    if message.content_type:
        headers.append(("Content-Type", message.content_type))
    method = _method(channel, "POST")
    return Request(method, url_of(channel), tuple(headers), message.payload, channel.callee)


def _method(channel: Channel, usual: str) -> str:
    return str(channel.bindings.operation.get("method") or usual).upper()


async def _once(answer: tuple[bytes, dict[str, str]]) -> AsyncIterator[BrokerMessage]:
    yield _delivery(*answer)


def _delivery(content: bytes, headers: dict[str, str]) -> BrokerMessage:
    return BrokerMessage(Message(content, headers.get("content-type"), headers), _nothing)


async def _nothing() -> None:
    """Accept a message that would not be redelivered."""
