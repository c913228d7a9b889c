"""What runs in a contender's process: `python -m bench.worker <contender> <address> <service>`.

It answers every line on its input with the CPU seconds that the process has used, and ends with its input.
"""

import asyncio
import os
import sys
import time

from temporalio.client import Client
from temporalio.converter import DataConverter
from temporalio.worker import UnsandboxedWorkflowRunner, Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from bench import handwritten
from bench.ending import end_with_input
from bench.handwritten import WORKFLOWS, Asking, answer, answer_activity
from bench.work import POST, WORK
from swf_temporal.events.sinks import Sinks
from swf_temporal.functions.calling import Calls
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.instance_part import OperatorOptions
from swf_temporal.temporal.worker import make_worker, tune_gc

INTERPRETED, SANDBOXED, UNSANDBOXED, WITH_OPTIONS = CONTENDERS = (
    "interpreted",
    "sandboxed",
    "unsandboxed",
    "with options",
)
"""The last is unsandboxed, and its calls have the options of interpreted ones: what these cost is no cost of
interpreting."""
READY, CPU = "ready", "cpu"
"""What a line of its output begins with that is meant for the program that started it."""


def worker_of(
    contender: str,
    client: Client,
    service: str,
    task_queue: str = INTERPRETED,
    *,
    told: OperatorOptions | None = None,
) -> Worker:
    """Return the worker of *contender*, which polls the task queue of that name; the interpreter polls *task_queue*.

    *told* is what workflow code of the interpreter is told.
    """
    if contender == INTERPRETED:
        definitions = [load(work.definition(service), name=work.name) for work in WORK]  # as `swf worker` does
        tune_gc()
        options = {POST: Options(base_url=service)} if service else {}
        calls = Calls({"answer": answer}, settings=Settings(functions=options))
        return make_worker(client, Catalogue(definitions), calls, Sinks(), task_queue=task_queue, operator_options=told)
    settings, asking = WorkerSettings(), Asking()
    if contender == WITH_OPTIONS:
        handwritten.OPTIONS.update(handwritten.AS_INTERPRETED)
    return Worker(
        client,
        task_queue=contender,
        workflows=WORKFLOWS,
        activities=[answer_activity, asking.ask, asking.post],
        workflow_runner=SandboxedWorkflowRunner() if contender == SANDBOXED else UnsandboxedWorkflowRunner(),
        # What is compared is code: the same limits for all.
        max_cached_workflows=settings.max_cached_workflows,
        max_concurrent_activities=settings.max_activities,
    )


async def main(contender: str, address: str, service: str) -> None:
    """Work until the input ends."""
    end_with_input()
    converter = CONVERTER if contender == INTERPRETED else DataConverter.default
    async with worker_of(contender, await Client.connect(address, data_converter=converter), service):
        print(READY, flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            print(CPU, time.process_time(), flush=True)
        os._exit(0)  # a workflow that hangs would keep the worker from ending


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    sys.stdout.flush()
    os._exit(0)  # the SDK's threads do not always survive the end of the interpreter
