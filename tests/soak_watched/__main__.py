"""Watch runs that work long, and kill their workers meanwhile: `python -m tests.soak_watched --kills 20`.

Two definitions, each served by `swf worker` and started by its type with the plain client: 4,000 states in a chain,
each with an expression of its own, and a switch of 60 slow conditions. Each instance is asked for its status and its
trace all the time while it runs, and its worker is killed once at a moment that is drawn; another takes over. Every
instance has to complete, its history to replay from every length that a worker was ever given, and every query to be
answered in the end. What came of it is printed; the exit code is 1 if an instance is stuck or wrong, or a query was
answered with anything but its answer.
"""

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final

from temporalio.client import Client, WorkflowHandle, WorkflowHistory, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.statuses import answer_of
from swf_temporal.temporal.workflow import Interpreter
from tests.processes import ending_with_us

_QUERIES: Final = ("status", "trace")
_NOT_NOW: Final = (RPCStatusCode.CANCELLED, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.FAILED_PRECONDITION)
"""What a query comes to while no worker is there to answer it, or none in time."""

_TRIES: Final = 3
_QUERY_TIMEOUT: Final = timedelta(seconds=60)
"""The time that a worker has to replay a whole run and to answer, on a busy machine."""


def chain(states: int) -> dict[str, Any]:
    ways: list[dict[str, Any]] = [{"transition": f"s{number + 1}"} for number in range(states - 1)]
    return {
        "id": "chain",
        "version": "1.0",
        "specVersion": "0.8",
        "start": "s0",
        "states": [
            {"name": f"s{number}", "type": "inject", "data": {"x": f"${{ [.x,{number}]|add }}"}, **way}
            for number, way in enumerate([*ways, {"end": True}])
        ],
    }


def conditions(count: int, least: int) -> dict[str, Any]:
    """Return a definition with a switch of so many conditions that none meets, each of which counts beyond *least*."""
    slow = [
        {"name": f"c{number}", "condition": f"${{ ([range({least + number})]|length) < 0 }}", "end": True}
        for number in range(count)
    ]
    switch = {"name": "choose", "type": "switch", "dataConditions": slow, "defaultCondition": {"end": True}}
    return {"id": "conditions", "version": "1.0", "specVersion": "0.8", "start": "choose", "states": [switch]}


@dataclass
class Figures:
    instances: int = 0
    killed: int = 0
    queries: int = 0
    late: int = 0
    """How many of them no worker answered in time."""
    unanswered: list[str] = field(default_factory=list)
    """Queries that came to anything else but their answer."""
    stuck: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    lengths: int = 0
    """Beginnings of histories that were replayed."""
    yields: int = 0
    """Timers in the histories."""

    @property
    def is_right(self) -> bool:
        return not (self.unanswered or self.stuck or self.wrong)


@dataclass(frozen=True, slots=True)
class Watch:
    client: Client
    address: str
    folder: Path
    id: str
    random: Random
    patience: float
    figures: Figures

    async def run(self, kills: int) -> None:
        usual = await self._one(None)
        for _ in range(kills):
            await self._one(self.random.uniform(0, usual))

    async def _one(self, kill_after: float | None) -> float:
        number, figures = self.figures.instances, self.figures
        queue = f"watched-{self.id}-{number}"
        figures.instances += 1
        first = self._worker(queue)
        workers = [first]
        try:
            await _serves(first)
            begun = monotonic()
            handle = await self.client.start_workflow(self.id, {"x": 0}, id=queue, task_queue=queue, result_type=dict)
            watching = asyncio.create_task(self._watch(handle))
            try:
                if kill_after is not None:
                    await asyncio.sleep(kill_after)
                    first.kill()
                    figures.killed += 1
                    workers.append(self._worker(queue))
                try:
                    await asyncio.wait_for(handle.result(), self.patience)
                except TimeoutError:
                    figures.stuck.append(f"{queue}, killed after {kill_after}")
                    return self.patience
                except Exception as error:  # noqa: BLE001 - whatever it is, it is told
                    figures.wrong.append(f"{queue}, killed after {kill_after}: {error!r}: {error.__cause__!r}")
                took = monotonic() - begun
            finally:
                watching.cancel()
                with suppress(asyncio.CancelledError):
                    await watching
            if workers[-1] is not first:  # the run may have ended before its worker was killed
                await _serves(workers[-1])
            for query in _QUERIES:
                # The SDK may lose a query of a run that it evicts for another one, so it is asked again.
                if not await self._is_answered(handle, query):
                    self.figures.unanswered.append(f"{queue} {query}: not in {_TRIES} tries")
            await self._replay(handle)
            return took
        finally:
            for worker in workers:
                worker.kill()
                await asyncio.to_thread(worker.communicate)

    def _worker(self, queue: str) -> "subprocess.Popen[bytes]":
        command = [*ending_with_us(), sys.executable, "-m", "tests.temporal.missed_soon", "worker", str(self.folder)]
        options = ["--address", self.address, "--task-queue", queue]
        return subprocess.Popen([*command, *options], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)

    async def _watch(self, handle: WorkflowHandle[Any, Any]) -> None:
        while True:
            for query in _QUERIES:
                await self._ask(handle, query)
            await asyncio.sleep(self.random.uniform(0, 0.5))

    async def _ask(self, handle: WorkflowHandle[Any, Any], query: str) -> bool:
        self.figures.queries += 1
        try:
            await answer_of(partial(handle.query, query, rpc_timeout=_QUERY_TIMEOUT))
        except (RPCError, WorkflowQueryFailedError) as error:
            status = error.status if isinstance(error, RPCError) else None
            if status in _NOT_NOW:
                self.figures.late += 1
            else:
                self.figures.unanswered.append(f"{handle.id} {query}, {status}: {error!r}")
            return False
        return True

    async def _is_answered(self, handle: WorkflowHandle[Any, Any], query: str) -> bool:
        for _ in range(_TRIES):
            if await self._ask(handle, query):
                return True
        return False

    async def _replay(self, handle: WorkflowHandle[Any, Any]) -> None:
        """Replay the history from every length that a worker was ever given."""
        events = json.loads((await handle.fetch_history()).to_json())["events"]
        replayer = Replayer(
            workflows=[Interpreter],
            unsandboxed_workflow_runner=UnsandboxedWorkflowRunner(),
            data_converter=CONVERTER,
            debug_mode=True,  # on a busy machine the two seconds that a step may take are soon over
        )
        started = [n for n, event in enumerate(events, 1) if event["eventType"] == "EVENT_TYPE_WORKFLOW_TASK_STARTED"]
        for length in {*self.random.sample(started, min(5, len(started))), len(events)}:
            history = WorkflowHistory.from_json(handle.id, {"events": events[:length]})
            outcome = await replayer.replay_workflow(history, raise_on_replay_failure=False)
            self.figures.lengths += 1
            if outcome.replay_failure is not None:
                self.figures.wrong.append(f"{handle.id}: {length} events do not replay: {outcome.replay_failure}")
        self.figures.yields += sum(event["eventType"] == "EVENT_TYPE_TIMER_STARTED" for event in events)


async def _serves(worker: "subprocess.Popen[bytes]") -> None:
    assert worker.stderr is not None
    if not await asyncio.to_thread(worker.stderr.readline):
        raise SystemExit("a worker did not start")


@contextmanager
def _folders(definitions: list[dict[str, Any]]) -> Iterator[dict[str, Path]]:
    with TemporaryDirectory(prefix="swf-watched-") as root:
        folders = {}
        for one in definitions:
            folder = folders[one["id"]] = Path(root, one["id"])
            folder.mkdir()
            (folder / "definition.json").write_text(json.dumps(one))
        yield folders


async def watch(kills: int, seed: int, states: int, slow: int, least: int, patience: float) -> dict[str, Figures]:
    found = {}
    with _folders([chain(states), conditions(slow, least)]) as folders:
        async with local_server() as server:
            address, watches = server.client.service_client.config.target_host, []
            for name, folder in folders.items():
                figures = found[name] = Figures()
                random = Random(f"{seed} {name}")  # noqa: S311 - no secret
                watches.append(Watch(server.client, address, folder, name, random, patience, figures))
            await asyncio.gather(*(one.run(kills) for one in watches))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soak_watched", description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20, help="how many workers are killed, for each definition")
    parser.add_argument("--seed", type=int, default=1, help="what the moments are drawn by")
    parser.add_argument("--states", type=int, default=4000, help="how many states the chain has")
    parser.add_argument("--conditions", type=int, default=60, help="how many conditions the switch has")
    parser.add_argument("--least", type=int, default=600_000, help="how far each condition counts at least")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds that an instance may take")
    given = parser.parse_args()
    begun = monotonic()
    found = asyncio.run(watch(given.kills, given.seed, given.states, given.conditions, given.least, given.patience))
    for name, one in found.items():
        sys.stdout.write(
            f"{name}: {one.instances} instances, {one.killed} workers killed, {len(one.stuck)} stuck, "
            f"{len(one.wrong)} wrong; {one.queries} queries, {one.late} late, {len(one.unanswered)} failed; "
            f"{one.lengths} beginnings of histories replayed; {one.yields} timers\n"
        )
        for what in (*one.stuck, *one.wrong, *one.unanswered):
            sys.stdout.write(f"  {what}\n")
    sys.stdout.write(f"{monotonic() - begun:.0f} s\n")
    sys.exit(not all(one.is_right for one in found.values()))


if __name__ == "__main__":
    main()
