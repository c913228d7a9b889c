"""What a gateway takes: events a second over HTTP, against a bare client, on one server by turns.

    python -m bench.gateway --events 2000 --rounds 5

Events are correlated, by as many keys as there are senders, so each goes to a mailbox by signal-with-start; the bare
client sends the same events to as many workflows by signal-with-start, too, which costs the server more than a signal.
No worker runs: it would compete for the processor.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from temporalio.client import Client

from swf_temporal.temporal.server import local_server
from tests.processes import ending_with_us

DEFINITION = """
id: orders
version: '1.0'
specVersion: '0.8'
start: Wait
events:
- {name: Placed, type: placed, source: shop, correlation: [{contextAttributeName: order}]}
- {name: Paid, type: paid, source: bank, correlation: [{contextAttributeName: order}]}
states:
- {name: Wait, type: event, onEvents: [{eventRefs: [Placed], eventDataFilter: {toStateData: .placed}}], transition: Pay}
- {name: Pay, type: event, onEvents: [{eventRefs: [Paid], eventDataFilter: {toStateData: .paid}}], end: true}
"""
SIGNALS, SINGLE, BATCHES = "signal-with-start of a bare client", "events, one a request", "events, in batches"

_NUMBERS = count(1)

Send = Callable[[int, str, int], Awaitable[None]]
"""Sends so many events, all with one key; the number tells which of the senders it is."""


def _event(key: str) -> dict[str, object]:
    return {
        "specversion": "1.0",
        "id": f"e-{next(_NUMBERS)}",
        "source": "shop",
        "type": "placed",
        "order": key,
        "data": {"item": "mouse", "amount": 38, "customer": {"name": "Ada", "city": "London"}},
    }


async def _signals(client: Client, key: str, events: int) -> None:
    for _ in range(events):
        await client.start_workflow(
            "bare", id=f"bare-{key}", task_queue="nobody", start_signal="event", start_signal_args=[_event(key)]
        )


class _Connection:
    """A connection to the gateway: requests one after the other, by the least that HTTP needs."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        self._reader, self._writer, self._host = reader, writer, host

    async def post(self, media: str, content: object) -> None:
        body = json.dumps(content).encode()
        head = (
            f"POST /events HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n"
        )
        self._writer.write(f"{head}\r\n".encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        lines = answer.decode().lower().split("\r\n")
        length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length:"))
        told = await self._reader.readexactly(length)
        assert " 202 " in lines[0], f"{lines[0]}\n{told.decode()}"

    def close(self) -> None:
        self._writer.close()


async def _events(url: str, key: str, events: int, batch: int) -> None:
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    connection = _Connection(reader, writer, where.netloc)
    for begin in range(0, events, batch):
        sent = [_event(key) for _ in range(min(batch, events - begin))]
        if batch == 1:
            await connection.post("application/cloudevents+json", sent[0])
        else:
            await connection.post("application/cloudevents-batch+json", sent)
    connection.close()


@asynccontextmanager
async def _gateway(address: str) -> AsyncIterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "orders.yaml").write_text(DEFINITION)
        command = [*ending_with_us(), sys.executable, "-m", "swf_temporal.cli", "gateway", folder]
        process = await asyncio.create_subprocess_exec(
            *command, "--port", "0", "--address", address, "--log-level", "warning", stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        try:
            yield (await process.stdout.readline()).decode().strip()
        finally:
            process.terminate()
            await process.wait()


async def _rate(send: Callable[[str, int], Awaitable[None]], events: int, senders: int) -> float:
    """Return how many events a second so many senders get rid of, each with a key of its own."""
    keys = [f"{next(_NUMBERS)}" for _ in range(senders)]
    begin = time.perf_counter()
    await asyncio.gather(*(send(key, events // senders) for key in keys))
    return events // senders * senders / (time.perf_counter() - begin)


async def measure(events: int, senders: int, batch: int, rounds: int) -> list[dict[str, float]]:
    """Return for each round how many events, and how many signals, a second were taken."""
    found = []
    async with (
        local_server(as_installed=True) as server,
        _gateway(server.client.service_client.config.target_host) as url,
    ):
        contenders: dict[str, Callable[[str, int], Awaitable[None]]] = {
            SIGNALS: lambda key, number: _signals(server.client, key, number),
            SINGLE: lambda key, number: _events(url, key, number, 1),
            BATCHES: lambda key, number: _events(url, key, number, batch),
        }
        for name, send in contenders.items():  # a first time, so that everything is warm
            print(name, f"{await _rate(send, senders * 4, senders):.0f}", file=sys.stderr)
        for turn in range(rounds):
            names = list(contenders) if turn % 2 == 0 else list(reversed(contenders))
            rates = {name: await _rate(contenders[name], events, senders) for name in names}
            found.append(rates)
    return found


def report(found: list[dict[str, float]]) -> str:
    """Return what was measured as a table, with the ratios of each round."""
    lines = ["| | a second, median | : a bare client |", "|---|---|---|"]
    for name in (SIGNALS, SINGLE, BATCHES):
        ratios = sorted(one[name] / one[SIGNALS] for one in found)
        spread = f"{median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
        lines.append(f"| {name} | {median(one[name] for one in found):.0f} | {spread} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.gateway", description=__doc__)
    parser.add_argument("--events", type=int, default=2000, help="how many are sent in each round, in each way")
    parser.add_argument("--senders", type=int, default=16, help="how many send them side by side")
    parser.add_argument("--batch", type=int, default=50, help="how many events a batch has")
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured")
    parser.add_argument("--json", action="store_true", help="print what was measured as JSON")
    given = parser.parse_args()
    found = asyncio.run(measure(given.events, given.senders, given.batch, given.rounds))
    print(json.dumps(found, indent=2) if given.json else report(found))


if __name__ == "__main__":
    main()
