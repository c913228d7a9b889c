"""MQTT sessions with what aiomqtt leaves out: acknowledging a message when it is accepted, and reporting refusals.

This module is imported when MQTT is first used: aiomqtt is an extra.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Self

import aiomqtt
from paho.mqtt.reasoncodes import ReasonCode

from swf_temporal.functions.asyncapi.brokers.faults import DENIED, REFUSED, TOO_LARGE, UNKNOWN, Refused

_CONNECTING = 10.0
"""Seconds for making a connection."""

_REASONS = {
    **dict.fromkeys((0x80, 0x86, 0x87, 0x8C), DENIED),
    **dict.fromkeys((0x8F, 0x90), UNKNOWN),
    0x95: TOO_LARGE,
}
"""The meaning of reason codes (MQTT 5, 2.4). 0x80 is all that 3.1.1 says of a subscription: it is denied."""
_DENIED_BEFORE_5 = frozenset({4, 5})
_FAILED = 0x80


class Session(aiomqtt.Client):
    """A connection whose messages are acknowledged by the caller that has dealt with them."""

    def __init__(self, hostname: str, port: int, *, timeout: float, **options: Any) -> None:
        super().__init__(hostname, port, timeout=timeout, **options)
        self._client.manual_ack_set(on=True)
        self._client.connect_timeout = min(_CONNECTING, timeout)
        self._refusal: ReasonCode | None = None
        self._tried = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Connect; leave nothing behind if that fails or is cancelled."""
        entering = asyncio.ensure_future(super().__aenter__())
        try:
            await asyncio.shield(entering)
        except BaseException as error:
            # The library connects in a thread, which cannot be stopped, and forgets what it had begun.
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
        """Publish, and wait until the broker has answered. Raises Refused if it will not have the message."""
        publishing = asyncio.ensure_future(self.publish(topic, payload, **options))
        # The library would wait for an answer until its time is over, even if the connection is gone.
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
        """Return what tells the broker, once, that it need not send *message* again."""
        waiting = [message]

        async def acknowledge() -> None:
            while waiting:
                done = waiting.pop()
                self._client.ack(done.mid, done.qos)

        return acknowledge

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
    """Return why a broker ends a connection; one of MQTT 5 may say it with the last word."""
    if isinstance(error, aiomqtt.MqttCodeError) and _value(error.rc) in _REASONS:
        return refused(error.rc)
    return aiomqtt.MqttError(f"the broker hung up: {error}")


def _value(reason: ReasonCode | int | None) -> int:
    return reason.value if isinstance(reason, ReasonCode) else reason or 0
