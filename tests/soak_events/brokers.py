"""The brokers of the soak: each is a process that can be killed, restarted and stopped for a while."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from subprocess import Popen

import trustme

from tests.brokers import rabbitmq
from tests.brokers.servers import HOST, free_ports, program, running, write_certificates

_MOSQUITTO = """
listener {port} {host}
allow_anonymous true
user {user}
persistence true
persistence_location {folder}/
max_queued_messages 0
"""
_KAFKA = """
import sys, time
from confluent_kafka import Producer
owner = Producer({"test.mock.num.brokers": 1, "log_level": 0})
(broker,) = owner.list_topics(timeout=10).brokers.values()
print(broker.port, flush=True)
while True:
    time.sleep(60)
"""
"""The mock cluster of librdkafka, in a process of its own. It keeps nothing when it is killed."""

Serving = Callable[[], AbstractContextManager[Popen[bytes]]]


class Broker:
    def __init__(self, family: str, port: int, serving: Serving, ends_by: signal.Signals | None) -> None:
        """Make one that *serving* runs; *ends_by* ends it so that it keeps all it has confirmed. None: nothing does."""
        self.family, self.port = family, port
        self._serving, self._ends_by = serving, ends_by
        self._stack = ExitStack()
        self.process = self._stack.enter_context(serving())

    @property
    def url(self) -> str:
        return f"{self.family}://{HOST}:{self.port}"

    async def restart(self) -> bool:
        """End it, and start it again; tell whether it is one that survives that."""
        if self._ends_by is None:
            return False
        self.process.send_signal(self._ends_by)
        await asyncio.to_thread(self.process.wait)
        self._stack.close()
        self.process = await asyncio.to_thread(self._stack.enter_context, self._serving())
        return True

    async def stall(self, seconds: float) -> None:
        """Let it do nothing for a while, though its connections stay."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self._stack.close()


@contextmanager
def brokers(folder: Path, families: Sequence[str]) -> Iterator[list[Broker]]:
    with ExitStack() as stack:
        made: list[Broker] = []
        for family in families:
            here = folder / family
            here.mkdir()
            broker = _KINDS[family](stack, here)
            stack.callback(broker.close)
            made.append(broker)
        yield made


def _amqp(stack: ExitStack, folder: Path) -> Broker:
    write_certificates(trustme.CA(), folder)
    server, serving = stack.enter_context(rabbitmq.prepared(folder, folder))
    return Broker("amqp", server.port, serving, signal.SIGKILL)


def _nats(_: ExitStack, folder: Path) -> Broker:
    [port] = free_ports(1)
    command = [program("nats-server", "nats-server"), "-a", HOST, "-p", str(port), "-js", "-sd", str(folder)]
    return Broker("nats", port, partial(running, command, [port], folder / "log"), signal.SIGKILL)


def _mqtt(_: ExitStack, folder: Path) -> Broker:
    [port] = free_ports(1)
    user = "root" if os.getuid() == 0 else os.environ.get("USER", "nobody")
    (folder / "conf").write_text(_MOSQUITTO.format(port=port, host=HOST, folder=folder, user=user))
    command = [program("mosquitto", "mosquitto"), "-c", str(folder / "conf")]
    # Mosquitto writes what it has to its disk when it is told to end; killed, it forgets what it had confirmed.
    return Broker("mqtt", port, partial(running, command, [port], folder / "log"), signal.SIGTERM)


def _kafka(_: ExitStack, folder: Path) -> Broker:
    log = folder / "log"
    broker = Broker("kafka", 0, partial(running, [sys.executable, "-c", _KAFKA], [], log), None)
    while not log.read_text().strip():
        if broker.process.poll() is not None:
            raise RuntimeError("the cluster of Kafka has ended")
    broker.port = int(log.read_text().split()[0])
    return broker


_KINDS = {"amqp": _amqp, "kafka": _kafka, "mqtt": _mqtt, "nats": _nats}
FAMILIES = tuple(_KINDS)
HTTP = "http"
"""The way over the gateway, which has no broker."""
WAYS = (*FAMILIES, HTTP)
