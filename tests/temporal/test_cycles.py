"""Definitions that run in a cycle, deep down, or long without waiting: replays of them take the same course."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from swf_temporal.base.accounting import HELPER_COST
from swf_temporal.base.data import JSON
from swf_temporal.expressions.guarding import guard
from swf_temporal.languages.port import Definition
from swf_temporal.runtime import run
from swf_temporal.runtime.budgets import InstanceLimits
from swf_temporal.runtime.cycles import MAX_COST
from swf_temporal.runtime.ids import MAX_ID_BYTES, MAX_INSTANCE_ID_BYTES
from tests.sampling import count
from tests.temporal.building import inject, operation, sleeps, subflow, switch
from tests.temporal.conftest import Bench, calling, define, failure_of, gives_way, outcome, replays, told_in, until
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


COUNT = "([range(120000)] | length)"
CONDITIONS = [{"condition": f"${{ {COUNT} < {number} }}", "end": True} for number in range(5)]
CHOOSING = {"name": "Choose", "type": "switch", "defaultCondition": {"transition": "Keep"}}
TEXT = {"n": f"a ${{ {COUNT} }}, ${{ {COUNT} + 1 }}"}


@pytest.fixture(autouse=True)
def _usual_limits() -> Iterator[None]:
    yield
    guard.configure(guard.EvaluationLimits())


async def test_a_replay_within_a_tenth_of_the_time_takes_the_same_course(bench: Bench) -> None:
    """What was found in time stands in the history, and so does that another expression took too long."""
    definition = define(
        {**CHOOSING, "dataConditions": CONDITIONS}, inject("Keep", TEXT), sleeps("Wait", "PT0.01S"),
        inject("Endless", {"x": "${ 1 | until(false; . + 1) }"}),
    )  # fmt: skip
    async with bench.worker(definition) as worker:
        handle = await worker.start({})
        failed = await failure_of(handle)
        assert await handle.query("data") == {"n": "a 120000, 120001"}
        history = await handle.fetch_history()

    assert "an expression ran longer than 1 s" in str(failed)
    assert failed.fault is not None
    assert (failed.fault.name, failed.fault.state) == ("ExpressionLimitExceeded", "Endless")
    evaluated = sum(event.HasField("marker_recorded_event_attributes") for event in history.events)
    assert evaluated == len(CONDITIONS) + 2 + 1
    guard.configure(guard.EvaluationLimits(seconds=0.1))
    assert await replays(history) is None


@pytest.mark.parametrize(
    ("expression", "data"),
    [
        ("${ .price *= .quantity | .price | length }", {"price": "12.50", "quantity": 100_000_000}),
        ("${ getpath(.place) = 1 | length }", {"place": ["items", 100_000_000]}),
        ("${ .new - .known | length }", {"new": [*range(20_000)], "known": [*range(20_000, 40_000)]}),
        ("${ . as $all | .known | map(. / ($all.known | add)) | length }", {"known": [*range(1, 5_000)]}),
    ],
)
async def test_an_expression_that_data_make_endless_fails(bench: Bench, expression: str, data: dict[str, JSON]) -> None:
    """A limit that data lead to is a fault of the run. Taken for one of the machine, it fails tasks for ever."""
    guard.configure(guard.EvaluationLimits(seconds=0.3))
    failed = await bench.failure(define(inject("Evaluate", {"x": expression})), data)
    assert failed.name == "ExpressionLimitExceeded"


async def test_what_is_recorded_of_evaluations_counts_as_it_is_written(bench: Bench) -> None:
    """A character that is not ASCII takes six bytes in a history. A server takes no more than 4 MiB at once."""
    text = {"x": '${ [range(280) | "я" * 1000] }'}
    states = [inject(name, text, stateDataFilter={"output": "${ {} }"}) for name in "ABCDE"]
    assert await bench.run(define(*states), {}) == {}


STATES = 500


def adding(number: int) -> dict[str, Any]:
    """Return a state whose expression only jq can evaluate, and which no other has."""
    output = f"${{ {{x: (.x + ([0, {number}] | max))}} }}"
    return inject(f"Add {number}", stateDataFilter={"output": output})


async def test_an_instance_that_is_queried_while_it_works_replays(bench: Bench) -> None:
    """It was started by its type alone; hundreds of its states are evaluated in helper processes."""
    definition = define(*map(adding, range(STATES)))
    async with bench.worker(definition) as worker:
        handle = await worker.begin(definition.id, {"x": 0}, workflow_id=f"queried-{worker.queue}")
        ending = asyncio.create_task(handle.result())
        while not ending.done():
            for query in ("status", "trace"):
                await handle.query(query)
        assert await ending == {"x": sum(range(STATES))}
        history = await handle.fetch_history()

    yields = sum(map(gives_way, history.events))
    assert yields >= STATES * HELPER_COST // MAX_COST
    assert await replays(history) is None


async def test_a_run_that_holds_too_much_fails_alike_on_replay(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much its data take is found out where they have grown."""
    monkeypatch.setattr(run, "STEP", 20_000)
    monkeypatch.setattr(run, "MAX_DATA_BYTES", 200_000)
    monkeypatch.setattr(run, "_OF_PAYLOAD", 0)
    states = [
        inject(f"Make {number}", stateDataFilter={"output": f'${{ .s{number} = ("{number % 10}" * 30000) }}'})
        for number in range(12)
    ]
    async with bench.worker(define(*states)) as worker:
        handle = await worker.start()
        failed = await failure_of(handle)

    assert "take more memory than the 0 MiB that a run may hold" in str(failed)
    assert failed.fault is not None
    assert (failed.fault.name, failed.fault.state) == ("PayloadTooLarge", "Make 7")
    assert await replays(await handle.fetch_history()) is None
