"""Definitions that run in a cycle, or deep down, on a real server."""

import pytest

from swf_temporal.languages.port import Definition
from swf_temporal.runtime.budgets import InstanceLimits
from swf_temporal.runtime.ids import MAX_ID_BYTES, MAX_INSTANCE_ID_BYTES
from tests.sampling import count
from tests.temporal.building import inject, operation, subflow, switch
from tests.temporal.conftest import Bench, calling, define, failure_of, outcome, told_in, until
from tests.temporal.suspending import SUSPEND_AFTER

STRICT = InstanceLimits(states=2_000, executions=10, depth=25)
LONG = "é" * 600
"""In bytes 1,200."""


def _counting(to: int) -> Definition:
    """Return a definition that counts, by two states a round."""
    count = inject("Count", {"n": "${ .n + 1 }"}, transition="Enough")
    return define(count, switch("Enough", f"${{ .n >= {to} }}", {"end": True}, {"transition": "Count"}))


async def test_what_was_used_up_goes_on_with_the_run(bench: Bench) -> None:
    async with bench.worker(_counting(1_000_000), limits=STRICT) as worker:
        ended = await worker.failure({"n": 0}, **{SUSPEND_AFTER: 1_500})
    assert ended.name == "StepLimitExceeded"
    assert "2,000 states ran without waiting for anything, in a cycle: states 'Count' and 'Enough'" in str(ended)


async def test_a_workflow_that_continues_as_itself_and_never_waits_is_given_up(bench: Bench) -> None:
    """The cycle leads through two workflows; what either of them waits for would end it."""
    first, second = (
        define(inject(f"In {own}", end={"continueAs": other}), id=own)
        for own, other in (("ping", "pong"), ("pong", "ping"))
    )
    ended = await bench.failure([first, second], limits=STRICT)
    assert ended.name == "StepLimitExceeded"
    assert "10 executions were started without waiting for anything, each by the one before" in str(ended)
    assert "'ping' and 'pong' continue as each other" in str(ended)


async def test_workflows_that_run_each_other_without_end_are_given_up(bench: Bench) -> None:
    first, second = (
        define(subflow("Down", other, end=True), id=own) for own, other in (("chicken", "egg"), ("egg", "chicken"))
    )
    ended = await bench.failure([first, second], limits=STRICT)
    assert ended.name == "StepLimitExceeded"
    told = "'chicken' and 'egg' run each other, and no more than 25 levels are run"
    assert f"did 25 levels down: too many sub-workflows wait for one another: {told}" in str(ended)


@pytest.mark.filterwarnings("ignore:Cannot find activity to cancel:UserWarning")  # of the SDK, for one that has ended
async def test_workflows_that_run_themselves_many_times_at_once_are_given_up(bench: Bench) -> None:
    """All levels fail, though each handles whatever error; nothing is left of them."""
    branches = [{"name": f"b{n}", "actions": [{"subFlowRef": "bomb"}]} for n in range(10)]
    caught = [{"errorRef": "any", "end": True}]
    burst = {"name": "Burst", "type": "parallel", "branches": branches, "onErrors": caught}
    bomb = define(burst, id="bomb", errors=[{"name": "any", "code": "*"}])
    limits = InstanceLimits(descendants=1_000)
    async with bench.worker(bomb, limits=limits) as worker:
        ended = await worker.failure()
        assert ended.name == "TooManySubflows"
        assert "'bomb' runs itself, and no more than 1,000 are run" in str(ended)
        query = f"TaskQueue = '{worker.queue}'"
        running = f"{query} AND ExecutionStatus = 'Running'"
        await until(lambda: bench.client.count_workflows(running), lambda one: not one.count)
        assert (await bench.client.count_workflows(query)).count < 500


async def test_workflows_that_leave_each_other_behind_without_end_are_given_up(bench: Bench) -> None:
    """Nobody waits for them, so that they would never end: one that begins the next without waiting is one too many."""
    definition = define(
        subflow("Again", {"workflowId": "seed", "invoke": "async", "onParentComplete": "continue"}, end=True), id="seed"
    )
    async with bench.worker(definition, limits=STRICT) as worker:
        handle = await worker.start()
        last = handle.id
        for _ in range(10):
            await bench.handle(last).result()
            last = (await bench.child(last, "Again/seed#1")).id
        assert "'seed' continues as itself" in str(await failure_of(bench.handle(last)))


async def test_many_levels_with_long_names_end_right(bench: Bench) -> None:
    down = f"Down {LONG}"
    definition = define(
        switch("Look", "${ .level > 0 }", {"transition": down}, {"transition": "Bottom"}),
        operation(
            down, {"subFlowRef": "tower", "actionDataFilter": {"fromStateData": "${ {level: (.level - 1)} }"}}, end=True
        ),
        inject("Bottom", {"reached": True}, end=True),
        id="tower",
    )
    async with bench.worker(definition) as worker:
        handle = await worker.start({"level": count(12, 200)})
        assert await outcome(handle) == {"level": 0, "reached": True}
        child_id = (await told_in(handle, "child_workflow_execution_started"))[0].workflow_execution.workflow_id
    assert "/Down é" in child_id
    assert len(child_id.encode()) <= MAX_INSTANCE_ID_BYTES


async def test_a_call_in_a_state_with_a_long_name_is_made(bench: Bench) -> None:
    """Its id would be longer than the server takes, and the run would stand still."""
    definition = define(calling(LONG, "ship"), functions=("ship",))
    async with bench.worker(definition, ship={"shipped": True}) as worker:
        handle = await worker.start()
        assert await handle.result() == {"shipped": True}
        activity_id = (await told_in(handle, "activity_task_scheduled"))[0].activity_id
    assert activity_id.startswith("éé")
    assert len(activity_id.encode()) <= MAX_ID_BYTES
