"""Record the histories that the replay tests read: `python -m tests.replay.record`, which `make record` runs.

It records, before a release, what is not there yet of the release and its semantics number. What is there is never
written again or removed: runs that began under those releases must go on under this one.
"""

import asyncio
import gzip
import json
from itertools import groupby
from pathlib import Path
from typing import Any

from swf_temporal import __version__
from swf_temporal.app.scenarios.host import ScenarioHost, scenario_host
from swf_temporal.runtime.semantics import SEMANTICS
from swf_temporal.simulation.scenario import Scenario, find_scenarios, workflows_of
from swf_temporal.temporal.client import result
from swf_temporal.temporal.server import local_server
from tests.replay.features import REQUIRED, features_of
from tests.temporal.conftest import Bench
from tests.temporal.test_outlasting import CALL, CHILD, EVERY, SUBFLOW, Functions, beside, histories, well

SCENARIOS = Path(__file__).parents[1] / "scenarios"
FOLDER = Path(__file__).parent / "histories"
MAX_OF_A_FILE = 3
"""How many scenarios of a file are recorded, besides those that have what no others have."""
CONTINUED = {"a-call-of-an-earlier-execution": CALL, "a-sub-workflow-of-an-earlier-execution": SUBFLOW}
"""What an execution waits for that did not begin it, by the names of the histories: no scenario continues as new."""
MARK = f"{__version__}-s{SEMANTICS}"
"""How the names of histories of this release end; those of the first have its number alone."""


def chosen() -> list[tuple[str, Scenario]]:
    """Return the scenarios to record, each with the name of its history."""
    found = [
        scenario for scenario in find_scenarios([SCENARIOS]) if "temporal" in scenario.hosts and not scenario.is_refused
    ]
    first: list[tuple[str, Scenario]] = []
    further: list[tuple[str, Scenario]] = []
    for file, scenarios in groupby(found, lambda scenario: scenario.file):
        for number, scenario in enumerate(scenarios, 1):
            named = (f"{file.parent.name}-{file.stem}-{number}", scenario)
            (first if number <= MAX_OF_A_FILE else further).append(named)
    missing = REQUIRED.difference(*(features_of(scenario) for _, scenario in first))
    for name, scenario in further:
        if missing & features_of(scenario):
            first.append((name, scenario))
            missing -= features_of(scenario)
    return first


async def record(host: ScenarioHost, name: str, scenario: Scenario) -> None:
    """Run *scenario* and keep its history under *name*."""
    await host.observe(scenario)
    handle = host.client.get_workflow_handle(workflows_of(scenario)[0].id)
    history = await handle.fetch_history()
    recorded = json.loads(history.to_json())
    kept = {"workflow_id": handle.id, "claim": scenario.claim, "time": "virtual", "history": recorded}
    _path(name).write_bytes(gzip.compress(json.dumps(kept, separators=(",", ":")).encode(), mtime=0))


async def record_last_execution(bench: Bench, name: str, action: dict[str, Any]) -> None:
    """Keep the history of an execution that waits for what *action* began in an earlier one."""
    functions = Functions(well)
    async with bench.worker(beside(action), CHILD, **functions.all) as worker:
        handle = await worker.start({}, suspend_after=EVERY)
        await result(handle)
        *_, history = await histories(bench, handle)
    claim = f"Waits for {name.replace('-', ' ')}"
    kept = {"workflow_id": handle.id, "claim": claim, "history": json.loads(history.to_json())}
    _path(name).write_bytes(gzip.compress(json.dumps(kept, separators=(",", ":")).encode(), mtime=0))


async def main() -> None:
    """Record every history that is not there yet."""
    FOLDER.mkdir(exist_ok=True)
    async with scenario_host() as host:
        for name, scenario in chosen():
            if not _path(name).exists():
                await record(host, name, scenario)
    async with local_server() as server:
        for name, action in CONTINUED.items():
            if not _path(name).exists():
                await record_last_execution(Bench(server), name, action)


def _path(name: str) -> Path:
    return FOLDER / f"{name}-{MARK}.json.gz"


if __name__ == "__main__":
    asyncio.run(main())
