"""`python -m bench.console`: how long pages of the console take, from a gateway with a worker and a server beside it.

The list of many instances, and one instance that many things have happened in: its page, and the pictures that the page
then asks for. Each is asked for again and again, one after the other, as by one person. The aims are 1 s for the list
of 1,000 instances, and 1.5 s for the page of an instance with 2,000 entries in its trace.
"""

import argparse
import asyncio
import html
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
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
LIST, PAGES, INSTANCE, PICTURES = "the list", "all pages of it", "an instance", "its pictures"
AIMS = {LIST: 1.0, PAGES: None, INSTANCE: 1.5, PICTURES: None}
"""Seconds in which a page is to be there."""

_INSTANCE = re.compile(r'href="/console/instances/([^"?]+)">')
_OLDER = re.compile(r'rel="next" href="([^"]+)"')
_QUEUE = "bench"
_OTHERS = 5
"""The entries of a trace besides the two of each call, until the instance waits."""
_PATIENCE = 300


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
    for number in range(instances - 1):
        await start(client, [definition], {"number": 0}, workflow_id=f"batch-{number:04}", task_queue="nobody")
    async with asyncio.timeout(_PATIENCE):
        while not (await _waits(client) and await _listed(client) == instances):  # noqa: ASYNC110 - other processes
            await asyncio.sleep(0.1)
    return len(await query(client, "looked-at", "trace"))


async def _waits(client: Client) -> bool:
    try:
        return bool((await query(client, "looked-at", "status"))["awaiting"])
    except NoAnswerError:  # the worker is about to start
        return False


async def _listed(client: Client) -> int:
    return (await client.count_workflows("WorkflowType = 'batch'")).count


async def measure(instances: int, entries: int, rounds: int) -> tuple[int, dict[str, list[float]]]:
    """Return how many entries the trace has that is looked at, and the seconds that each page took, each time."""
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
                return found, await _times(url, instances, rounds)


async def _times(url: str, instances: int, rounds: int) -> dict[str, list[float]]:
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client:

        async def shown(path: str, text: str) -> str:
            answer = await client.get(path)
            assert answer.is_success, answer.text
            assert text in answer.text, answer.text
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
            LIST: lambda: shown("/console/instances", "<h1>Instances"),
            PAGES: every_page,
            INSTANCE: lambda: shown("/console/instances/looked-at", "event awaited"),
            PICTURES: lambda: shown("/console/instances/looked-at/pictures", "<svg"),
        }
        times: dict[str, list[float]] = {name: [] for name in visits}
        for turn in range(rounds + 1):
            for name, visit in visits.items():
                begin = time.perf_counter()
                await visit()
                if turn:  # the first time is for warming up
                    times[name].append(time.perf_counter() - begin)
    return times


def table(instances: int, entries: int, times: dict[str, list[float]]) -> str:
    """Return what was measured as a table."""
    about = {LIST: f" of {instances:,} instances", INSTANCE: f" with {entries:,} entries in its trace"}
    lines = ["| page | median, s | longest, s | aim, s |", "|---|---|---|---|"]
    for name, those in times.items():
        aim = AIMS[name]
        lines.append(
            f"| {name}{about.get(name, '')} | {median(those):.2f} | {max(those):.2f} | {'' if aim is None else aim} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.console", description=__doc__.partition("\n")[0])
    parser.add_argument("--instances", type=int, default=1000, help="how many there are")
    parser.add_argument("--entries", type=int, default=2000, help="how many entries the trace has, at most")
    parser.add_argument("--rounds", type=int, default=9, help="how often each page is asked for")
    parser.add_argument("--json", action="store_true", help="print every time, in seconds, as JSON")
    given = parser.parse_args()
    entries, times = asyncio.run(measure(given.instances, given.entries, given.rounds))
    print(json.dumps(times, indent=2) if given.json else table(given.instances, entries, times))


if __name__ == "__main__":
    main()
