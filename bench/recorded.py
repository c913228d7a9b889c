"""Workflow code by itself: `python bench/recorded.py <contender> <address>` runs what it recorded, again and again.

It needs nothing of this release, so that the workflow code of an earlier one can be run by it.

Each line of its input is work as JSON, which is run once on a server while its activations are recorded; the answer is
its name, or null where the release does not know the language of its definition. After an empty
line its worker ends, and each further line is the name of such work: the answer is what its activations take, in
seconds of processor time. The server and the worker have no part in that any more, so that little is measured but
workflow code, with the SDK around it.
"""

import asyncio
import gc
import json
import logging
import os
import sys
import time
from collections.abc import Sequence
from inspect import signature
from math import inf
from typing import Any
from uuid import uuid4

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.client import Client
from temporalio.converter import DataConverter
from temporalio.worker import Worker, WorkflowInstance, WorkflowInstanceDetails, WorkflowRunner
from temporalio.workflow import Info

from bench.worker import INTERPRETED, worker_of
from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.languages.loading import load
from swf_temporal.temporal.client import start
from swf_temporal.temporal.converter import CONVERTER

ANSWER = "answer"
"""What a line of its output begins with that is one."""
_SECONDS = 0.25
"""For how long the same activations are run again and again, of which the fastest counts."""
_MIN_RUNS = 3
_ATTEMPTS = 5
_PAUSE = 0.01


class Recording(WorkflowRunner):
    """Runs workflows as another runner does, and keeps what they are activated with."""

    def __init__(self, runner: WorkflowRunner) -> None:
        self.runner = runner
        self.work: dict[str, Work] = {}
        """By the ids of workflows."""

    def prepare_workflow(self, defn: Any) -> None:
        """Prepare a workflow class."""
        self.runner.prepare_workflow(defn)

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Return the workflow, recorded from its start."""
        self.work[det.info.workflow_id] = work = Work(self.runner, det)
        return _Recorded(self.runner.create_instance(det), work.activations)

    def set_worker_level_failure_exception_types(self, types: Sequence[type[BaseException]]) -> None:
        """Hand on which errors fail a run."""
        self.runner.set_worker_level_failure_exception_types(types)


class _Recorded(WorkflowInstance):
    def __init__(self, inner: WorkflowInstance, activations: list[bytes]) -> None:
        self._inner = inner
        self._activations = activations

    def activate(self, act: WorkflowActivation) -> Any:
        """Let the workflow take its next step."""
        if not any(job.HasField("query_workflow") or job.HasField("remove_from_cache") for job in act.jobs):
            self._activations.append(act.SerializeToString())
        return self._inner.activate(act)

    def get_serialization_context(self, command_info: Any) -> Any:
        """Return what the workflow says."""
        return self._inner.get_serialization_context(command_info)

    def get_external_store_context(self, command_info: Any) -> Any:
        """Return what the workflow says."""
        return self._inner.get_external_store_context(command_info)

    def get_info(self) -> Info:
        """Return what the workflow says."""
        return self._inner.get_info()

    def get_thread_id(self) -> int | None:
        """Return what the workflow says."""
        return self._inner.get_thread_id()


class Work:
    """A workflow whose activations were recorded."""

    def __init__(self, runner: WorkflowRunner, details: WorkflowInstanceDetails) -> None:
        self._runner = runner
        self._details = details
        self.activations: list[bytes] = []

    async def least(self, *, replays: bool) -> float:
        """Return the least that all activations take, one after the other, of as many times as there is time for."""
        found = [await self.seconds(replays=replays)]
        ends_at = time.process_time() + _SECONDS
        while len(found) < _MIN_RUNS or time.process_time() < ends_at:
            found.append(await self.seconds(replays=replays))
        return min(found)

    async def seconds(self, *, replays: bool) -> float:
        """Return what all activations take; infinitely much where they take another course than they did."""
        activations = [WorkflowActivation.FromString(one) for one in self.activations]
        for one in activations:
            one.is_replaying = replays
        gc.collect()  # so that each time it is the same number of collections that falls into what is measured
        begun = time.thread_time()
        instance = self._runner.create_instance(self._details)
        created = time.thread_time() - begun
        # As in a worker: a workflow is made on the thread of the event loop, and activated on another.
        return created + await asyncio.to_thread(_activated, instance, activations, self._details.info.run_id)


def _activated(instance: WorkflowInstance, activations: Sequence[WorkflowActivation], run_id: str) -> float:
    begun, failed = time.thread_time(), False
    for one in activations:
        failed = failed or instance.activate(one).HasField("failed")
    taken = time.thread_time() - begun
    removal = WorkflowActivation(run_id=run_id)
    removal.jobs.add().remove_from_cache.SetInParent()
    instance.activate(removal)
    return inf if failed else taken


async def _recorded(contender: str, address: str) -> dict[str, Work]:
    """Run all work that is asked for once, and return what was recorded of it, by its name."""
    client = await Client.connect(
        address, data_converter=CONVERTER if contender == INTERPRETED else DataConverter.default
    )
    service = "http://127.0.0.1"  # which is not called
    is_known = "service" in signature(worker_of).parameters  # an earlier revision may know none
    worker = worker_of(contender, client, *([service] if is_known else []))
    recording = _record(worker)
    found: dict[str, Work] = {}
    async with worker:
        while (line := await asyncio.to_thread(sys.stdin.readline)) != "\n":
            if not line:  # who asked is gone, and a server, without which a worker does not end
                os._exit(0)
            work = json.loads(line)
            try:
                found[work["name"]] = await _recorded_once(client, contender, work, recording)
            except InvalidDefinition:
                print(ANSWER, json.dumps(None), flush=True)
            else:
                print(ANSWER, json.dumps(work["name"]), flush=True)
    return found


async def _recorded_once(client: Client, contender: str, work: dict[str, Any], recording: Recording) -> Work:
    for _ in range(_ATTEMPTS):
        recorded = recording.work[await _run(client, contender, work)]
        # Work that was broken off because the machine was busy is not done in the same steps again.
        if await recorded.seconds(replays=True) < inf:
            break
    return recorded


def _record(worker: Worker) -> Recording:
    inner: Any = worker._workflow_worker  # noqa: SLF001 - the SDK has no other way to come between
    is_ours = inner._dynamic_workflow is not None  # noqa: SLF001 - as above
    runner = inner._unsandboxed_workflow_runner if is_ours else inner._workflow_runner  # noqa: SLF001 - as above
    inner._unsandboxed_workflow_runner = inner._workflow_runner = recording = Recording(runner)  # noqa: SLF001 - as above
    return recording


async def _run(client: Client, contender: str, work: dict[str, Any]) -> str:
    """Run *work*, and return the id of the workflow."""
    workflow_id = f"recorded-{contender}-{work['name']}-{uuid4()}"
    if contender == INTERPRETED:
        workflow = load(work["definition"], name=work["name"])
        await start(client, [workflow], work["data"], workflow_id=workflow_id, task_queue=contender)
    else:
        await client.start_workflow(work["by_hand"], work["input"], id=workflow_id, task_queue=contender)
    handle = client.get_workflow_handle(workflow_id)
    if not work["events"]:
        await handle.result()
        return workflow_id
    for count, event in enumerate(work["events"], 1):
        await handle.signal("event", event)
        while True:
            if (await handle.query("data"))["count"] >= count:
                break
            await asyncio.sleep(_PAUSE)
    await handle.terminate()
    return workflow_id


async def main(contender: str, address: str) -> None:
    """Record, and answer until the input ends."""
    logging.disable()  # the SDK tells of each activation that fails
    found = await _recorded(contender, address)
    gc.collect()
    gc.freeze()  # a collection that looks at all that is there would empty the processor's caches before each time
    print(ANSWER, json.dumps(list(found)), flush=True)
    for line in sys.stdin:
        work = found[line.strip()]
        live, replayed = await work.least(replays=False), await work.least(replays=True)
        print(ANSWER, json.dumps({"live": live, "replayed": replayed}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    sys.stdout.flush()
    os._exit(0)  # the SDK's threads do not always survive the end of the interpreter
