"""Brokers that run for the whole session, and how the tests speak of channels."""

import asyncio
import json
import os
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from uuid import uuid4

import pytest
import trustme
from confluent_kafka import Producer

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.events.brokers.amqp import Amqp
from swf_temporal.events.brokers.kafka import Kafka
from swf_temporal.events.brokers.mqtt import Mqtt
from swf_temporal.events.brokers.nats import Nats
from swf_temporal.events.brokers.port import Bindings, Broker, BrokerMessage, Channel, Credentials, Message
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Settings
from tests.brokers.kafka_front import Front
from tests.brokers.rabbitmq import prepared as prepared_rabbitmq
from tests.brokers.servers import HOST, Link, Server, free_ports, program, running, write_certificates
from tests.functions.conftest import calling

__all__ = ["calling"]  # a fixture of the tests of functions
ChannelTo: TypeAlias = Callable[..., Channel]
ADA = Credentials(username="ada", password="lovelace")  # noqa: S106 - of the tests' own brokers


@dataclass(frozen=True)
class Protocol:
    """A protocol, the module of its library that is asked for first, and the fixture of its broker."""

    name: str
    make: Callable[[], Broker]
    library: str
    server: str
    hers: str
    """How the addresses begin that ada may use."""
    sent: Message
    """A message with all that the protocol can carry."""
    too_large: int
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What is said of a channel that is there once it is used."""

    def channel(self, port: int, *, host: str = HOST, timeout: float = 10.0) -> Channel:
        return Channel(self.name, host, port, "", uuid4().hex, uuid4().hex, timeout)


_X = Message(b"x")
_ONE = Message(b"\x00one", "text/plain", {"Idempotency-Key": "k", "x": "ü"})
_QUEUE = {"channel": {"is": "queue", "queue": {"durable": True}}}
PROTOCOLS = {
    one.name: one
    for one in (
        Protocol("mqtt", Mqtt, "aiomqtt", "mosquitto", "hers/", replace(_ONE, correlation_id="c-1", reply_to="a/1"),
                 100_001),
        Protocol("amqp", Amqp, "aiormq.exceptions", "rabbitmq", "hers.",
                 replace(_ONE, correlation_id="c-1", reply_to="a"), 100_001, _QUEUE),
        Protocol("nats", Nats, "nats.errors", "nats_server", "hers.",
                 replace(_ONE, headers={"Idempotency-Key": "k", "x": "y"}, reply_to="a.1"), 1_048_577),
        Protocol("kafka", Kafka, "aiokafka.errors", "secured_kafka", "hers.", _ONE, 2000, {"max_bytes": 1000}),
    )
}  # fmt: skip

_MOSQUITTO = """
per_listener_settings true
user {user}
log_dest stdout
max_packet_size 100000

listener {port} {host}
allow_anonymous true

listener {secure_port} {host}
allow_anonymous false
password_file {folder}/passwords
acl_file {folder}/permissions
cafile {certificates}/ca.pem
certfile {certificates}/server.pem
keyfile {certificates}/server.pem
"""

_GUARDED_NATS = """
tls {{
  cert_file: "{folder}/server.pem"
  key_file: "{folder}/server.pem"
}}
authorization {{
  users = [{{user: ada, password: lovelace, permissions: {{publish: "hers.>", subscribe: "hers.>"}}}}]
}}
"""


_RUNNING = ExitStack()
"""What runs until the session ends."""


def shared(start: Callable[[], Any]) -> Any:
    """Return a fixture for the session, whose server is started once in a process: whatever conftest it stands in."""
    started = cache(start)

    @pytest.fixture(scope="session", name=start.__name__)
    def fixture(request: pytest.FixtureRequest) -> Any:
        request.config.add_cleanup(_RUNNING.close)
        return started()

    return fixture


@cache
def _authority() -> trustme.CA:
    return trustme.CA()


@cache
def _folder() -> Path:
    """Return a folder with certificates, which is taken away in the end."""
    folder = Path(_RUNNING.enter_context(TemporaryDirectory(prefix="swf-brokers-")))
    write_certificates(_authority(), folder)
    return folder


@pytest.fixture(scope="session")
def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    _authority().configure_trust(context)
    return context


@shared
def mosquitto() -> Server:
    """Run Mosquitto, open on one port; the other knows ada, who may use what begins with `hers`."""
    broker, passwords = program("mosquitto", "mosquitto"), program("mosquitto_passwd", "mosquitto")
    folder = _folder() / "mosquitto"
    folder.mkdir()
    subprocess.run([passwords, "-b", "-c", folder / "passwords", "ada", "lovelace"], check=True, capture_output=True)
    (folder / "permissions").write_text("user ada\ntopic readwrite hers/#\n")
    port, secure_port = free_ports(2)
    user = "root" if os.getuid() == 0 else os.environ.get("USER", "nobody")
    known = {"user": user, "port": port, "secure_port": secure_port, "host": HOST, "folder": folder}
    (folder / "mosquitto.conf").write_text(_MOSQUITTO.format(**known, certificates=_folder()))
    command = [broker, "-c", str(folder / "mosquitto.conf")]
    _RUNNING.enter_context(running(command, [port, secure_port], folder / "log"))
    return Server(port, secure_port)


@shared
def nats_server() -> Server:
    """Run two NATS servers, an open one, and one with TLS that knows ada, who may use what begins with `hers`."""
    broker, folder = program("nats-server", "nats-server"), _folder()
    (folder / "guarded.conf").write_text(_GUARDED_NATS.format(folder=folder))
    port, secure_port = free_ports(2)
    guarded = [broker, "-c", str(folder / "guarded.conf"), "-a", HOST, "-p", str(secure_port)]
    _RUNNING.enter_context(running([broker, "-a", HOST, "-p", str(port)], [port], folder / "nats.log"))
    _RUNNING.enter_context(running(guarded, [secure_port], folder / "guarded.log"))
    return Server(port, secure_port)


@shared
def jetstream() -> Server:
    """Run a NATS server whose streams store messages."""
    broker, [port] = program("nats-server", "nats-server"), free_ports(1)
    command = [broker, "-a", HOST, "-p", str(port), "-js", "-sd", str(_folder() / "jetstream")]
    _RUNNING.enter_context(running(command, [port], _folder() / "jetstream.log"))
    return Server(port)


@shared
def rabbitmq() -> Server:
    """Run RabbitMQ on a port, and with TLS on another. It knows guest, and ada, who may use what begins with `hers`."""
    folder = _folder() / "rabbitmq"
    folder.mkdir()
    server, serving = _RUNNING.enter_context(prepared_rabbitmq(folder, _folder()))
    _RUNNING.enter_context(serving())
    return server


@shared
def kafka_cluster() -> Server:
    """Run librdkafka's mock cluster, in this process.

    It is no Kafka: no package index has one that runs without a download. It speaks Kafka's protocol over a port, keeps
    topics, groups and their offsets in memory, and makes every topic that it is asked for.
    """
    owner = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    (broker,) = owner.list_topics(timeout=10).brokers.values()
    _RUNNING.callback(owner.flush)  # which keeps it, and the cluster with it
    return Server(broker.port)


@pytest.fixture(scope="session")
async def secured_kafka(kafka_cluster: Server) -> AsyncIterator[Server]:
    """Run a front of the cluster, which knows ada."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    _authority().issue_cert(HOST).configure_cert(context)
    async with Front(kafka_cluster.port, "ada", "lovelace").opened(context) as front:
        yield Server(kafka_cluster.port, front.port)


@pytest.fixture
def topic() -> str:
    return f"orders-{uuid4().hex[:8]}"


@pytest.fixture
def client_id() -> str:
    return f"call-{uuid4().hex[:8]}"


@pytest.fixture
def protocol(request: pytest.FixtureRequest) -> Protocol:
    """Return the protocol that the test's file is named after."""
    return PROTOCOLS[request.path.stem.removeprefix("test_")]


@pytest.fixture
def server(request: pytest.FixtureRequest, protocol: Protocol) -> Server:
    found: Server = request.getfixturevalue(protocol.server)
    return found


@pytest.fixture
def channel(protocol: Protocol, server: Server, topic: str, client_id: str, trusting: ssl.SSLContext) -> ChannelTo:
    """Return a way to speak of a channel of the protocol; with *secure* it is ada's, over TLS."""

    def channel(address: str = topic, *, secure: bool = False, **facts: Any) -> Channel:
        parts = {name: facts.pop(name) for name in ("server", "channel", "operation", "message") if name in facts}
        known = {"protocol": protocol.name, "host": HOST, "path": "", "client_id": client_id, "timeout": 10.0}
        by = {"port": server.secure_port, "credentials": ADA, "tls": trusting} if secure else {"port": server.port}
        return Channel(address=address, bindings=Bindings(**parts), **{**known, **by, **facts})

    return channel


@pytest.fixture
async def link(server: Server) -> AsyncIterator[Link]:
    async with Link(server.port).opened() as link:
        yield link


async def payloads(broker: Broker, channel: Channel, number: int = 1) -> list[bytes]:
    async with broker.receive(channel) as deliveries:
        return [await taken(deliveries) for _ in range(number)]


async def taken(deliveries: AsyncIterator[BrokerMessage]) -> bytes:
    delivery = await anext(deliveries)
    await delivery.accept()
    return delivery.message.payload


async def echo(broker: Broker, channel: Channel, message: Message = _X) -> Message:
    """Send a message over a channel that is listened to, and return what comes."""
    async with broker.receive(channel) as deliveries:
        await broker.send(channel, message)
        delivery = await anext(deliveries)
        await delivery.accept()
        return delivery.message


async def lost(broker: Broker, channel: Channel, *payloads: bytes, accepted: bool = False) -> None:
    """Make an attempt that is sent messages with *payloads*, accepts them or not, and is lost then."""
    with suppress(_WorkerLost):
        async with broker.receive(channel) as deliveries:
            for payload in payloads:
                await broker.send(channel, Message(payload))
                delivery = await anext(deliveries)
                if accepted:
                    await delivery.accept()
            raise _WorkerLost


class _WorkerLost(Exception):  # noqa: N818 - nothing went wrong in the test
    pass


async def cut_while_receiving(broker: Broker, channel: Channel, link: Link) -> None:
    async with broker.receive(channel) as deliveries:
        link.cut()
        await anext(deliveries)


async def answer_to(broker: Broker, question: Channel, folder: Path) -> JSON:
    """Ask by a function, through a document that speaks of the channel *question*; answer over the broker itself."""
    _write_document(question, folder / "questions.json")
    function = Function(name="ask", type="asyncapi", operation="questions.json#ask")
    functions = Functions(settings=Settings())
    async with broker.receive(question) as questions:
        asking = asyncio.create_task(
            functions.call(Call(function, {"number": 6}, base=str(folder), idempotency_key=question.client_id))
        )
        asked = (await anext(questions)).message
        assert json.loads(asked.payload) == {"number": 6}
        answer = Message(b'{"number": 7}', "application/json", {"id": asked.headers["id"]})
        reply = replace(question, address=asked.headers["answerTo"], bindings=Bindings())
        await broker.send(reply, answer)
        result = await asking
    await functions.aclose()
    return result


def _write_document(question: Channel, path: Path) -> None:
    family, number = question.protocol, {"payload": {"type": "object", "required": ["number"]}}
    message = {**number, "correlationId": {"location": "$message.header#/id"}}
    channel = {"address": question.address, "messages": {"number": message}}
    reply = {"channel": {"$ref": "#/channels/answers"}, "address": {"location": "$message.header#/answerTo"}}
    questions = {**channel, "bindings": {family: dict(question.bindings.channel)}}
    document = {
        "asyncapi": "3.0.0",
        "info": {"title": "Questions", "version": "1"},
        "servers": {"here": {"host": f"{question.host}:{question.port}", "protocol": family}},
        "channels": {"questions": questions, "answers": {**channel, "address": None}},
        "operations": {"ask": {"action": "send", "channel": {"$ref": "#/channels/questions"}, "reply": reply}},
    }
    path.write_text(json.dumps(document))


async def is_cancelled_cleanly(broker: Broker, channel: Channel) -> bool:
    """Cancel a receiver that waits, and tell whether nothing of it is left."""
    before = asyncio.all_tasks()
    entered = asyncio.Event()

    async def receive() -> None:
        async with broker.receive(channel) as deliveries:
            entered.set()
            await anext(deliveries)

    waiting = asyncio.create_task(receive())
    return await _is_ended_cleanly(waiting, entered, before)


async def is_cancelled_while_connecting(broker: Broker, channel: Channel, called: asyncio.Event) -> bool:
    """Cancel a sender whose broker does not answer, and tell whether nothing of it is left."""
    before = asyncio.all_tasks()
    return await _is_ended_cleanly(asyncio.create_task(broker.send(channel, _X)), called, before)


async def _is_ended_cleanly(doing: asyncio.Task[None], is_time: asyncio.Event, before: set[asyncio.Task[Any]]) -> bool:
    timer = asyncio.create_task(is_time.wait())
    await asyncio.wait([doing, timer], return_when=asyncio.FIRST_COMPLETED)
    timer.cancel()
    await asyncio.sleep(0)
    doing.cancel()
    await asyncio.wait([doing])
    while left := asyncio.all_tasks() - before:
        # What a library had begun to end may need another turn; what waits for good, the test's timeout ends.
        await asyncio.wait(left)
    return doing.cancelled()
