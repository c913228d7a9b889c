"""A newer release meets what older ones wrote, and an older one what this one writes."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import Any

import pytest
from temporalio.client import Schedule, ScheduleActionStartWorkflow, ScheduleSpec, ScheduleState, WorkflowHistory
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from swf_temporal.data import JSON
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.loading import load
from swf_temporal.temporal import schedules
from swf_temporal.temporal.client import result
from swf_temporal.temporal.constants import MEMO
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.records import Pin, call_from_json, call_to_json
from swf_temporal.temporal.worker import make_worker
from tests.temporal.conftest import Bench
from tests.temporal.suspending import Suspending
from tests.upgrades import record, schedule
from tests.upgrades.cases import ALONE, CASES, CHILD, Case
from tests.upgrades.chains import Execution, executions
from tests.upgrades.record import SEMANTICS_OF, SUSPEND_AFTER
from tests.upgrades.releases import BEFORE, FIRST, checkout, start_worker
from tests.upgrades.worker import Functions

RELEASES = (FIRST, BEFORE)
OUTPUTS: Mapping[str, JSON] = {**{case.id: case.output for case in (*CASES, CHILD)}, ALONE: {"told": True}}
SENDS = {case.id: case for case in CASES if case.sends}


@cache
def recorded(release: str) -> Mapping[str, Sequence[Execution]]:
    """Return the executions of each case that a worker of *release* ran."""
    return record.recorded(release)


@asynccontextmanager
async def worker_of_this(bench: Bench, queue: str) -> AsyncIterator[None]:
    """Run a worker of this release."""
    functions = Functions()
    worker = make_worker(bench.client, Catalogue(), functions, functions, task_queue=queue, interpreter=Suspending)
    async with worker:
        yield


@contextmanager
def worker_of(release: str, bench: Bench, queue: str) -> Iterator[None]:
    """Run a worker of an earlier release."""
    code = checkout(release)
    if code is None:
        pytest.skip(f"this checkout does not have the commit {release}: what it wrote is read all the same")
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
            name,
            args=with_time_left(execution.arguments),
            id=f"{prefix}-{execution.workflow_id}-{number}",
            task_queue=queue,
        )
        if name in SENDS:
            # Those that had come are known by their ids, and are not taken again; with all of them it may have ended.
            try:
                await SENDS[name].send(handle)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
        return name, await asyncio.wait_for(result(handle), 60)

    return await asyncio.gather(*(one(number, execution) for number, execution in enumerate(ran)))


@pytest.mark.parametrize("release", RELEASES)
def test_the_records_are_of_runs_under_way(release: str) -> None:
    """Every case was suspended by that release, some several times, in the middle of what it does."""
    for case, ran in recorded(release).items():
        pins = [execution.arguments[1] for execution in ran]
        assert any("progress" in pin or case == "rounds" for pin in pins), case
        assert {Pin.from_json(pin).semantics for pin in pins} == {SEMANTICS_OF[release]}, case


@pytest.mark.parametrize("release", RELEASES)
def test_the_records_have_what_is_stored_but_seldom(release: str) -> None:
    """The time of an execution that was continued as, and a call that is a run of its own, are among the records."""
    pins = [Pin.from_json(one.arguments[1]) for ran in recorded(release).values() for one in ran]
    assert [pin.limit for pin in pins if pin.limit is not None] == [
        {"seconds": 7200, "interrupt": False, "runBefore": "Tidy"}
    ]
    [alone] = [pin.call for pin in pins if pin.call is not None]
    assert (alone["function"]["name"], alone["arguments"]) == (ALONE, {"told": True})


@pytest.mark.parametrize("release", RELEASES)
async def test_schedules_of_older_releases_are_known(bench: Bench, release: str) -> None:
    """What a schedule remembers is read, the instances that it starts run, and it is changed in place."""
    kept, queue = record.recorded_schedule(release), f"upgrades-schedule-{release}"
    definition = load({**schedule.DEFINITION, "id": f"scheduled-{release}"})
    action = ScheduleActionStartWorkflow(
        "scheduled", args=kept["arguments"], id="scheduled", task_queue=queue, memo=kept["memo"]
    )
    theirs = Schedule(action=action, spec=ScheduleSpec(), state=ScheduleState(note=kept["note"], paused=True))
    await bench.client.create_schedule(schedules.schedule_id(definition.id), theirs, memo={MEMO: definition.id})

    facts = await schedules.facts_of(await schedules.describe(bench.client, definition.id))
    assert (facts["definition"], facts["version"], str(facts["digest"])[:12]) == (
        "scheduled", "1.0.0", kept["note"].rpartition(" ")[2],
    )  # fmt: skip
    async with worker_of_this(bench, queue):
        handle = await bench.client.start_workflow(
            "scheduled", args=kept["arguments"], id=f"{queue}-1", task_queue=queue
        )
        assert await asyncio.wait_for(result(handle), 60) == schedule.OUTPUT
    applied = await schedules.apply(bench.client, definition, data=dict(schedule.INPUT), task_queue=queue)
    assert (applied.outcome, applied.paused) == (schedules.Outcome.UPDATED, True)


@pytest.mark.parametrize("release", RELEASES)
async def test_what_is_written_of_a_schedule_is_what_was(bench: Bench, release: str) -> None:
    """An older client reads what this release writes: it has what that wrote, and means the same."""
    await schedules.apply(bench.client, load(schedule.DEFINITION), data=dict(schedule.INPUT), paused=True)
    ours, theirs = await record.written_schedule(bench.client), record.recorded_schedule(release)
    await schedules.delete(bench.client, schedule.DEFINITION["id"])
    assert ours["memo"]["swf"].keys() == theirs["memo"]["swf"].keys()
    for key in ("definition", "version", "digest"):
        assert ours["memo"]["swf"][key] == theirs["memo"]["swf"][key]
    assert ours["note"] == theirs["note"]
    # The reading that a run begins with is the newest of the release that starts it.
    assert {**ours["arguments"][1], "numbers": None} == {**theirs["arguments"][1], "numbers": None}


@pytest.mark.parametrize("release", RELEASES)
async def test_this_release_goes_on_with_older_records(bench: Bench, release: str) -> None:
    """Whatever an older release had written of a run when it stopped, this one brings it to the same end."""
    queue = f"upgrades-{release}"
    async with worker_of_this(bench, queue):
        for case, ran in recorded(release).items():
            for name, output in await go_on(bench, queue, f"{queue}-{case}", ran):
                assert output == OUTPUTS[name], name


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("case", [case.id for case in CASES])
async def test_histories_of_older_releases_replay(case: str, release: str) -> None:
    """What an older worker did, this one would have done, command by command."""
    replayer = Replayer(
        workflows=[Suspending],
        unsandboxed_workflow_runner=UnsandboxedWorkflowRunner(),
        data_converter=CONVERTER,
        debug_mode=True,
    )
    for execution in recorded(release)[case]:
        history = WorkflowHistory.from_json(execution.workflow_id, execution.history)
        outcome = await replayer.replay_workflow(history, raise_on_replay_failure=False)
        assert outcome.replay_failure is None


@pytest.mark.parametrize("release", RELEASES)
def test_calls_of_older_releases_are_read(release: str) -> None:
    """Each record of a call says the same when it is written again."""
    calls = [call for ran in recorded(release).values() for execution in ran for call in execution.calls]
    assert {"arguments", "deferred", "retry", "secrets"} <= {key for call in calls for key in call}
    for call in calls:
        read = call_from_json(call, activity_id="A/f#1", state="A")
        assert call_to_json(read, call["source"]) == call


@pytest.mark.parametrize("release", RELEASES)
async def test_an_older_release_goes_on_with_our_records(bench: Bench, release: str) -> None:
    """Whatever this release has written of a run, an older worker brings it to the same end."""
    semantics = SEMANTICS_OF[release]  # one that began with a later reading is not for it
    ours, theirs = f"upgrades-ours-{release}", f"upgrades-theirs-{release}"
    with worker_of(release, bench, theirs):
        async with worker_of_this(bench, ours):
            written = await asyncio.gather(*(_run_here(case, bench, ours, semantics) for case in CASES))
        assert all(len(ran) > 1 for ran in written)
        for ran in written:
            for name, output in await go_on(bench, theirs, theirs, ran):
                assert output == OUTPUTS[name], name


async def _run_here(case: Case, bench: Bench, queue: str, semantics: int) -> list[Execution]:
    handle = await case.start(
        bench.client, f"{queue}-{case.id}", queue, semantics=semantics, suspend_after=SUSPEND_AFTER
    )
    assert await asyncio.wait_for(result(handle), 60) == case.output
    return [one async for one in executions(bench.client, handle.id, handle.first_execution_run_id)]
