"""Record the histories that the replay tests read: `python -m tests.replay.record`.

Run it when scenarios of a new kind were added, never to make a failing replay pass: histories of released versions
stay as they are, since runs that began under those versions must go on under this one.
"""

import asyncio
import gzip
import json
from itertools import groupby
from pathlib import Path

from swf_temporal import __version__
from swf_temporal.app.scenarios.host import ScenarioHost, scenario_host
from swf_temporal.simulation.scenario import Scenario, find_scenarios, workflows_of

SCENARIOS = Path(__file__).parents[1] / "scenarios"
FOLDER = Path(__file__).parent / "histories"
MAX_OF_A_FILE = 3
"""How many scenarios of a file are recorded."""


def chosen() -> list[tuple[str, Scenario]]:
    """Return the scenarios to record, each with the name of its history."""
    found = [
        scenario for scenario in find_scenarios([SCENARIOS]) if "temporal" in scenario.hosts and not scenario.is_refused
    ]
    names = []
    for file, scenarios in groupby(found, lambda scenario: scenario.file):
        for number, scenario in enumerate(list(scenarios)[:MAX_OF_A_FILE], 1):
            names.append((f"{file.parent.name}-{file.stem}-{number}", scenario))
    return names


async def record(host: ScenarioHost, name: str, scenario: Scenario) -> None:
    """Run *scenario* and keep its history under *name*."""
    await host.observe(scenario)
    handle = host.client.get_workflow_handle(workflows_of(scenario)[0].id)
    history = await handle.fetch_history()
    recorded = json.loads(history.to_json())
    kept = {"workflow_id": handle.id, "claim": scenario.claim, "time": "virtual", "history": recorded}
    path = FOLDER / f"{name}-{__version__}.json.gz"
    path.write_bytes(gzip.compress(json.dumps(kept, separators=(",", ":")).encode(), mtime=0))


async def main() -> None:
    """Record every history that is not there yet."""
    FOLDER.mkdir(exist_ok=True)
    async with scenario_host() as host:
        for name, scenario in chosen():
            if not list(FOLDER.glob(f"{name}-*.json.gz")):
                await record(host, name, scenario)


if __name__ == "__main__":
    asyncio.run(main())
