"""Record the histories that the replay tests read: `python -m tests.replay.record`, which `make record` runs.

It records, before a release, what is not there yet of the release and its semantics number. What is there is never
written again or removed: runs that began under those releases must go on under this one.
"""

import asyncio
import gzip
import json
from itertools import groupby
from pathlib import Path

from swf_temporal import __version__
from swf_temporal.app.scenarios.host import ScenarioHost, scenario_host
from swf_temporal.runtime.semantics import SEMANTICS
from swf_temporal.simulation.scenario import Scenario, find_scenarios, workflows_of
from tests.replay.features import REQUIRED, features_of

SCENARIOS = Path(__file__).parents[1] / "scenarios"
FOLDER = Path(__file__).parent / "histories"
MAX_OF_A_FILE = 3
"""How many scenarios of a file are recorded, besides those that have what no others have."""
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
    path = FOLDER / f"{name}-{MARK}.json.gz"
    path.write_bytes(gzip.compress(json.dumps(kept, separators=(",", ":")).encode(), mtime=0))


async def main() -> None:
    """Record every history that is not there yet."""
    FOLDER.mkdir(exist_ok=True)
    async with scenario_host() as host:
        for name, scenario in chosen():
            if not (FOLDER / f"{name}-{MARK}.json.gz").exists():
                await record(host, name, scenario)


if __name__ == "__main__":
    asyncio.run(main())
