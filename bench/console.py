"""`python -m bench.console`: how long pages of the console take, from a gateway with a worker and a server beside it.

The list of many instances, the overview, and one instance that many things have happened in: its page, and the pictures
that the page then asks for; beside a bare page, for which the server is not asked anything. Each is asked for again and
again, one after the other, as by one person. The aims are 1 s for a list, and 1.5 s for the page of an instance with
2,000 entries in its trace. With `--live NUMBER`, as many people then look at lists, which refresh themselves: half of
them at the same one, the others with filters of their own.
"""

import argparse
import asyncio
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import httpx
from temporalio.client import Client

from swf_temporal.base.client_errors import NoAnswerError
from swf_temporal.languages.loading import load
from swf_temporal.temporal.client import query, start
from swf_temporal.temporal.server import local_server
from tests.processes import ending_with_us

DEFINITION = """\
id: batch
version: '1.0'
specVersion: '0.8'
functions: [{name: work, type: custom, operation: work}]
events: [{name: Go, type: go, source: bench}]
states:
- name: Each
  type: foreach
  inputCollection: '${ [range(.number)] }'
  iterationParam: one
  batchSize: 50
  actions: [{functionRef: {refName: work, arguments: {one: '${ .one }'}}}]
  transition: Wait
- {name: Wait, type: event, onEvents: [{eventRefs: [Go]}], end: true}
"""
FUNCTIONS = """\
from swf_temporal import Registry

registry = Registry()


@registry.custom("work")
def work(one):
    return {"item": one, "customer": {"name": "Ada", "city": "London"}}
"""
BARE, LIST, FOUND, MANY, OVERVIEW = "a bare page", "the list", "a filtered list", "an action on many", "the overview"
PAGES, INSTANCE, PICTURES = "all pages of the list", "an instance", "its pictures"
AIMS = {BARE: None, LIST: 1.0, FOUND: 1.0, MANY: 1.0, OVERVIEW: 1.0, PAGES: None, INSTANCE: 1.5, PICTURES: None}
"""Seconds in which a page is to be there."""

_INSTANCE = re.compile(r'href="/console/instances/([^"?]+)">')
_OLDER = re.compile(r'rel="next" href="([^"]+)"')
_QUEUE = "bench"
_AT_ONCE = 20
_OTHERS = 5
"""The entries of a trace besides the two of each call, until the instance waits."""
_PATIENCE = 900
_WATCHED = 20.0
"""Seconds for which live pages are open."""


@asynccontextmanager
async def _beside(*arguments: str, folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a command of ours beside the measurement."""
    command = [*ending_with_us(), sys.executable, "-m", "swf_temporal.cli", *arguments, "--log-level", "warning"]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, cwd=folder)
    try:
        yield process
    finally:
        process.terminate()
        await process.wait()


async def _begin(client: Client, instances: int, entries: int) -> int:
    """Begin the instances, the one that is looked at among them; return how many entries its trace has."""
    definition = load(DEFINITION)
    data = {"number": (entries - _OTHERS) // 2}
    await start(client, [definition], data, workflow_id="looked-at", task_queue=_QUEUE)
    left = iter(range(instances - 1))

    async def begin() -> None:
        for number in left:
            await start(client, [definition], {"number": 0}, workflow_id=f"batch-{number:04}", task_queue="nobody")

    await asyncio.gather(*(begin() for _ in range(_AT_ONCE)))
    async with asyncio.timeout(_PATIENCE):
        while not (await _waits(client) and await _listed(client) >= instances):  # noqa: ASYNC110 - other processes
            await asyncio.sleep(0.1)
    return len(await query(client, "looked-at", "trace"))


async def _waits(client: Client) -> bool:
    try:
        return bool((await query(client, "looked-at", "status"))["awaiting"])
    except NoAnswerError:  # the worker is about to start
        return False


async def _listed(client: Client) -> int:
    """Return how many runs there are: an instance that has continued as new has several."""
    return (await client.count_workflows("WorkflowType = 'batch'")).count


@dataclass
class Measured:
    """What was measured."""

    entries: int = 0
    """How many entries the trace has that is looked at."""
    times: dict[str, list[float]] = field(default_factory=dict)
    """The seconds that each page took, each time."""
    sizes: dict[str, int] = field(default_factory=dict)
    """The bytes of each page."""
    live: str = ""
    """What live pages cost, if there were any."""


async def measure(instances: int, entries: int, rounds: int, live: int) -> Measured:
    """Serve the console, and measure its pages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "batch.yaml").write_text(DEFINITION)
        (folder / "functions.py").write_text(FUNCTIONS)
        async with local_server(as_installed=True) as server:
            there = ("--address", server.client.service_client.config.target_host, "--task-queue", _QUEUE)
            worker = ("worker", "batch.yaml", "--functions", "functions.py", *there)
            served = ("gateway", "batch.yaml", "--console", "--port", "0", *there)
            async with _beside(*worker, folder=folder), _beside(*served, folder=folder) as gateway:
                found = await _begin(server.client, instances, entries)
                assert gateway.stdout is not None
                url = (await gateway.stdout.readline()).decode().strip()
                measured = Measured(max(found, entries))  # of all its runs together
                await _time(url, instances, rounds, measured)
                if live:
                    measured.live = await _live(url, live, gateway.pid)
                return measured


async def _live(url: str, number: int, gateway: int) -> str:
    """Return what it costs the gateway that so many lists refresh themselves, for people to read."""
    limits = httpx.Limits(max_connections=number + 1)
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=_PATIENCE, limits=limits) as client:

        async def look(one: int, seen: asyncio.Event) -> None:
            filters = {} if one % 2 else {"q": f"batch-{one:03}"}
            async with client.stream("GET", "/console/lists/stream", params=filters) as answer:
                assert answer.is_success, await answer.aread()
                async for line in answer.aiter_lines():
                    if line.startswith("data: "):
                        seen.set()

        before = _memory_of(gateway)
        all_seen = [asyncio.Event() for _ in range(number)]
        watching = [asyncio.create_task(look(one, seen)) for one, seen in enumerate(all_seen)]
        try:
            async with asyncio.timeout(_PATIENCE):
                for seen in all_seen:
                    await seen.wait()
            begun, used = time.perf_counter(), _seconds_of(gateway)
            await asyncio.sleep(_WATCHED)
            share = (_seconds_of(gateway) - used) / (time.perf_counter() - begun)
            grown = (_memory_of(gateway) - before) / 1024
        finally:
            for one in watching:
                one.cancel()
            await asyncio.wait(watching)
    return f"{number} live lists: {share:.0%} of a core, {grown:.0f} MiB more memory"


def _seconds_of(pid: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory_of(pid: int) -> int:
    """Return the memory of a process in KiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


async def _time(url: str, instances: int, rounds: int, measured: Measured) -> None:
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client:
        visited = ""

        async def shown(path: str, text: str, status: int = 200) -> str:
            answer = await client.get(path)
            assert answer.status_code == status, answer.text
            assert text in answer.text, answer.text
            measured.sizes[visited] = len(answer.content)
            return answer.text

        async def every_page() -> None:
            found, path = set[str](), "/console/instances"
            while path:
                page = await shown(path, "<h1>Instances")
                found.update(_INSTANCE.findall(page))
                older = _OLDER.search(page)
                path = "" if older is None else html.unescape(older[1])
            assert len(found) == instances, found

        visits: dict[str, Callable[[], Awaitable[object]]] = {
            BARE: lambda: shown("/console/nothing", "There is no", 404),
            LIST: lambda: shown("/console/instances", "<h1>Instances"),
            FOUND: lambda: shown("/console/instances?q=batch-00&status=running&started=1d", "batch-00"),
            MANY: lambda: shown("/console/changes/cancel?all=1", "<h1>Cancel"),
            OVERVIEW: lambda: shown("/console/overview", "<h1>Overview"),
            PAGES: every_page,
            INSTANCE: lambda: shown("/console/instances/looked-at", "event awaited"),
            PICTURES: lambda: shown("/console/instances/looked-at/pictures", "<svg"),
        }
        times = measured.times = {name: [] for name in visits}
        for turn in range(rounds + 1):
            for visited, visit in visits.items():
                begin = time.perf_counter()
                await visit()
                if turn:  # the first time is for warming up
                    times[visited].append(time.perf_counter() - begin)


def table(instances: int, measured: Measured) -> str:
    """Return what was measured as a table."""
    about = {LIST: f" of {instances:,} instances", INSTANCE: f" with {measured.entries:,} entries in its trace"}
    lines = ["| page | median, s | longest, s | aim, s | KiB |", "|---|---|---|---|---|"]
    for name, those in measured.times.items():
        aim, size = AIMS[name], measured.sizes[name] / 1024
        last = f"{'' if aim is None else aim} | {size:.0f}"
        lines.append(f"| {name}{about.get(name, '')} | {median(those):.3f} | {max(those):.3f} | {last} |")
    return "\n".join([*lines, measured.live] if measured.live else lines)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.console", description=__doc__.partition("\n")[0])
    parser.add_argument("--instances", type=int, default=1000, help="how many there are")
    parser.add_argument("--entries", type=int, default=2000, help="how many entries the trace has, at most")
    parser.add_argument("--rounds", type=int, default=9, help="how often each page is asked for")
    parser.add_argument("--json", action="store_true", help="print every time, in seconds, as JSON")
    parser.add_argument("--live", type=int, default=0, help="how many people look at lists that refresh themselves")
    given = parser.parse_args()
    measured = asyncio.run(measure(given.instances, given.entries, given.rounds, given.live))
    print(json.dumps(measured.times, indent=2) if given.json else table(given.instances, measured))


if __name__ == "__main__":
    main()
