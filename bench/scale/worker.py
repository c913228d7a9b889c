"""What runs in a contender's process: `python -m bench.scale.worker <contender> <address> <storage>`.

It answers every line on its input with the CPU seconds that the process has used, the bytes that it has in memory, and
how many calls it has answered, and ends with its input.
"""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from bench.ending import end_with_input
from bench.scale.handwritten import WORKFLOWS, answer, answer_activity
from bench.scale.work import WORK
from swf_temporal.events.sinks import Sinks
from swf_temporal.functions.calling import Calls
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.settings.payloads import PayloadSettings, StorageSettings
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.converter import converter_of
from swf_temporal.temporal.worker import make_worker, tune_gc

INTERPRETED, BY_HAND, SANDBOXED = CONTENDERS = ("interpreted", "by hand", "by hand, sandboxed")
"""The last is what the SDK does with a workflow by default."""
READY, USED = "ready", "used"
"""What a line of its output begins with that is meant for the program that started it."""

_PAGE = os.sysconf("SC_PAGE_SIZE")


def stored_in(folder: str) -> PayloadSettings:
    """Return what both contenders do with payloads: large ones are files in *folder*."""
    return PayloadSettings(storage=StorageSettings(url=Path(folder).as_uri()))


def worker_of(contender: str, client: Client) -> Worker:
    """Return the worker of *contender*, which polls the task queue of that name."""
    if contender == INTERPRETED:
        for one in (one for work in WORK for one in work.definitions()):  # as `swf worker` does before it asks for work
            load(one, name=str(one["id"]))
        tune_gc()
        return make_worker(client, Catalogue(), Calls({"answer": answer}), Sinks(), task_queue=contender)
    settings = WorkerSettings()
    return Worker(
        client,
        task_queue=contender,
        workflows=WORKFLOWS,
        activities=[answer_activity],
        workflow_runner=SandboxedWorkflowRunner() if contender == SANDBOXED else UnsandboxedWorkflowRunner(),
        # What is compared is code: the same limits for all.
        max_cached_workflows=settings.max_cached_workflows,
        max_concurrent_activities=settings.max_activities,
    )


def _used() -> tuple[Any, ...]:
    resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    return time.process_time(), resident


async def main(contender: str, address: str, storage: str) -> None:
    """Work until the input ends."""
    end_with_input()
    converter = converter_of(stored_in(storage))
    async with worker_of(contender, await Client.connect(address, data_converter=converter)):
        print(READY, flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            print(USED, *_used(), flush=True)
        os._exit(0)  # a workflow that hangs would keep the worker from ending


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    sys.stdout.flush()
    os._exit(0)  # the SDK's threads do not always survive the end of the interpreter
