"""This release goes on with what each release wrote, and each with what this one writes."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from temporalio.client import Schedule, ScheduleActionStartWorkflow, ScheduleSpec, ScheduleState
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.data import JSON
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.runtime.host import ContinueTimeout
from swf_temporal.temporal import schedules
from swf_temporal.temporal.call_records import CallRecord, call_of, record_of
from swf_temporal.temporal.client import result
from swf_temporal.temporal.constants import MEMO
from swf_temporal.temporal.records import Pin
from swf_temporal.temporal.worker import make_worker
from tests.replay import corpus
from tests.replay.record import written_schedule
from tests.temporal.conftest import Bench
from tests.temporal.suspending import suspending
from tests.upgrades import schedule
from tests.upgrades.cases import ALONE, CASES, CHILD, DSL_CHILD, Case
from tests.upgrades.chains import Execution, executions
from tests.upgrades.releases import code_of, start_worker
from tests.upgrades.worker import Functions

EACH_RELEASE = pytest.mark.parametrize("release", corpus.releases())
OUTPUTS: Mapping[str, JSON] = {**{case.id: case.output for case in (*CASES, CHILD, DSL_CHILD)}, ALONE: {"told": True}}
SENDS = {case.id: case for case in CASES if case.sends}


def recorded(release: str) -> Mapping[str, Sequence[Execution]]:
    kept = corpus.read(release)
    return {case.id: kept.of_case(case.id) for case in CASES}


@asynccontextmanager
async def worker_of_this(bench: Bench, queue: str) -> AsyncIterator[None]:
    functions = Functions()
    worker = make_worker(
        bench.client, Catalogue(), functions, functions, task_queue=queue, operator_options=suspending()
    )
    async with worker:
        yield


@contextmanager
def worker_of(release: str, bench: Bench, queue: str) -> Iterator[None]:
    code = code_of(release)
    if code is None:
        pytest.skip(f"this checkout does not have the tag of {release}: what it wrote is read all the same")
    process = start_worker(code, bench.client.service_client.config.target_host, queue)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield
    finally:
        process.kill()
        process.communicate()


def with_time_left(recorded: Any) -> Any:
    """Return what was *recorded* with an hour left of each workflow timeout that was running, as there was then."""
    if isinstance(recorded, list):
        return [with_time_left(one) for one in recorded]
    if not isinstance(recorded, dict):
        return recorded
    moved = {key: with_time_left(value) for key, value in recorded.items()}
    return {**moved, "deadline": time.time() + 3600} if {"walk", "deadline"} <= moved.keys() else moved


async def go_on(bench: Bench, queue: str, prefix: str, ran: Sequence[Execution]) -> list[tuple[str, JSON]]:
    """Start every execution of *ran* again, each as its record says, and return what it comes to."""

    async def one(number: int, execution: Execution) -> tuple[str, JSON]:
        name = execution.definition_id
        handle = await bench.client.start_workflow(
            name, args=with_time_left(execution.arguments), id=f"{prefix}-{execution.workflow_id}-{number}",
            task_queue=queue,
        )  # fmt: skip
        if name in SENDS:
            # Those that had come are known by their ids, and are not taken again; with all of them it may have ended.
            try:
                await SENDS[name].send(handle)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
        return name, await asyncio.wait_for(result(handle), 60)

    return await asyncio.gather(*(one(number, execution) for number, execution in enumerate(ran)))


@EACH_RELEASE
def test_the_records_are_of_runs_under_way(release: str) -> None:
    """Every case was suspended by that release, some several times, in the middle of what it does."""
    for case, ran in recorded(release).items():
        assert any("progress" in one.arguments[1] or case == "rounds" for one in ran), case


@EACH_RELEASE
def test_the_records_have_what_is_stored_but_seldom(release: str) -> None:
    """The time of an execution that was continued as, and a call that is a run of its own, are among the records."""
    pins = [Pin.from_json(one.arguments[1]) for ran in recorded(release).values() for one in ran]
    assert [pin.start.limit for pin in pins if pin.start.limit is not None] == [
        ContinueTimeout(7200, interrupt=False, run_before="Tidy")
    ]
    [alone] = [pin.call for pin in pins if pin.call is not None]
    assert (alone.function.name, alone.arguments) == (ALONE, {"told": True})


@EACH_RELEASE
async def test_its_schedules_are_known(bench: Bench, release: str) -> None:
    """What a schedule remembers is read, the instances that it starts run, and it is changed in place."""
    kept, queue = corpus.read(release).schedule, f"upgrades-schedule-{release}"
    definition = load({**schedule.DEFINITION, "id": f"scheduled-{release}"})
    action = ScheduleActionStartWorkflow(
        "scheduled", args=kept["arguments"], id="scheduled", task_queue=queue, memo={MEMO: kept["facts"]}
    )
    theirs = Schedule(action=action, spec=ScheduleSpec(), state=ScheduleState(note=kept["note"], paused=True))
    await bench.client.create_schedule(schedules.schedule_id(definition.id), theirs, memo={MEMO: definition.id})

    facts = await schedules.facts_of(await schedules.describe(bench.client, definition.id))
    assert facts is not None
    assert (facts.definition, facts.version, facts.digest[:12]) == (
        "scheduled", "1.0.0", kept["note"].rpartition(" ")[2],
    )  # fmt: skip
    async with worker_of_this(bench, queue):
        handle = await bench.client.start_workflow(
            "scheduled", args=kept["arguments"], id=f"{queue}-1", task_queue=queue
        )
        assert await asyncio.wait_for(result(handle), 60) == schedule.OUTPUT
    applied = await schedules.apply(bench.client, definition, data=dict(schedule.INPUT), task_queue=queue)
    assert (applied.outcome, applied.paused) == (schedules.Outcome.UPDATED, True)


@EACH_RELEASE
async def test_its_clients_know_our_schedules(bench: Bench, release: str) -> None:
    """What this release writes of a schedule has what that one wrote, and means the same."""
    ours, theirs = await written_schedule(bench.client), corpus.read(release).schedule
    for key in ("definition", "version", "digest"):
        assert ours["facts"][key] == theirs["facts"][key]
    assert ours["facts"].keys() >= theirs["facts"].keys()
    assert ours["note"] == theirs["note"]


@EACH_RELEASE
async def test_this_release_goes_on_with_its_records(bench: Bench, release: str) -> None:
    """Whatever it had written of a run when it stopped, this one brings it to the same end."""
    queue = f"upgrades-{release}"
    async with worker_of_this(bench, queue):
        for case, ran in recorded(release).items():
            for name, output in await go_on(bench, queue, f"{queue}-{case}", ran):
                assert output == OUTPUTS[name], name


@EACH_RELEASE
def test_its_calls_are_read(release: str) -> None:
    """Each record of a call says the same when it is written again."""
    calls = [call for ran in recorded(release).values() for execution in ran for call in execution.calls]
    assert {"arguments", "deferred", "retry", "secrets"} <= {key for call in calls for key in call}
    for call in calls:
        read = CallRecord.from_json(call)
        written = record_of(call_of(read, activity_id="A/f#1", state="A"), read.source)
        written.run = read.run  # which the host adds
        assert written.to_json() == call


@EACH_RELEASE
async def test_it_goes_on_with_our_records(bench: Bench, release: str) -> None:
    """Whatever this release has written of a run, a worker of that one brings it to the same end."""
    ours, theirs = f"upgrades-ours-{release}", f"upgrades-theirs-{release}"
    with worker_of(release, bench, theirs):
        async with worker_of_this(bench, ours):
            written = await asyncio.gather(*(_run_here(case, bench, ours) for case in CASES))
        assert all(len(ran) > 1 for ran in written)
        for ran in written:
            for name, output in await go_on(bench, theirs, theirs, ran):
                assert output == OUTPUTS[name], name


async def _run_here(case: Case, bench: Bench, queue: str) -> list[Execution]:
    handle = await case.start(bench.client, f"{queue}-{case.id}", queue)
    assert await asyncio.wait_for(result(handle), 60) == case.output
    return [one async for one in executions(bench.client, handle.id, handle.first_execution_run_id)]
