"""Messages over WebSocket.

Every call has its own connection, which is closed with the protocol's handshake. WebSocket messages have no headers:
a message's headers are sent with the request that opens the connection.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.importing import optional
from swf_temporal.events.brokers.port import (
    LOST,
    REFUSED,
    BrokerMessage,
    Channel,
    Message,
    Refused,
    Send,
    headers_of,
    translating,
    url_of,
)
from swf_temporal.text.bodies import is_json, read_error_answer, split_content_type

_TOO_BIG = 1009
_CLEAN = frozenset({None, 1000, 1001, 1005})
_MAX_GOODBYE = 5.0
"""Seconds that a server has for answering the closing handshake."""


class WebSocket:
    """Sends and receives over WebSocket connections."""

    async def send(self, channel: Channel, message: Message) -> None:
        """Open a connection, send *message*, and close it: the server confirms closing after reading the message."""
        async with opened(channel, message) as connection:
            await _say(channel, connection, message)
        if connection.close_code not in _CLEAN:
            with mapping_faults(channel):
                raise Refused(REFUSED, f"closed with {connection.close_code} {connection.close_reason}".strip())

    @asynccontextmanager
    async def sending(self, channel: Channel) -> AsyncIterator[Send]:
        """Open a connection. A message counts as sent when the server answers the ping that follows it."""

        async def send(to: Channel, message: Message) -> None:
            await _say(to, connection, message)
            with mapping_faults(to):
                async with asyncio.timeout(to.timeout):
                    await (await connection.ping())

        async with opened(channel) as connection:
            yield send

    @asynccontextmanager
    async def receive(self, channel: Channel) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Open a connection and receive messages over it."""
        async with opened(channel) as connection:
            yield _coming(channel, connection)

    @asynccontextmanager
    async def converse(self, channel: Channel, message: Message) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Open a connection and send *message*; the messages that come back over the same connection follow."""
        async with opened(channel, message) as connection:
            await _say(channel, connection, message)
            yield _coming(channel, connection)


@asynccontextmanager
async def opened(channel: Channel, message: Message | None = None) -> AsyncIterator[Any]:
    """Connect until the context is left."""
    with mapping_faults(channel):
        connection = await _connect(channel, message)
    try:
        yield connection
    finally:
        await connection.close()


async def _connect(channel: Channel, message: Message | None = None) -> Any:
    """Return a connection to the first address that answers. The library only follows redirects on the same host."""
    library = _library()
    addresses = channel.addresses or (channel.host,)
    for address in addresses[:-1]:
        with suppress(OSError):
            return await _connected(library, channel, message, address)
    return await _connected(library, channel, message, addresses[-1])


async def _connected(library: Any, channel: Channel, message: Message | None, address: str) -> Any:
    secure = {} if channel.tls is None else {"ssl": channel.tls, "server_hostname": channel.host}
    return await library.connect(
        url_of(channel),
        host=address,
        port=channel.port,
        additional_headers=headers_of(channel, message),
        open_timeout=channel.timeout,
        close_timeout=min(_MAX_GOODBYE, channel.timeout),
        max_size=channel.max_bytes,
        proxy=None,
        subprotocols=channel.subprotocols or None,
        **secure,
    )


async def _say(channel: Channel, connection: Any, message: Message) -> None:
    with mapping_faults(channel):
        await connection.send(_frame(message))


async def _coming(channel: Channel, connection: Any) -> AsyncIterator[BrokerMessage]:
    with mapping_faults(channel):
        async for frame in connection:
            content = frame.encode() if isinstance(frame, str) else frame
            yield BrokerMessage(Message(content), _nothing)


def _frame(message: Message) -> str | bytes:
    """Return the frame of *message*: text if possible, since many servers understand nothing else."""
    media_type = split_content_type(message.content_type or "")[0]
    if not media_type or is_json(media_type) or media_type.startswith("text/"):
        try:
            return message.payload.decode()
        except UnicodeDecodeError:
            pass
    return message.payload


@contextmanager
def mapping_faults(channel: Channel) -> Iterator[None]:
    """Turn exceptions raised in the context into CallFailed."""
    library = _library()
    with translating(channel, {library.ConnectionClosed: LOST}, library.WebSocketException):
        try:
            yield
        except library.InvalidStatus as error:
            raise _unwelcome(channel, error.response) from error
        except library.ConnectionClosedError as error:
            if error.sent is not None and error.sent.code == _TOO_BIG:
                text = f"{channel}: the received message is larger than {channel.max_bytes} bytes"
                raise permanent_failure("AnswerTooLarge", text) from error
            raise
        except OSError:
            raise
        except ValueError as error:
            # The library has no specific exception for a redirect that it may not follow.
            raise Refused(REFUSED, str(error)) from error


def _unwelcome(channel: Channel, response: Any) -> CallFailed:
    """Return the fault of a server that answers with an HTTP response instead of switching to WebSocket."""
    status = response.status_code
    body = read_error_answer(bytes(response.body or b""), response.headers.get("Content-Type", ""))
    text = f"{channel} answered {status} {response.reason_phrase}".strip()
    return CallFailed(text, code=status, status=status, body=body)


def _library() -> Any:
    optional("websockets.asyncio.client", "websocket", "channels of WebSocket")
    return optional("websockets", "websocket", "channels of WebSocket")


async def _nothing() -> None:
    """Accept a message: the protocol has no acknowledgement."""
