"""The credentials for brokers and receivers stand in no fault of a sink, and in no line of the log of a consumer."""

import asyncio
import json
import logging
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import CallFailed
from swf_temporal.events.consumers.consumer import Consumer, Incoming
from swf_temporal.events.sinks import Sinks
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import BrokerAddress, ConsumerSettings, SinkSettings
from tests.events.conftest import Take, until

TOKEN = "t5Bn-62Yv/sL8m"  # noqa: S105 - it is none
PASSWORD = "s3cr:et"  # noqa: S105 - as above
LOGIN = b64encode(b"ada:s3cr:et").decode()


def test_a_broker_has_the_credentials_of_its_settings_and_its_url() -> None:
    broker = BrokerAddress(
        url="amqp://bob:0ne@host",
        queue="a",
        credentials={"username": "ada", "password": PASSWORD, "token": TOKEN},
        headers={"X-Key": "k", "X-Team": "a"},
    )
    assert broker.secrets == [PASSWORD, LOGIN, TOKEN, "k", "0ne", b64encode(b"bob:0ne").decode()]
    assert BrokerAddress(url="nats://host", subject="a", credentials={"username": "ada"}).secrets == []


async def _refusing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    body = json.dumps({"refused": head.decode()}).encode()
    start = "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nConnection: close\r\n"
    writer.write(f"{start}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
    writer.close()


async def test_a_receiver_that_repeats_its_credentials_does_not_tell_them() -> None:
    """They are replaced in the fault, which a history would keep; what else it says stays."""
    server = await asyncio.start_server(_refusing, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/events"
    credentials = [{"token": TOKEN}, {"username": "ada", "password": PASSWORD}]
    sinks = Sinks(
        [SinkSettings(name=f"sink {number}", url=url, credentials=one) for number, one in enumerate(credentials)]
    )
    async with server:
        outcomes = await sinks.deliver(CloudEvent("1", "shop", "placed", {}))
        await sinks.aclose()
    told = [f"{one.fault} {json.dumps(one.fault.body)} {one.fault.cause}" for one in outcomes if one.fault is not None]
    assert len(told) == 2
    assert all("POST /events" in one and ("Bearer ***" in one or "Basic ***" in one) for one in told)
    assert not [one for one in told for secret in (TOKEN, LOGIN) if secret in one]


class _Broken:
    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
        logging.getLogger("nats").warning("CONNECT %s", TOKEN)
        raise CallFailed(f"the token {TOKEN} is not known")
        yield  # a context manager has one


async def test_a_consumer_that_is_refused_does_not_log_its_token(take: Take, caplog: pytest.LogCaptureFixture) -> None:
    """Neither in its own words nor in those of the library."""
    settings = ConsumerSettings(name="orders", url="nats://localhost", subject="orders", credentials={"token": TOKEN})
    consumer = Consumer(settings, _Broken(), take, Settings())
    running = asyncio.create_task(consumer.run())
    await until(lambda: "is not known" in caplog.text)
    running.cancel()
    assert "the token *** is not known" in caplog.text
    assert "CONNECT ***" in caplog.text
    assert TOKEN not in caplog.text
