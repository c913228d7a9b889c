"""Messages over WebSocket.

Every call has a connection of its own, which is closed as the protocol wants it. A message of WebSocket has no headers:
those that a message has are the ones of the request with which the connection begins.
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
"""Seconds that a server has for closing the connection as well."""


class WebSocket:
    """Sends and receives over connections of WebSocket."""

    async def send(self, channel: Channel, message: Message) -> None:
        """Open a connection, send *message*, and close it: the server has read what came before the end."""
        async with opened(channel, message) as connection:
            await _say(channel, connection, message)
        if connection.close_code not in _CLEAN:
            with mapping_faults(channel):
                raise Refused(REFUSED, f"closed with {connection.close_code} {connection.close_reason}".strip())

    @asynccontextmanager
    async def sending(self, channel: Channel) -> AsyncIterator[Send]:
        """Open a connection. The server has read a message when it answers the ping that follows it."""

        async def send(to: Channel, message: Message) -> None:
            await _say(to, connection, message)
            with mapping_faults(to):
                async with asyncio.timeout(to.timeout):
                    await (await connection.ping())

        async with opened(channel) as connection:
            yield send

    @asynccontextmanager
    async def receive(self, channel: Channel) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Open a connection, over which messages come."""
        async with opened(channel) as connection:
            yield _coming(channel, connection)

    @asynccontextmanager
    async def converse(self, channel: Channel, message: Message) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Open a connection and send *message*; what comes over the same connection follows."""
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
    """Return a connection to the first address that answers. The library follows redirects on the same host alone."""
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
    """Return what is sent: text where it is one, since many servers understand nothing else."""
    media_type = split_content_type(message.content_type or "")[0]
    if not media_type or is_json(media_type) or media_type.startswith("text/"):
        try:
            return message.payload.decode()
        except UnicodeDecodeError:
            pass
    return message.payload


@contextmanager
def mapping_faults(channel: Channel) -> Iterator[None]:
    """Turn what goes wrong within into a CallFailed."""
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
            # The library has no exception of its own for a redirect that it may not follow.
            raise Refused(REFUSED, str(error)) from error


def _unwelcome(channel: Channel, response: Any) -> CallFailed:
    """Return the fault of a server that answers as HTTP does, and does not go on as WebSocket."""
    status = response.status_code
    body = read_error_answer(bytes(response.body or b""), response.headers.get("Content-Type", ""))
    text = f"{channel} answered {status} {response.reason_phrase}".strip()
    return CallFailed(text, code=status, status=status, body=body)


def _library() -> Any:
    optional("websockets.asyncio.client", "websocket", "channels of WebSocket")
    return optional("websockets", "websocket", "channels of WebSocket")


async def _nothing() -> None:
    """Accept a message that would not be sent again."""
