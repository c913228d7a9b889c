"""Record what earlier releases write: `python -m tests.upgrades.record`.

It is done once for each release and case, by that release's own code, and never again: what is recorded here is what
runs in the world carry. A case that is added later is recorded beside those that are there.
"""

import asyncio
import gzip
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from temporalio.client import Client, ScheduleActionStartWorkflow

from swf_temporal.temporal.client import result
from swf_temporal.temporal.schedules import schedule_id
from swf_temporal.temporal.server import local_server
from tests.upgrades.cases import CASES, Case
from tests.upgrades.chains import Execution, executions
from tests.upgrades.releases import BEFORE, FIRST, apply_schedule, checkout, start_worker
from tests.upgrades.schedule import DEFINITION

FOLDER = Path(__file__).parent / "records"
SEMANTICS_OF = {FIRST: 1, BEFORE: 2}
SUSPEND_AFTER = 12


def recorded(release: str) -> dict[str, list[Execution]]:
    """Return the executions of each case that a worker of *release* ran."""
    found: dict[str, list[Execution]] = {}
    for file in sorted(FOLDER.glob(f"{release}*.json.gz")):
        kept = json.loads(gzip.decompress(file.read_bytes()))
        found |= {case: [Execution(**one) for one in ran] for case, ran in kept["cases"].items()}
    return found


def recorded_schedule(release: str) -> dict[str, Any]:
    """Return what *release* wrote of a schedule: the `memo` and the `arguments` of the instances that it starts."""
    kept: dict[str, Any] = json.loads((FOLDER / f"{release}-schedule.json").read_text(encoding="utf-8"))
    return kept


async def record(commit: str) -> None:
    """Let the release *commit* run the cases, and apply the schedule, that are not recorded of it."""
    there = recorded(commit)
    missing = [case for case in CASES if case.id not in there]
    schedule = FOLDER / f"{commit}-schedule.json"
    if not missing and schedule.exists():
        return
    release = checkout(commit)
    assert release is not None, "this checkout has no history"
    async with local_server(extra=("--dynamic-config-value", 'history.workflowIdReuseMinimalInterval="0s"')) as server:
        client = server.client
        if missing:
            text = json.dumps(
                {"release": commit, "cases": await _run(client, release, commit, missing)}, separators=(",", ":")
            )
            name = "-".join([commit, *(case.id for case in missing)]) if there else commit
            (FOLDER / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
        if not schedule.exists():
            apply_schedule(release, client.service_client.config.target_host, "any")
            schedule.write_text(json.dumps(await written_schedule(client), indent=1) + "\n", encoding="utf-8")


async def _run(client: Client, release: Path, commit: str, cases: Sequence[Case]) -> dict[str, Any]:
    """Run *cases* on a worker of a release, and return the histories of all executions."""
    queue, kept = f"release-{commit}", {}
    worker = start_worker(release, client.service_client.config.target_host, queue)
    try:
        for case in cases:
            handle = await case.start(
                client, case.id, queue, semantics=SEMANTICS_OF[commit], suspend_after=SUSPEND_AFTER
            )
            assert await asyncio.wait_for(result(handle), 60) == case.output, case.id
            first = handle.first_execution_run_id
            kept[case.id] = [asdict(one) async for one in executions(client, handle.id, first)]
    finally:
        worker.kill()
        worker.wait()
    return kept


async def written_schedule(client: Client) -> dict[str, Any]:
    """Return what the schedule on the server says of the instances that it starts."""
    described = await client.get_schedule_handle(schedule_id(DEFINITION["id"])).describe()
    action = described.schedule.action
    assert isinstance(action, ScheduleActionStartWorkflow)
    return {
        "memo": {key: json.loads(value.data) for key, value in (action.memo or {}).items()},
        "arguments": [json.loads(one.data) for one in action.args],
        "note": described.schedule.state.note,
    }


if __name__ == "__main__":
    for release_ in SEMANTICS_OF:
        asyncio.run(record(release_))
