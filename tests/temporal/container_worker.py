"""A worker in a process of its own, to be killed: `python -m tests.temporal.container_worker ADDRESS QUEUE FOLDER URL`.

With a fifth argument it stops for good once it has stored what a function left, before it has told the server.
"""

import asyncio
import sys
from collections.abc import Mapping
from datetime import timedelta

from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.sdk import working as app_variables
from swf_temporal.sdk.worker import Worker
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.forms import SharedFolder
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.variable_claims import ClaimedVariables
from tests.containers import MOUNTED
from tests.temporal.missed_soon import miss_soon


class Stopping(ClaimedVariables):
    async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        await super().write_variables(values, write_id)
        tell("stored")
        await asyncio.Future()


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(address: str, queue: str, folder: str, url: str, *stopping: str) -> None:
    miss_soon(3)
    if stopping:
        app_variables.ClaimedVariables = Stopping  # type: ignore[attr-defined]  # which asks for it there
    options = Options(shared_folder=SharedFolder(folder, MOUNTED), timeout=timedelta(minutes=10))
    worker = Worker(
        address, settings=WorkerSettings(task_queue=queue), call_settings=Settings(calls=options.replace(base_url=url))
    )
    async with worker:
        tell("ready")
        await asyncio.Future()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
