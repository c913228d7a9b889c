"""Record what earlier releases write: `python -m tests.upgrades.record`.

It is done once for each release, by that release's own code, and never again: what is recorded here is what runs in the
world carry.
"""

import asyncio
import gzip
import json
from dataclasses import asdict
from pathlib import Path

from swf_temporal.temporal.client import result
from swf_temporal.temporal.server import local_server
from tests.upgrades.cases import CASES
from tests.upgrades.chains import executions
from tests.upgrades.releases import BEFORE, FIRST, checkout, start_worker

FOLDER = Path(__file__).parent / "records"
SEMANTICS_OF = {FIRST: 1, BEFORE: 2}
SUSPEND_AFTER = 12


async def record(commit: str) -> None:
    """Run every case on a worker of the release *commit* and keep the histories of all executions."""
    release = checkout(commit)
    assert release is not None, "this checkout has no history"
    async with local_server(extra=("--dynamic-config-value", 'history.workflowIdReuseMinimalInterval="0s"')) as server:
        client, queue = server.client, f"release-{commit}"
        worker = start_worker(release, client.service_client.config.target_host, queue)
        try:
            kept = {}
            for case in CASES:
                handle = await case.start(
                    client, case.id, queue, semantics=SEMANTICS_OF[commit], suspend_after=SUSPEND_AFTER
                )
                assert await asyncio.wait_for(result(handle), 60) == case.output, case.id
                first = handle.first_execution_run_id
                kept[case.id] = [asdict(one) async for one in executions(client, handle.id, first)]
        finally:
            worker.kill()
            worker.wait()
    text = json.dumps({"release": commit, "cases": kept}, separators=(",", ":"))
    (FOLDER / f"{commit}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    for release_ in SEMANTICS_OF:
        if not (FOLDER / f"{release_}.json.gz").exists():
            asyncio.run(record(release_))
