"""Messages to and from a NATS server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from swf_temporal.base.importing import optional
from swf_temporal.events.brokers.port import (
    DENIED,
    LOST,
    TOO_LARGE,
    BrokerMessage,
    Channel,
    Message,
    Refused,
    Send,
    connect_address,
    mapped,
    translating,
    word,
)

_T = TypeVar("_T")

_PORT = 4222
_CLOSING = 1.0
"""The limit in seconds for closing a connection."""
_LOOKING = 0.1
"""Seconds between two checks of a connection over which an answer is awaited."""
_CONTENT_TYPE = "content-type"
_HEAD = len("NATS/1.0\r\n\r\n")
"""The number of bytes around the headers of a message."""
_NO_RESPONDERS = ("NoResponders", "there are no responders there")
_DENIALS = ("authorization violation", "permissions violation", "authentication")
"""The beginning of the server's message when it denies something."""


class Nats:
    """Publishes and subscribes; the server keeps nothing for clients that are not connected."""

    async def send(self, channel: Channel, message: Message) -> None:
        """Publish *message*, and wait until the server has read it."""
        with mapping_faults(channel):
            async with asyncio.timeout(channel.timeout), self.sending(channel) as send:
                await send(channel, message)

    @asynccontextmanager
    async def sending(self, channel: Channel) -> AsyncIterator[Send]:
        """Connect. An error that the server reports counts for all messages that are being sent."""

        async def send(to: Channel, message: Message) -> None:
            with mapping_faults(to):
                async with asyncio.timeout(to.timeout):
                    # The server reports that there are no responders to the reply subject of the request.
                    replies = await connection.subscribe(message.reply_to) if message.reply_to else None
                    headers = _headers(message)
                    check_size(connection, headers, message.payload)
                    await connection.publish(to.address, message.payload, reply=message.reply_to or "", headers=headers)
                    await _asked(connection, errors, to.timeout)
                    if replies is not None and replies.pending_msgs and _is_unanswered(await replies.next_msg()):
                        raise Refused(_NO_RESPONDERS)

        async with connected(channel) as (connection, errors):
            yield send

    @asynccontextmanager
    async def receive(self, channel: Channel) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Subscribe, as a member of the queue group if the document names one."""
        async with connected(channel) as (connection, errors):
            with mapping_faults(channel):
                async with asyncio.timeout(channel.timeout):
                    queue = word(channel.bindings.operation, "queue")
                    subscription = await connection.subscribe(channel.address, queue=queue or "")
                    await _asked(connection, errors, channel.timeout)
            yield _deliveries(channel, subscription)

    @asynccontextmanager
    async def resume(
        self, channel: Channel, receipts: Sequence[str]
    ) -> AsyncIterator[AsyncIterator[BrokerMessage] | None]:
        """Pull from a durable consumer of the stream that stores the subject; None if there is no such stream."""
        jetstream = _library("swf_temporal.events.brokers.jetstream")
        async with connected(channel) as (connection, errors):
            with mapping_faults(channel):
                async with asyncio.timeout(channel.timeout + jetstream.ACK_WAIT):
                    resuming = jetstream.resumed(connection, channel, receipts)
                    consumer = await unless_closed(connection, resuming, lambda: next(iter(errors), None))
            yield None if consumer is None else jetstream.unaccepted(channel, connection, consumer)

    async def forget(self, channel: Channel) -> None:
        """Delete the durable consumer."""
        async with connected(channel) as (connection, _):
            with mapping_faults(channel):
                async with asyncio.timeout(channel.timeout):
                    await _library("swf_temporal.events.brokers.jetstream").forget(connection, channel)


@contextmanager
def mapping_faults(channel: Channel) -> Iterator[None]:
    """Turn exceptions raised in the context into CallFailed."""
    errors = _library("nats.errors")
    known = {
        errors.AuthorizationError: DENIED,
        errors.MaxPayloadError: TOO_LARGE,
        errors.BadSubjectError: ("BadArguments", "this is not a subject"),
        errors.BadHeaderError: ("BadArguments", "this cannot be the name of a header"),
        UnicodeEncodeError: ("BadArguments", "this cannot be sent over NATS"),
        errors.ConnectionClosedError: LOST,
        errors.StaleConnectionError: LOST,
    }
    with translating(channel, known, errors.Error):
        try:
            yield
        except errors.Error as error:
            # Errors that the server reports have a text, and no type.
            if str(error).removeprefix("nats: ").strip("'").lower().startswith(_DENIALS):
                raise Refused(DENIED, str(error)) from error
            raise


def connected(channel: Channel) -> AbstractAsyncContextManager[tuple[Any, list[Exception]]]:
    """Connect once; also return the list of the server's errors, which the library only reports to a callback."""
    return mapped(_connected(channel), partial(mapping_faults, channel))


@asynccontextmanager
async def _connected(channel: Channel) -> AsyncIterator[tuple[Any, list[Exception]]]:
    errors: list[Exception] = []

    async def note(error: Exception) -> None:
        errors.append(error)

    library, port = _library("nats"), channel.port or _PORT
    host = await connect_address(channel, port)
    connection = _library("nats.aio.client").Client()
    try:
        await connection.connect(
            f"{'tls' if channel.tls else 'nats'}://{f'[{host}]' if ':' in host else host}:{port}",
            error_cb=note,
            name=channel.client_id,
            connect_timeout=channel.timeout,
            allow_reconnect=False,
            # Without reconnecting, the library still retries the first connection; this is the minimum that it allows.
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            user=channel.credentials.username,
            password=channel.credentials.password,
            token=channel.credentials.token,
            tls=channel.tls,
        )
        yield connection, errors
    except library.errors.NoServersError:
        raise errors[-1] from None
    finally:
        # After a failed handshake, the library waits for a connection that has already ended.
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING):
                await connection.close()


async def unless_closed(
    connection: Any, asking: Coroutine[Any, Any, _T], complaint: Callable[[], Exception | None] = lambda: None
) -> _T:
    """Return the result of *asking*. Raises Refused if the connection ends, and a *complaint* that the server makes.

    The library would let it wait until its timeout.
    """
    answer = asyncio.create_task(asking)
    try:
        while not (await asyncio.wait((answer,), timeout=_LOOKING))[0]:
            if connection.is_closed:
                raise Refused(LOST)
            if (error := complaint()) is not None:
                raise error
        return await answer
    finally:
        answer.cancel()


def check_size(connection: Any, headers: Mapping[str, str] | None, payload: bytes) -> None:
    """Raise Refused if a message is too large: the server would disconnect, and the library does not count headers."""
    size = sum(len(f"{name}: {value}\r\n".encode()) for name, value in headers.items()) if headers else -_HEAD
    if _HEAD + size + len(payload) > connection.max_payload:
        raise Refused(TOO_LARGE, f"with its headers it has {_HEAD + size + len(payload):,} bytes")


def _is_unanswered(received: Any) -> bool:
    return not received.data and (received.headers or {}).get("Status") == "503"


async def _asked(connection: Any, errors: list[Exception], timeout: float) -> None:
    """Return when the server has processed everything that was sent to it. Raises an error that it reported."""
    # The library's first ping may overtake messages that were to be sent before it; the second one cannot.
    for _ in range(2):
        await unless_closed(connection, connection.flush(timeout))
    if errors:
        raise errors[0]


async def _deliveries(channel: Channel, subscription: Any) -> AsyncIterator[BrokerMessage]:
    while True:
        with mapping_faults(channel):
            received = await subscription.next_msg(timeout=None)
        yield BrokerMessage(incoming(received), _accept)


async def _accept() -> None:
    """Do nothing: the server does not keep a message that it has sent."""


def _headers(message: Message) -> Mapping[str, str] | None:
    headers = dict(message.headers)
    if message.content_type is not None:
        headers.setdefault(_CONTENT_TYPE, message.content_type)
    return headers or None


def incoming(received: Any) -> Message:
    headers = dict(received.headers or {})
    types = [value for name, value in headers.items() if name.lower() == _CONTENT_TYPE]
    return Message(
        received.data, content_type=types[0] if types else None, headers=headers, reply_to=received.reply or None
    )


def _library(module: str) -> Any:
    return optional(module, "nats", "functions of type 'asyncapi' over NATS")
