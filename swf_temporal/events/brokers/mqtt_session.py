"""MQTT sessions with two additions to aiomqtt: messages are acknowledged when accepted, and refusals are reported.

This module is imported when MQTT is first used: aiomqtt is an extra.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn, Self

import aiomqtt
from paho.mqtt.reasoncodes import ReasonCode

from swf_temporal.events.brokers.port import DENIED, REFUSED, TOO_LARGE, UNKNOWN, Refused

_CONNECTING = 10.0
"""The limit in seconds for connecting."""

_REASONS = {
    **dict.fromkeys((0x80, 0x86, 0x87, 0x8C), DENIED),
    **dict.fromkeys((0x8F, 0x90), UNKNOWN),
    0x95: TOO_LARGE,
    0x8E: ("SessionTaken", "another client has taken the session: it has the same client id"),
}
"""The meaning of reason codes (MQTT 5, 2.4). 0x80 is the only failure code of 3.1.1 for a subscription: denied."""
_DENIED_BEFORE_5 = frozenset({4, 5})
_FAILED = 0x80


class Session(aiomqtt.Client):
    """A connection whose messages are acknowledged by the caller, once they are handled."""

    def __init__(self, hostname: str, port: int, *, timeout: float, at_once: int | None, **options: Any) -> None:
        """Hold up to *at_once* unacknowledged messages, and one more that shows that there are more."""
        super().__init__(hostname, port, timeout=timeout, **options)
        self._at_once = at_once
        self._held = 0
        self._socket: Any = None
        self._is_paused = False
        self._client.manual_ack_set(on=True)
        self._client.connect_timeout = min(_CONNECTING, timeout)
        self.is_resumed = False
        """Whether the broker had the session already."""
        self.redelivered: set[int] = set()
        """The packet identifiers of messages that the broker has sent before."""
        self._refusal: ReasonCode | None = None
        self._tried = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Connect; leave nothing behind if that fails or is cancelled."""
        entering = asyncio.ensure_future(super().__aenter__())
        try:
            await asyncio.shield(entering)
        except BaseException as error:
            # The library connects in a thread, which cannot be stopped, and does not clean up a failed attempt.
            await self._tried.wait()
            entering.cancel()
            await asyncio.wait([entering])
            self._connected = self._loop.create_future()
            self._client.disconnect()
            if isinstance(error, aiomqtt.MqttCodeError):
                raise refused(error.rc) from error
            raise
        return self

    async def send(self, topic: str, payload: bytes, **options: Any) -> None:
        """Publish, and wait until the broker has answered. Raises Refused if the broker refuses the message."""
        publishing = asyncio.ensure_future(self.publish(topic, payload, **options))
        # The library would wait for an answer until its timeout, even if the connection is lost.
        try:
            await asyncio.wait((publishing, self._disconnected), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            publishing.cancel()
            raise
        if not publishing.done():
            publishing.cancel()
            raise _hung_up(self._disconnected.exception())
        await publishing
        if self._refusal is not None:
            raise refused(self._refusal)

    async def listen(self, topic: str, qos: int) -> None:
        """Subscribe. Raises Refused if the broker does not allow it."""
        (answer,) = await self.subscribe(topic, qos)
        if _value(answer) >= _FAILED:
            raise refused(answer)

    def acknowledging(self, message: aiomqtt.Message) -> Callable[[], Awaitable[None]]:
        """Return a function that acknowledges *message*; further calls do nothing."""
        waiting = [message]

        async def acknowledge() -> None:
            while waiting:
                done = waiting.pop()
                self._client.ack(done.mid, done.qos)
                self._held -= 1
                if self._is_paused and self._socket is not None:
                    self._is_paused = False
                    self._loop.add_reader(self._socket, self._read)
                    self._loop.call_soon(self._read)  # TLS may have buffered bytes that the loop does not see

        return acknowledge

    async def lost(self) -> NoReturn:
        """Wait until the connection ends, and raise the reason."""
        await asyncio.wait([self._disconnected])
        error = _hung_up(self._disconnected.exception())
        if isinstance(error, Refused):
            raise error
        raise aiomqtt.MqttError(f"{error}; another client with the id {self.identifier!r} would have that effect")

    def _on_socket_open(self, client: Any, userdata: Any, sock: Any) -> None:
        """Read from the socket as the library does, but stop at the limit of held messages, so that the broker waits.

        While nothing is read, neither are ping responses: the connection breaks after two missing ones, and
        unacknowledged messages are redelivered over the next connection.
        """
        super()._on_socket_open(client, userdata, sock)
        self._socket = sock
        self._loop.call_soon_threadsafe(self._loop.add_reader, sock, self._read)

    def _on_socket_close(self, client: Any, userdata: Any, sock: Any) -> None:
        self._socket = None
        super()._on_socket_close(client, userdata, sock)

    def _on_connect(self, client: Any, userdata: Any, flags: Any, reason_code: Any, properties: Any = None) -> None:
        self.is_resumed = bool(flags.session_present)
        super()._on_connect(client, userdata, flags, reason_code, properties)

    def _on_message(self, client: Any, userdata: Any, message: Any) -> None:
        if message.dup:
            self.redelivered.add(message.mid)
        self._held += 1
        super()._on_message(client, userdata, message)

    def _read(self) -> None:
        try:
            while self._socket is not None:
                if self._at_once is not None and self._held > self._at_once:
                    self._is_paused = True
                    self._loop.remove_reader(self._socket)
                    return
                self._client.loop_read()
                if not getattr(self._socket, "pending", int)():
                    return
        except Exception as error:  # noqa: BLE001 - as the library does: the connection is unusable
            if not self._disconnected.done():
                self._disconnected.set_exception(error)

    def _client_connect(self) -> None:
        try:
            super()._client_connect()
        finally:
            self._loop.call_soon_threadsafe(self._tried.set)

    def _on_publish(self, client: Any, userdata: Any, mid: int, reason_code: ReasonCode, properties: Any) -> None:
        if reason_code.is_failure:
            self._refusal = reason_code
        super()._on_publish(client, userdata, mid, reason_code, properties)


def refused(reason: ReasonCode | int | None) -> Refused:
    value = _value(reason)
    fault = DENIED if value in _DENIED_BEFORE_5 else _REASONS.get(value, REFUSED)
    return Refused(fault, f"MQTT {value}: {reason}")


def _hung_up(error: BaseException | None) -> Exception:
    """Return why a broker ended a connection; an MQTT 5 broker may give a reason as it disconnects."""
    # The library reports an unspecified error if the broker gave no reason.
    if isinstance(error, aiomqtt.MqttCodeError) and _value(error.rc) in _REASONS and _value(error.rc) != _FAILED:
        return refused(error.rc)
    return aiomqtt.MqttError(f"the broker hung up: {error}")


def _value(reason: ReasonCode | int | None) -> int:
    return reason.value if isinstance(reason, ReasonCode) else reason or 0
