"""`python -m bench.observing`: what metrics, traces and search attributes cost a worker, in processor time.

Workers do the same work in turn, against one server: one that is not observed, one with `--metrics`, one that exports
traces, to a collector that takes and drops them, and one with `--search-attributes`. What is told is the
median of the ratios within the rounds and, after a stroke, the ratio of the least that each has taken, which a busy
machine disturbs less; in the last row the ratio of the sums, for a worker that does one of each.
"""

import argparse
import asyncio
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from socket import socket
from statistics import median
from typing import Any, Final

from temporalio.client import Client

from bench.contender import MAX_LINE, end, line_of, service
from bench.ending import end_with_input
from bench.work import WORK, Work
from bench.worker import CPU, INTERPRETED, READY, worker_of
from swf_temporal.languages.loading import load
from swf_temporal.sdk.metrics import export_metrics
from swf_temporal.settings.values import Address
from swf_temporal.temporal.client import start
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.instance_part import OperatorOptions
from swf_temporal.temporal.search_attributes import needed_by, set_up
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.tracing import flush, tracing_interceptors

_PLAIN, _METRICS, _TRACES, _ATTRIBUTES = _NAMES = ("not observed", "metrics", "traces", "search attributes")
_ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
_AT_ONCE: Final = 5
"""How many workflows run at once, so that batches are larger than those of `bench`: each ends with an export, of which
there is one in five seconds or 512 spans otherwise."""
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class _Observed:
    """A worker, and the client that gives it work."""

    name: str
    client: Client
    process: asyncio.subprocess.Process
    service: str
    """The URL of what is called over HTTP."""

    async def cpu(self) -> float:
        assert self.process.stdin
        self.process.stdin.write(b"\n")
        return float((await line_of(self.process, CPU)).removeprefix(CPU))

    async def measure(self, work: Work) -> float:
        """Run a batch, and return the processor time that the worker has used for one workflow of it, in seconds."""
        definition, before = load(work.definition(self.service), name=work.name), await self.cpu()
        data, queue = work.data_for(self.service), f"{INTERPRETED}-{self.name}"

        async def run() -> None:
            id_ = f"observed-{next(_numbers)}"
            await (await start(self.client, [definition], data, workflow_id=id_, task_queue=queue)).result()

        for _ in range(work.batch):
            await asyncio.gather(*(run() for _ in range(_AT_ONCE)))
        return (await self.cpu() - before) / (work.batch * _AT_ONCE)


@asynccontextmanager
async def _observed(name: str, address: str, service: str) -> AsyncIterator[_Observed]:
    command = (sys.executable, "-m", "bench.observing", "--worker", name, "--address", address, "--service", service)
    pipe = asyncio.subprocess.PIPE
    with _traced_as(name):  # a trace begins with its client
        client = await Client.connect(address, data_converter=CONVERTER, interceptors=tracing_interceptors())
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=MAX_LINE)
    try:
        await line_of(process, READY)
        yield _Observed(name, client, process, service)
    finally:
        await end(process)


@contextmanager
def _traced_as(name: str) -> Iterator[None]:
    """Have the environment ask for traces only if *name* is the worker with traces."""
    kept = os.environ.pop(_ENDPOINT, None)
    if name == _TRACES and kept is not None:
        os.environ[_ENDPOINT] = kept
    try:
        yield
    finally:
        os.environ.update({} if kept is None else {_ENDPOINT: kept})


class _Collector(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Take what is sent, and drop it."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing."""


async def _work(name: str, address: str, service: str) -> None:
    """Be the worker *name* until the input ends; answer each line of it with the processor time that was used."""
    end_with_input()
    if name == _METRICS:
        with socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        export_metrics(Address("", port))
    client = await Client.connect(address, data_converter=CONVERTER, interceptors=tracing_interceptors())
    told = OperatorOptions(search_attributes=name == _ATTRIBUTES)
    async with worker_of(INTERPRETED, client, service, f"{INTERPRETED}-{name}", told=told):
        print(READY, flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            if name == _TRACES:
                await asyncio.to_thread(flush)
            print(CPU, time.process_time(), flush=True)
        os._exit(0)


async def _compare(rounds: int, seconds: float, works: list[Work]) -> None:
    collector = ThreadingHTTPServer(("127.0.0.1", 0), _Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    os.environ[_ENDPOINT] = f"http://127.0.0.1:{collector.server_port}"
    ends = time.perf_counter() + seconds
    observed = _NAMES[1:]
    print(f"| worker CPU, observed : not | {' | '.join(observed)} | not observed, ms | rounds |")
    print("|---|---|---|---|---|---|")
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(local_server(as_installed=True))
        await set_up(server.client, needed_by(()))
        address = server.client.service_client.config.target_host
        url = await stack.enter_async_context(service())
        workers = [await stack.enter_async_context(_observed(name, address, url)) for name in _NAMES]
        every: list[list[dict[str, float]]] = []
        for number, work in enumerate(works):
            until = time.perf_counter() + (ends - time.perf_counter()) / (len(works) - number)
            for one in workers:
                await one.measure(work)
            found: list[dict[str, float]] = []
            while len(found) < rounds and (not found or time.perf_counter() < until):
                turned = [*workers[len(found) % len(workers) :], *workers[: len(found) % len(workers)]]
                found.append({one.name: await one.measure(work) for one in turned})
            ratios = " | ".join(_ratio(found, name) for name in observed)
            plain = 1000 * median(each[_PLAIN] for each in found)
            print(f"| {work.title} | {ratios} | {plain:.1f} | {len(found)} |", flush=True)
            every.append(found)
        print(f"| one of each | {' | '.join(_ratio_of_sums(every, name) for name in observed)} | | |", flush=True)
    collector.shutdown()


def _ratio(rounds: list[dict[str, float]], name: str) -> str:
    middle = median(one[name] / one[_PLAIN] for one in rounds)
    least = min(one[name] for one in rounds) / min(one[_PLAIN] for one in rounds)
    return f"{middle:.2f} / {least:.2f}"


def _ratio_of_sums(every: list[list[dict[str, float]]], name: str) -> str:
    middle, least = (
        sum(of(one[name] for one in rounds) for rounds in every)
        / sum(of(one[_PLAIN] for one in rounds) for rounds in every)
        for of in (median, min)
    )
    return f"{middle:.2f} / {least:.2f}"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.observing", description=__doc__)
    names = [work.name for work in WORK]
    parser.add_argument("--rounds", type=int, default=100, help="how often everything is measured at most")
    parser.add_argument("--minutes", type=float, default=3, help="after which fewer rounds are measured (default: 3)")
    parser.add_argument("--only", choices=names, action="append", help="only this work")
    parser.add_argument("--worker", choices=_NAMES, help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    parser.add_argument("--service", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        asyncio.run(_work(given.worker, given.address, given.service))
        return
    wanted = given.only or ["none", "one", "sequence", "rest-1", "rest-10"]
    works = [work for work in WORK if work.name in wanted]
    asyncio.run(_compare(given.rounds, 60 * given.minutes, works))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # the SDK's threads do not always survive the end of the interpreter
