"""Instances of DSL 1.0 on a real server: long, cancelled, changed, reset, retried, killed, of several versions."""

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.operations.rerunning import plan_rerun, plan_retry
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.client import change_data
from tests.cli.conftest import Place
from tests.temporal.conftest import (
    Bench,
    events_of,
    failure_of,
    killed,
    outcome,
    replays,
    reset,
    start_worker,
    until,
    was_continued,
)
from tests.temporal.test_durability import Shop, asked, shop_served
from tests.temporal.test_rerunning import Calls, ended, gone_on


def dsl(name: str, *tasks: dict[str, Any], namespace: str = "dsl", version: str = "1.0.0", **rest: Any) -> Definition:
    document = {"dsl": "1.0.3", "namespace": namespace, "name": name, "version": version}
    return load({"document": document, "do": list(tasks), **rest})


def call(name: str, given: Any = None, **rest: Any) -> dict[str, Any]:
    """Return a task that calls the function of the worker that has its *name*."""
    return {name: {"call": f"{name}:1.0.0@default", **({} if given is None else {"with": given}), **rest}}


def heard(kind: str) -> dict[str, Any]:
    return {"listen": {"to": {"one": {"with": {"type": kind}}}}}


HOUR: dict[str, Any] = {"wait": {"hours": 1}}


async def test_a_long_loop_continues_as_new(bench: Bench) -> None:
    """Each call is made once, and what is carried over does not grow with the iterations."""
    work = call("work", {"i": "${ $i }"}, **{"if": "${ $i % 50 == 0 }"}, output={"as": "${ $input + .done }"})
    loop = {"for": {"each": "i", "in": "${ [range(5000)] }"}, "do": [work, {"count": {"set": "${ . + 1 }"}}]}
    definition = dsl("long", {"begin": {"set": "${ 0 }"}}, {"loop": loop})
    async with bench.worker(definition, work={"done": 0}) as worker:
        handle = await worker.start(suspend_after=60)
        assert await outcome(handle) == 5000
        assert await was_continued(handle)
    assert [given for _, given, *_ in worker.scripted.calls] == [{"i": i} for i in range(0, 5000, 50)]
    assert len({key for *_, key, _ in worker.scripted.calls}) == 100


EVERYTHING = {
    "call": [call("slow")],
    "wait": [{"pause": HOUR}],
    "listen": [{"hear": heard("never")}],
    "workflow": [{"child": {"run": {"workflow": {"namespace": "dsl", "name": "child", "version": "1.0.0"}}}}],
    "retry": [{"safe": {"try": [call("bad")], "catch": {"retry": {"delay": {"hours": 1}}}}}],
}


@pytest.mark.parametrize("way", ["fork", "race", "caught"])
async def test_is_cancelled_with_all_that_it_waits_for(bench: Bench, way: str) -> None:
    """No handler takes that for an error, and the sub-workflow ends with it."""
    branches = [{name: {"do": tasks}} for name, tasks in EVERYTHING.items()]
    fork = {"everything": {"fork": {"branches": branches, "compete": way == "race"}}}
    tasks = fork if way != "caught" else {"safe": {"try": [fork], "catch": {"do": [call("never")]}}}
    child = dsl("child", {"pause": HOUR})

    def bad(_: JSON) -> JSON:
        raise ValueError("bad")

    slow = asyncio.Event()
    async with bench.worker(dsl("all", tasks), child, slow=lambda _: slow.wait(), bad=bad, never={}) as worker:
        handle = await worker.start_awaiting("never")
        path = "/do/0/everything" if way != "caught" else "/do/0/safe/try/0/everything"
        inner = await bench.child(handle, f"{path}/fork/branches/3/workflow/do/0/child#1".lstrip("/"))
        await until(lambda: set(worker.called) == {"slow", "bad"})
        await until(lambda: inner.query("status"))
        await handle.cancel()
        assert (await failure_of(handle)).how == "cancelled"
        ends = WorkflowExecutionStatus.CANCELED, WorkflowExecutionStatus.TERMINATED
        await until(inner.describe, lambda told: told.status in ends)
        assert (await handle.describe()).status is WorkflowExecutionStatus.CANCELED
    assert await replays(await handle.fetch_history()) is None


async def test_its_data_are_changed_while_it_waits(bench: Bench) -> None:
    """Those of the innermost task that runs."""
    hear = {"hear": {**heard("go"), "output": {"as": "${ $input + {heard: .[0]} }"}}}
    definition = dsl("changed", {"begin": {"set": "${ . + {b: 1} }"}}, {"outer": {"do": [hear]}})
    async with bench.worker(definition) as worker:
        handle = await worker.start_awaiting("go", {"n": 1, "m": 1})
        await change_data(bench.client, handle.id, {"n": 2, "m": None})
        await worker.awaiting(handle, "go")
        assert await swf.query(bench.client, handle.id, "data") == {"n": 2, "b": 1}
        await worker.send(handle, {"specversion": "1.0", "id": "1", "source": "s", "type": "go", "data": 3})
        assert await outcome(handle) == {"n": 2, "b": 1, "heard": 3}
    assert await replays(await handle.fetch_history()) is None


async def test_its_data_are_changed_while_a_call_is_in_progress(bench: Bench) -> None:
    """The task that comes next begins with the changed data, in a list of tasks and in a loop."""
    going, made = asyncio.Event(), list[JSON]()

    async def first(_: JSON) -> JSON:
        made.append("first")
        await going.wait()
        return {"n": 1, "m": 1}

    loop = {"loop": {"for": {"in": "${ [1] }"}, "do": [call("first"), {"second": {"set": "${ . + {second: true} }"}}]}}
    async with bench.worker(dsl("calling", {"outer": {"do": [loop]}}), first=first) as worker:
        handle = await worker.start({})
        await until(lambda: made)
        changing = asyncio.create_task(change_data(bench.client, handle.id, {"n": 2}))
        await asyncio.sleep(0.2)
        assert not changing.done()
        going.set()
        await changing
        assert await outcome(handle) == {"n": 2, "m": 1, "second": True}
    assert made == ["first"]


async def test_goes_on_after_a_reset(bench: Bench) -> None:
    definition = dsl("reset", call("one", "${ . }"), {"hear": heard("go")}, call("two", "${ . }"))
    async with bench.worker(definition, one={"one": 1}, two={"two": 2}) as worker:
        handle = await worker.start_awaiting("go")
        again = await reset(handle, bench.client)
        await worker.awaiting(again, "go")
        await worker.send(again, {"specversion": "1.0", "id": "1", "source": "s", "type": "go"})
        assert await outcome(again) == {"two": 2}
    assert worker.called == ["one", "one", "two"]
    assert len({key for name, _, key, _ in worker.scripted.calls if name == "one"}) == 1


NESTED = dsl(
    "nested",
    call("first"),
    {"loop": {
        "for": {"each": "i", "in": "${ [1, 2] }"},
        "do": [
            {"both": {"fork": {"branches": [
                {"left": {"do": [call("second"), call("third")]}},
                {"right": {"set": {}}},
            ]}}},
            {"safe": {"try": [call("fourth")], "catch": {"errors": {"with": {"status": 418}}}}},
        ],
    }},
    call("last"),
)  # fmt: skip
NAMES = ("first", "second", "third", "fourth", "last")


@pytest.mark.parametrize("name", ["third", "fourth", "last"])
async def test_is_retried_where_it_failed(bench: Bench, name: str) -> None:
    """In a loop, in a branch, and where an error is not caught: no complete call is made again."""
    calls = Calls(name)
    async with bench.worker(NESTED, **calls.functions(*NAMES)) as worker:
        handle = await worker.start({})
        assert await ended(handle) is None
        calls.broken.clear()
        made = list(calls.made)
        output = await gone_on(bench, await plan_retry(Client(bench.client), handle.id))
    assert output == {"last": 1 if name != "last" else 2}
    assert calls.made[len(made)] == name
    assert {one: calls.made.count(one) for one in NAMES} == {
        one: (1 if one in ("first", "last") else 2) + (one == name) for one in NAMES
    }
    assert len({key for one, _, key, _ in worker.scripted.calls if one == name}) == (1 if name == "last" else 2)


async def test_a_retry_does_not_repeat_a_call_whose_output_could_not_be_transformed(bench: Bench) -> None:
    calls, made = Calls(), call("first", output={"as": '${ error("not now") }'})
    async with bench.worker(dsl("untransformed", made), **calls.functions("first")) as worker:
        handle = await worker.start({})
        assert await ended(handle) is None
        assert await gone_on(bench, await plan_retry(Client(bench.client), handle.id)) is None
    assert calls.made == ["first"]


async def test_a_race_that_was_lost_is_run_again_by_a_retry(bench: Bench) -> None:
    branches = [{"left": {"do": [call("first"), call("second")]}}, call("third")]
    calls = Calls("second", "third")
    async with bench.worker(
        dsl("lost", {"race": {"fork": {"branches": branches, "compete": True}}}), **calls.functions(*NAMES)
    ) as worker:
        handle = await worker.start({})
        assert await ended(handle) is None
        calls.broken.remove("second")
        assert await gone_on(bench, await plan_retry(Client(bench.client), handle.id)) == {"second": 2}
    assert calls.made.count("first") == 1


@pytest.mark.parametrize(
    ("place", "made", "before"),
    [("/do/1/middle/do/1/third", ["third", "last"], {"second": 1}), ("third", ["third", "last"], {"second": 1}),
     ("middle", ["second", "third", "last"], {"first": 1})],
)  # fmt: skip
async def test_runs_again_from_a_task_by_its_pointer_or_its_name(
    bench: Bench, place: str, made: list[str], before: dict[str, JSON]
) -> None:
    """With its data changed: the input of that task, wherever it is."""
    calls = Calls()
    do = [call("second", "${ . }"), call("third", "${ . }")]
    definition = dsl("rerun", call("first"), {"middle": {"do": do}}, call("last", "${ . }"))
    async with bench.worker(definition, **calls.functions(*NAMES)) as worker:
        handle = await worker.start({})
        assert await ended(handle) == {"last": 1}
        plan = await plan_rerun(Client(bench.client), handle.id, place, patch={"changed": True})
        assert await gone_on(bench, plan) == {"last": 2}
    assert calls.made == [*("first", "second", "third", "last"), *made]
    [given, *_] = [one for name, one, *_ in worker.scripted.calls[4:]]
    assert given == {**before, "changed": True}


async def test_a_task_in_a_loop_is_no_place_to_run_again_from(bench: Bench) -> None:
    loop = {"loop": {"for": {"in": "${ [1] }"}, "do": [call("first")]}}
    async with bench.worker(dsl("within", loop), first={}) as worker:
        handle = await worker.start({})
        await outcome(handle)
        with pytest.raises(UsageError) as refused:
            await plan_rerun(Client(bench.client), handle.id, "first")
    assert "is in a branch or an iteration" in refused.value.message
    assert refused.value.hint == "name the task that has it: /do/0/loop"


async def test_tenants_and_versions_side_by_side(bench: Bench) -> None:
    """Each instance keeps its version, and runs other workflows of the version and the namespace that it names."""
    both = [
        dsl("told", {"tell": {"set": {"by": f"{namespace} {version}"}}}, namespace=namespace, version=version)
        for namespace in ("one", "two") for version in ("1.0.0", "2.0.0")
    ]  # fmt: skip
    run = {"run": {"workflow": {"namespace": "two", "name": "told", "version": "1.0.0"}}}
    latest = {"run": {"workflow": {"namespace": "two", "name": "told", "version": "latest"}}}
    asking = dsl(
        "asking", {"hear": heard("go")}, {"first": {**run, "export": {"as": ".by"}}}, {"second": latest},
        namespace="one", output={"as": "${ [$context, .by] }"},
    )  # fmt: skip
    async with bench.worker(*both, asking) as worker:
        handles = [await worker.start(definition=number) for number in range(4)]
        assert [await outcome(one) for one in handles] == [
            {"by": by} for by in ("one 1.0.0", "one 2.0.0", "two 1.0.0", "two 2.0.0")
        ]
        waiting = await worker.start_awaiting("go", definition=4)
    newer = dsl("asking", {"tell": {"set": "${ 2 }"}}, namespace="one", version="2.0.0")
    async with bench.worker(newer, *both, queue=worker.queue) as later:
        await later.send(waiting, {"specversion": "1.0", "id": "1", "source": "s", "type": "go"})
        assert await outcome(waiting) == ["two 1.0.0", "two 2.0.0"]
        assert await later.run() == 2


CHARGING = """
document: {dsl: 1.0.3, namespace: killing, name: shop, version: 1.0.0}
do:
- reserve: {call: http, with: {method: post, endpoint: 'URL/reserve', body: {}}}
- charge:
    fork:
      branches:
      - each:
          for: {each: n, in: '${ [1, 2] }'}
          do: [{pay: {call: http, with: {method: post, endpoint: 'URL/charge', body: {}}}}]
"""


async def test_what_a_killed_worker_had_begun_is_made_again_with_its_key(bench: Bench, tmp_path: Path) -> None:
    """By a `try` that repeats it: what was complete is not made again."""
    shop, place, queue = Shop(), Place(tmp_path), f"dsl-killed-{os.getpid()}"
    with shop_served(shop) as url:
        place.write("shop.yaml", CHARGING.replace("URL", url))
        start = partial(start_worker, bench, tmp_path, queue, SWF_ALLOW_HOSTS="127.0.0.1", HEARTBEAT="3")
        worker = start()
        try:
            handle = await bench.client.start_workflow("killing.shop", {}, id=queue, task_queue=queue)
            await asked(shop, "charge", 1)
            killed(worker)
            shop.answers.set()
            worker = start()
            failed = await ended(handle)
            output = failed or await gone_on(bench, await plan_retry(Client(bench.client), queue))
        finally:
            killed(worker)
    assert output == [{"charge": True}]
    assert len(shop.keys["reserve"]) == 1
    assert len(shop.keys["charge"]) == 3
    assert len(set(shop.keys["charge"])) == 2


async def test_a_subscription_goes_on_where_it_was(bench: Bench) -> None:
    """Also in another execution: each message is consumed once, and acknowledged with the next portion."""
    each = {"item": "message", "do": [call("store", {"n": "${ $message }"}), {"pause": {"wait": {"milliseconds": 10}}}]}
    given = {
        "document": {"endpoint": "https://example.com/asyncapi.json"}, "operation": "readings",
        "subscription": {"consume": {"amount": 6}, "foreach": each},
    }  # fmt: skip
    asked_for: list[Any] = []

    def consume(arguments: Any) -> JSON:
        asked_for.append(arguments)
        number = len(asked_for) * 2
        return None if arguments.get("end") else {"messages": [number - 1, number], "receipt": number}

    async with bench.worker(
        dsl("subscribed", {"consume": {"call": "asyncapi", "with": given}}), consume=consume, store=lambda one: one
    ) as worker:
        handle = await worker.start(suspend_after=25)
        assert await outcome(handle) == [{"n": n} for n in range(1, 7)]
        assert await was_continued(handle)
    assert [one.get("receipt") for one in asked_for] == [None, 2, 4, None]
    assert len({one["subscription"] for one in asked_for}) == 1
    assert worker.called.count("store") == 6
    assert await events_of(handle)
