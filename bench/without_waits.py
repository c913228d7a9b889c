"""`python -m bench.without_waits`: runs that work long and wait for nothing, on a server as it is installed."""

import argparse
import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Final

from bench.contender import Contender, contender
from bench.work import Work
from bench.worker import INTERPRETED
from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.server import local_server


@dataclass(frozen=True, slots=True)
class Cost:
    """What one workflow took: seconds, and the events of all of its executions."""

    wall: float
    cpu: float
    """Of its worker."""
    events: int


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.without_waits", description=__doc__.partition(": ")[2])
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured, in turn")
    parser.add_argument("--only", choices=[work.name for work in WORKS], action="append", help="only this work")
    parser.add_argument("--json", action="store_true", help="print what was measured as JSON")
    given = parser.parse_args()
    works = [work for work in WORKS if given.only is None or work.name in given.only]
    rounds = asyncio.run(measure(works, given.rounds))
    if given.json:
        print(json.dumps({name: [asdict(one) for one in costs] for name, costs in rounds.items()}, indent=2))
        return
    print("| work | wall, s | worker's CPU, s | wall : CPU | events |\n|---|---|---|---|---|")
    for work in works:
        costs = rounds[work.name]
        wall, cpu, events = (median(getattr(one, what) for one in costs) for what in ("wall", "cpu", "events"))
        ratio = median(one.wall / one.cpu for one in costs)
        print(f"| {work.title} | {wall:.2f} | {cpu:.2f} | {ratio:.2f} | {events:.0f} |")


async def measure(works: list[Work], rounds: int) -> dict[str, list[Cost]]:
    """Return what each of *works* took in each round."""
    costs: dict[str, list[Cost]] = {work.name: [] for work in works}
    async with local_server(as_installed=True) as server, contender(INTERPRETED, server.client, "") as worker:
        for _ in range(rounds):
            for work in works:
                costs[work.name].append(await _measured(server, worker, work))
    return costs


async def _measured(server: Server, worker: Contender, work: Work) -> Cost:
    cpu, wall = await worker.cpu(), time.perf_counter()
    await worker.run(work)
    wall, cpu = time.perf_counter() - wall, await worker.cpu() - cpu
    return Cost(wall, cpu, await _events(server, worker.latest))


async def _events(server: Server, workflow_id: str) -> int:
    """Return how many events all executions of the workflow have."""
    count, run_id = 0, ""
    while True:
        handle = server.client.get_workflow_handle(workflow_id, run_id=run_id or None)
        events = (await handle.fetch_history()).events
        count += len(events)
        run_id = events[0].workflow_execution_started_event_attributes.continued_execution_run_id
        if not run_id:
            return count


def _chain(number: int, expression: Callable[[int], str]) -> list[dict[str, Any]]:
    states: list[dict[str, Any]] = [
        {
            "name": f"state {n}",
            "type": "inject",
            "data": {"n": n},
            "stateDataFilter": {"output": expression(n)},
            "transition": f"state {n + 1}",
        }
        for n in range(number)
    ]
    return [*states, {"name": f"state {number}", "type": "inject", "data": {}, "end": True}]


def _loop(number: int) -> list[dict[str, Any]]:
    again = {"condition": f"${{ .n < {number // 2} }}", "transition": "Count"}
    return [
        {
            "name": "Count",
            "type": "inject",
            "data": {},
            "stateDataFilter": {"output": "${ {n: (.n + 1)} }"},
            "transition": "Look",
        },
        {"name": "Look", "type": "switch", "dataConditions": [again], "defaultCondition": {"end": True}},
    ]


def _items() -> list[dict[str, Any]]:
    return [
        {
            "name": "Each",
            "type": "foreach",
            "inputCollection": "${ .items }",
            "iterationParam": "item",
            "outputCollection": "${ .results }",
            "actions": [{"name": "Double", "functionRef": "double"}],
            "end": True,
        }
    ]


class _Expressions(Work):
    """Work whose function is an expression."""

    def definition(self, service: str) -> dict[str, Any]:
        """Return the definition, with the function."""
        function = {"name": "double", "type": "expression", "operation": "${ {y: (.item * 2)} }"}
        return {**super().definition(service), "functions": [function]}


WORKS: Final = (
    Work("states", "1,500 inject states with an expression", lambda: _chain(1500, lambda _: "${ {n: .n} }"), {}, 1),
    Work("loop", "5,000 states in a loop", lambda: _loop(5000), {"n": 0}, 1),
    _Expressions("items-10", "10,000 expression items", _items, {"items": list(range(10_000))}, 1),
    _Expressions("items-50", "50,000 expression items", _items, {"items": list(range(50_000))}, 1),
    Work(
        "distinct",
        "4,000 distinct expressions",
        lambda: _chain(4000, lambda n: f"${{ {{n: (.n | tostring | length + {n})}} }}"),
        {},
        1,
    ),
)

if __name__ == "__main__":
    main()
