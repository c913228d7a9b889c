"""`python -m bench.local_calls`: calls over HTTP as local calls, against activities written by hand.

The calls are made in sequence or, with `--foreach`, side by side.

Three contenders make the same calls in turn, against one server: the interpreter with local calls, and workflows that
are written by hand, with regular and with local activities, both outside of the sandbox. What is told of each is the
median of the rounds, for one workflow: processor time of worker and server, time on the clock, and events.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

from bench.contender import Contender, contender, service
from bench.server_cpu import pid_of, used
from bench.work import ACTIVITIES, WORK, Work
from bench.worker import INTERPRETED, UNSANDBOXED
from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.server import local_server

_LOCAL, _REGULAR, _LOCAL_BY_HAND = _NAMES = ("local calls", "regular by hand", "local by hand")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one workflow of a batch took: milliseconds, and events."""

    worker: float
    server: float
    wall: float
    events: int

    @property
    def cpu(self) -> float:
        """Of worker and server together."""
        return self.worker + self.server


@dataclass(frozen=True, slots=True)
class Measured:
    """One contender: who does the work, and what it takes."""

    contender: Contender
    work: Work
    server: Server
    server_pid: int

    async def measure(self) -> Cost:
        """Run a batch, one workflow after the other."""
        server, worker, wall = used(self.server_pid), await self.contender.cpu(), time.perf_counter()
        for _ in range(self.work.batch):
            await self.contender.run(self.work)
        wall, worker = time.perf_counter() - wall, await self.contender.cpu() - worker
        server = used(self.server_pid) - server
        each = 1000 / self.work.batch
        return Cost(worker * each, server * each, wall * each, await self._events())

    async def _events(self) -> int:
        handle = self.server.client.get_workflow_handle(self.contender.latest)
        return len((await handle.fetch_history()).events)


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.local_calls", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7, help="how often everything is measured")
    parser.add_argument("--calls", type=int, default=ACTIVITIES, help="how many calls a workflow makes")
    parser.add_argument("--batch", type=int, default=30, help="how many workflows one measurement has")
    parser.add_argument("--foreach", action="store_true", help="make the calls side by side, one for each item")
    parser.add_argument("--bytes", type=int, default=0, help="how large the answers are")
    parser.add_argument("--seconds", type=float, default=0, help="how long the service takes for an answer")
    parser.add_argument("--json", action="store_true", help="print what was measured as JSON")
    given = parser.parse_args()
    slow = ["--bytes", str(given.bytes), "--seconds", str(given.seconds)]
    rounds = asyncio.run(measure(given.calls, given.rounds, given.batch, *slow, is_foreach=given.foreach))
    if given.json:
        print(json.dumps([{name: asdict(cost) for name, cost in one.items()} for one in rounds], indent=2))
    else:
        print(table(rounds))


async def measure(
    calls: int, rounds: int, batch: int, *of_service: str, is_foreach: bool = False
) -> list[dict[str, Cost]]:
    """Return, for each round, what each contender took; who begins changes from round to round."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(local_server(as_installed=True))
        url = await stack.enter_async_context(service(*of_service))
        first, second = [
            await stack.enter_async_context(contender(name, server.client, url)) for name in (INTERPRETED, UNSANDBOXED)
        ]
        name, data = ("rest", {"numbers": list(range(calls))}) if is_foreach else ("rest-10", {"calls": calls})
        [work] = [replace(one, batch=batch, data={**one.data, **data}) for one in WORK if one.name == name]
        states = work.states() if is_foreach else _calling(calls)
        local = replace(work, name=f"local-{calls}", states=lambda: states, metadata={"local": True})
        pid, by_hand = pid_of(server), "rest-locally" if is_foreach else "asks-locally"
        ways = {
            _LOCAL: Measured(first, local, server, pid),
            _REGULAR: Measured(second, work, server, pid),
            _LOCAL_BY_HAND: Measured(second, replace(work, by_hand=by_hand), server, pid),
        }
        outputs = [await way.contender.run(way.work) for way in ways.values()]
        assert all(output == outputs[0] for output in outputs), "the contenders disagree"
        for way in ways.values():
            await way.measure()  # all are warm
        return [await _round(ways, number) for number in range(rounds)]


async def _round(ways: dict[str, Measured], number: int) -> dict[str, Cost]:
    first = number % len(_NAMES)
    return {name: await ways[name].measure() for name in (*_NAMES[first:], *_NAMES[:first])}


def _calling(calls: int) -> list[dict[str, Any]]:
    action = {"functionRef": {"refName": "ask", "arguments": {"number": "${ .number }"}}}
    actions = [{"name": f"answer {number}", **action} for number in range(calls)]
    return [{"name": "Answer", "type": "operation", "actions": actions, "end": True}]


def table(rounds: Sequence[dict[str, Cost]]) -> str:
    """Return the medians of all rounds, and the ratios of local calls to what is written by hand."""
    measures = ("worker", "server", "wall", "events")
    lines = [
        "| of one workflow, median | worker CPU, ms | server CPU, ms | wall, ms | events |",
        "|---|---|---|---|---|",
    ]
    for name in _NAMES:
        figures = [median(getattr(one[name], measure) for one in rounds) for measure in measures]
        lines.append(f"| {name} | {' | '.join(f'{figure:.1f}' for figure in figures[:3])} | {figures[3]:.0f} |")
    lines += ["", "| local calls : by hand | worker CPU | worker + server CPU | wall |", "|---|---|---|---|"]
    for rival in (_REGULAR, _LOCAL_BY_HAND):
        ratios = [
            median(getattr(one[_LOCAL], measure) / getattr(one[rival], measure) for one in rounds)
            for measure in ("worker", "cpu", "wall")
        ]
        lines.append(f"| : {rival} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
