"""`python -m bench.signals`: one instance takes events as fast as the server gives them.

An instance that is kept active counts the numbers that events bring; a workflow written by hand does the same. Several
senders send the events, each of them one after the other. A first attempt goes straight to the server, since the SDK's
client tries again by itself what the server puts off; what it puts off is counted, and then left to the client. What
the client gives up is refused, which is counted, and then sent again. Some events are sent twice, which must make no
difference.

The server puts off whatever is sent to a workflow that has tried to close and found new events, until it has closed.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError

from bench.contender import Contender, contender
from bench.sending import by_signal, by_update, sent
from bench.worker import INTERPRETED, UNSANDBOXED
from swf_temporal.languages.loading import load
from swf_temporal.temporal.client import start
from swf_temporal.temporal.server import local_server

TYPE, SOURCE = "com.example.number", "/bench"
_NOTHING = {"count": 0, "sum": 0, "squares": 0}
_ALSO_TWICE = 100
"""Every event whose number can be divided by this is sent twice."""
_PAUSE = 0.05
"""Seconds before it is asked again how much was counted."""
_STOPS_EVERY = 4
_PATIENCE = 120
"""Seconds without progress after which events count as lost."""


@dataclass(slots=True)
class Outcome:
    """What became of the events that one contender was sent."""

    sent: int
    seconds: float = 0.0
    """From the first event sent to the last one counted."""
    cpu: float = 0.0
    """Processor time of the worker, in seconds."""
    memory: int = 0
    """The most memory that the worker's process had resident so far, in MiB."""
    put_off: Counter[str] = field(default_factory=Counter)
    """How many events the server did not take at the first attempt, by what it said."""
    refused: Counter[str] = field(default_factory=Counter)
    """How many events the client gave up, so that the sender had to send them again, by what it was told."""
    unexpected: int = 0
    """How many more or fewer events were counted than sent."""
    is_right: bool = False
    """Whether sum and sum of squares are those of the numbers sent: none is lost for another that is taken twice."""
    histories: list[int] = field(default_factory=list)
    """How many events the history of each execution has."""
    failed_tasks: Counter[str] = field(default_factory=Counter)
    """Workflow tasks that failed, by their cause."""

    def to_json(self) -> dict[str, Any]:
        """Return all that was measured, with times in seconds and memory in MiB."""
        counted = {"putOff": self.put_off, "refused": self.refused, "failedTasks": self.failed_tasks}
        return {
            "sent": self.sent,
            "lost": self.lost,
            "twice": self.twice,
            "seconds": self.seconds,
            "cpu": self.cpu,
            "memory": self.memory,
            "histories": self.histories,
            **{name: dict(counts) for name, counts in counted.items()},
        }

    @property
    def lost(self) -> int:
        """How many events were not counted, at least."""
        return max(0, -self.unexpected) or int(not self.is_right and not self.unexpected)

    @property
    def twice(self) -> int:
        """How many events were counted twice, at least."""
        return max(0, self.unexpected) or int(not self.is_right and not self.unexpected)


class Kind(StrEnum):
    """What an instance does with the events that it is sent."""

    COUNTS = "counts"
    """It counts the numbers in them."""
    CALLS = "calls"
    """It calls a function with each number, and counts it then: events come while it waits for the answer."""
    KEEPS = "keeps"
    """It waits for events of another kind, and keeps these."""


def definition(kind: Kind) -> dict[str, Any]:
    """Return the definition of an instance of that kind."""
    call = {"functionRef": {"refName": "answer", "arguments": {"number": "${ .n }"}}}
    counted = "${ {count: (.count + 1), sum: (.sum + .n), squares: (.squares + .n * .n)} }"
    awaited: dict[str, Any] = {"eventRefs": ["Other" if kind is Kind.KEEPS else "Number"]}
    if kind is Kind.CALLS:
        awaited |= {"actions": [{**call, "actionDataFilter": {"useResults": False}}]}
    return {
        "id": "counting",
        "name": "Counting",
        "version": "1.0.0",
        "specVersion": "0.8",
        "keepActive": True,
        "functions": [{"name": "answer", "type": "custom", "operation": "answer"}],
        "events": [
            {"name": "Number", "type": TYPE, "source": SOURCE},
            {"name": "Other", "type": "com.example.other", "source": SOURCE},
        ],
        "states": [
            {
                "name": "Count",
                "type": "event",
                "onEvents": [awaited],
                "stateDataFilter": {"output": counted},
                "end": True,
            }
        ],
    }


@dataclass(frozen=True, slots=True)
class Stream:
    """The events that each contender is sent."""

    number: int
    senders: int
    rate: float = 0
    """How many a second; as many as the server takes if 0."""
    kind: Kind = Kind.COUNTS
    updates: bool = False
    """Whether they are sent by the update `deliver`."""
    stops: float = 0
    """For how many seconds the worker stands still every four: its machine is busy with something else."""


async def measure(one: Contender, client: Client, stream: Stream) -> Outcome:
    """Send so many events to an instance of *one*, and see what becomes of them."""
    workflow_id, number, outcome = f"counting-{one.name}-{uuid4()}", stream.number, Outcome(stream.number)
    handle = await _started(one, client, workflow_id, stream.kind)
    send = by_update(client) if stream.updates else by_signal(client)
    cpu, begun = await one.cpu(), time.perf_counter()
    numbers = iter(range(1, number + 1))

    async def sender() -> None:
        for n in numbers:
            if stream.rate:
                await asyncio.sleep(begun + n / stream.rate - time.perf_counter())
            event = {"specversion": "1.0", "id": str(n), "source": SOURCE, "type": TYPE, "data": {"n": n}}
            for _ in range(2 if n % _ALSO_TWICE == 0 else 1):
                await sent(send, workflow_id, event, outcome)

    async with _standing_still(one.pid, stream.stops):
        await asyncio.gather(*(sender() for _ in range(stream.senders)))
        data = await _counted(handle, number, stream.kind)
    outcome.seconds, outcome.cpu = time.perf_counter() - begun, await one.cpu() - cpu
    outcome.memory = _memory(one.pid)
    outcome.unexpected = data["count"] - number
    sums = (number * (number + 1) // 2, number * (number + 1) * (2 * number + 1) // 6)
    outcome.is_right = stream.kind is Kind.KEEPS or (data["sum"], data["squares"]) == sums
    async for each in _executions(client, workflow_id):
        history = await each.fetch_history()
        outcome.histories.append(len(history.events))
        failed = (e.workflow_task_failed_event_attributes for e in history.events if e.event_type == _FAILED)
        outcome.failed_tasks.update(str(one.cause) for one in failed)
    await handle.terminate()
    return outcome


_FAILED = EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED


@asynccontextmanager
async def _standing_still(pid: int, seconds: float) -> AsyncIterator[None]:
    """Stop a process for so many seconds every four, as long as the context lasts; never if that is 0."""

    async def stop() -> None:
        while True:
            await asyncio.sleep(_STOPS_EVERY)
            os.kill(pid, signal.SIGSTOP)
            try:
                await asyncio.sleep(seconds)
            finally:
                os.kill(pid, signal.SIGCONT)

    stopping = asyncio.ensure_future(stop() if seconds else asyncio.sleep(0))
    try:
        yield
    finally:
        stopping.cancel()
        await asyncio.wait([stopping])


async def _started(one: Contender, client: Client, workflow_id: str, kind: Kind) -> WorkflowHandle[Any, Any]:
    if one.name == INTERPRETED:
        counting = load(definition(kind), name="counting")
        await start(client, [counting], dict(_NOTHING), workflow_id=workflow_id, task_queue=one.name)
    else:
        await client.start_workflow("counting", {"data": _NOTHING, "kind": kind}, id=workflow_id, task_queue=one.name)
    return client.get_workflow_handle(workflow_id)  # of whatever execution is the latest


async def _counted(handle: WorkflowHandle[Any, Any], number: int, kind: Kind) -> dict[str, Any]:
    """Return what the instance has counted once that is so many, or as soon as it counts no more."""
    data, changed = dict(_NOTHING), time.monotonic()
    while data["count"] < number and time.monotonic() - changed < _PATIENCE:
        try:
            if kind is Kind.KEEPS:
                got = {"count": len((await handle.query("status"))["kept"])}
            else:
                got = await handle.query("data")
        except RPCError:
            await asyncio.sleep(1)
            continue
        if got["count"] != data["count"]:
            data, changed = got, time.monotonic()
        await asyncio.sleep(_PAUSE)
    return data


async def _executions(client: Client, workflow_id: str) -> AsyncIterator[WorkflowHandle[Any, Any]]:
    """Yield the executions of an instance, the latest first."""
    run_id: str | None = (await client.get_workflow_handle(workflow_id).describe()).run_id
    while run_id:
        handle = client.get_workflow_handle(workflow_id, run_id=run_id)
        yield handle
        async for event in handle.fetch_history_events():
            run_id = event.workflow_execution_started_event_attributes.continued_execution_run_id
            break


def _memory(pid: int) -> int:
    """Return the largest resident size of a process so far, in MiB; 0 where the system does not say."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) // 1024


async def compare(stream: Stream, rounds: int) -> list[dict[str, Outcome]]:
    """Measure both contenders in so many rounds, by turns, with workers that are new in each."""
    found = []
    for turn in range(rounds):
        order = [INTERPRETED, UNSANDBOXED] if turn % 2 == 0 else [UNSANDBOXED, INTERPRETED]
        outcomes = {}
        for name in order:
            async with AsyncExitStack() as stack:
                server = await stack.enter_async_context(local_server(as_installed=True))
                one = await stack.enter_async_context(contender(name, server.client, ""))
                outcomes[name] = await measure(one, server.client, stream)
        found.append(outcomes)
    return found


def report(found: list[dict[str, Outcome]]) -> str:
    """Return what was measured as tables."""
    head = "sent, put off, refused, lost, taken twice, executions, longest history, failed tasks, CPU s, events/s, MiB"
    names = head.split(", ")
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for one in found:
        for name, got in one.items():
            cells = [got.sent, got.put_off.total(), got.refused.total(), got.lost, got.twice]
            cells += [len(got.histories), max(got.histories), got.failed_tasks.total()]
            rates = [f"{got.cpu:.1f}", f"{got.sent / got.seconds:.0f}", str(got.memory)]
            lines.append(f"| {name} | {' | '.join([*map(str, cells), *rates])} |")
    cpu = sorted(one[INTERPRETED].cpu / one[UNSANDBOXED].cpu for one in found)
    speed = sorted(one[UNSANDBOXED].seconds / one[INTERPRETED].seconds for one in found)
    lines += ["", f"worker CPU, interpreted : by hand  {_spread(cpu)}", f"events a second            {_spread(speed)}"]
    for one in found:
        for name, got in one.items():
            lines += [f"{name}: put off {count} times: {answer}" for answer, count in got.put_off.most_common()]
            lines += [f"{name}: refused {count} times: {answer}" for answer, count in got.refused.most_common()]
            lines += [f"{name}: workflow tasks failed: {cause}: {count}" for cause, count in got.failed_tasks.items()]
    return "\n".join(lines)


def _spread(ratios: list[float]) -> str:
    return f"{median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"


def main() -> None:
    """Measure, and print what became of the events."""
    parser = argparse.ArgumentParser(prog="python -m bench.signals", description=__doc__)
    parser.add_argument("--events", type=int, default=50_000, help="how many events are sent to each contender")
    parser.add_argument("--senders", type=int, default=16, help="how many send them side by side")
    parser.add_argument("--rounds", type=int, default=1, help="how often everything is measured")
    parser.add_argument("--rate", type=float, default=0, help="events a second; as fast as the server takes them if 0")
    parser.add_argument("--kind", type=Kind, choices=list(Kind), default=Kind.COUNTS, help="what the instance does")
    parser.add_argument("--updates", action="store_true", help="send them by the update `deliver`")
    parser.add_argument("--stops", type=float, default=0, help="seconds for which the worker stands still every four")
    parser.add_argument("--json", action="store_true", help="print what was measured as JSON")
    given = parser.parse_args()
    stream = Stream(given.events, given.senders, given.rate, given.kind, given.updates, given.stops)
    found = asyncio.run(compare(stream, given.rounds))
    if given.json:
        print(json.dumps([{name: got.to_json() for name, got in one.items()} for one in found], indent=2))
    else:
        print(report(found))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
