"""The plugin of the SDK: definitions beside workflows and activities written by hand."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from temporalio import activity, workflow
from temporalio import client as temporal
from temporalio.common import RawValue
from temporalio.worker import Replayer, Worker

import swf_temporal
from swf_temporal import Client, InvalidDefinition, Plugin, UsageError, load
from swf_temporal.base.grammar import with_article
from tests.app.hand_written import GREETING, Asking, Finding, Refusing, Shouting, shout
from tests.definitions import definition
from tests.sampling import count

DEFINITION = definition("""\
id: shouting
functions: [{name: double, type: custom}, {name: louder, type: custom, operation: "temporal:shout"}]
states:
  - name: Work
    type: operation
    actions:
      - {functionRef: {refName: double, arguments: {n: "${ .n }"}}, actionDataFilter: {toStateData: "${ .twice }"}}
      - {functionRef: {refName: louder, arguments: ["${ .text }"]}, actionDataFilter: {toStateData: "${ .said }"}}
    end: true
""")
MANY = count(8, 40)
"""How many of each kind run at once."""


@workflow.defn(name="shouting")
class Same:
    @workflow.run
    async def run(self) -> None:
        """Do nothing."""


@workflow.defn(dynamic=True)
class Dynamic:
    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> None:
        """Do nothing."""


FUNCTIONS = {"double": lambda n: 2 * n}


@pytest.fixture
def address(client: Client) -> str:
    return client.address


@pytest.fixture
def plugin() -> Plugin:
    return Plugin(definitions=[DEFINITION], functions=FUNCTIONS)


async def connected(address: str, *plugins: temporal.Plugin) -> temporal.Client:
    """Return a client of its own, so that several workers of a task queue can be in one process."""
    return await temporal.Client.connect(address, plugins=plugins)


async def run_many(client: temporal.Client, queue: str) -> None:
    """Run as many of both kinds at once, and see what comes out."""

    async def by_hand(n: int) -> str:
        return await client.execute_workflow(Shouting.run, f"text {n}", id=f"{queue}-hand-{n}", task_queue=queue)

    async def defined(n: int) -> Any:
        data = {"n": n, "text": f"text {n}"}
        return await client.execute_workflow("shouting", data, id=f"{queue}-{n}", task_queue=queue)

    shouted = await asyncio.gather(*map(by_hand, range(MANY)))
    assert shouted == [f"TEXT {n}" for n in range(MANY)]
    outputs = await asyncio.gather(*map(defined, range(MANY)))
    assert outputs == [{"n": n, "text": f"text {n}", "twice": 2 * n, "said": f"TEXT {n}"} for n in range(MANY)]


@pytest.mark.temporal
async def test_one_worker_does_both(address: str, plugin: Plugin) -> None:
    client = await connected(address, plugin)
    async with Worker(client, task_queue="both", workflows=[Shouting], activities=[shout]):
        await run_many(client, "both")
    replayer = Replayer(workflows=[Shouting], plugins=[plugin])
    for workflow_id in ("both-1", "both-hand-1"):
        await replayer.replay_workflow(await client.get_workflow_handle(workflow_id).fetch_history())


@pytest.mark.temporal
async def test_two_workers_do_both(address: str, plugin: Plugin) -> None:
    """Two workers of the same kind share a queue, and one object is the plugin of their clients and of themselves."""
    client = await connected(address, plugin)
    other = await connected(address)
    options: dict[str, Any] = {"workflows": [Shouting], "activities": [shout]}
    async with (
        Worker(client, task_queue="shared", **options),
        Worker(other, task_queue="shared", plugins=[plugin], **options),
    ):
        await run_many(client, "shared")


@pytest.mark.temporal
async def test_modules_of_the_package_are_not_run_again_in_the_sandbox(address: str) -> None:
    """A workflow by hand has the worker's own classes, with the plugin or without; with it, all that is in modules."""
    client = await connected(address)
    for queue, plugins in (("plain", []), ("plugged", [Plugin(definitions=DEFINITION)])):
        async with Worker(client, task_queue=queue, workflows=[Finding], plugins=plugins):
            found = await client.execute_workflow(Finding.run, id=queue, task_queue=queue)
        is_the_same = found.pop("of a module") == id(with_article)
        assert is_the_same == bool(plugins)
        assert found == {name: id(getattr(swf_temporal, name)) for name in found}
        assert "Registry" in found


CALLING = definition("""\
id: calling
functions:
  - {name: loud, type: custom, operation: "temporal:workflow:Shouting"}
  - {name: none, type: custom, operation: "temporal:workflow:Refusing", metadata: {startToCloseTimeout: PT1M}}
errors: [{name: sold out, code: SoldOut}]
states:
  - name: Wait
    type: operation
    actions:
      - {functionRef: {refName: loud, arguments: ["${ .text }"]}, actionDataFilter: {toStateData: "${ .said }"}}
      - {functionRef: {refName: loud, arguments: [later], invoke: async}}
    transition: Fail
  - name: Fail
    type: operation
    actions: [{functionRef: none}]
    onErrors: [{errorRef: sold out, end: true}]
    end: true
""")


@pytest.mark.temporal
async def test_a_definition_runs_workflows_by_hand(address: str) -> None:
    """As it calls activities: it waits for them or not, and their errors are errors of the call."""
    client = await connected(address, Plugin(definitions=CALLING))
    async with Worker(client, task_queue="calling", workflows=[Shouting, Refusing], activities=[shout]):
        output = await client.execute_workflow("calling", {"text": "text"}, id="calling", task_queue="calling")
    assert output == {"text": "text", "said": "TEXT"}
    history = await client.get_workflow_handle("calling").fetch_history()
    begun = [
        one.start_child_workflow_execution_initiated_event_attributes.workflow_type.name
        for one in history.events
        if one.HasField("start_child_workflow_execution_initiated_event_attributes")
    ]
    assert begun == ["Shouting", "loud", "Refusing"]


@pytest.mark.temporal
async def test_a_workflow_by_hand_has_an_instance_as_its_child(address: str) -> None:
    client = await connected(address, Plugin(definitions=GREETING, functions={"double": lambda n: {"twice": 2 * n}}))
    async with Worker(client, task_queue="asking", workflows=[Asking]):
        for by_id in (True, False):
            output = await client.execute_workflow(Asking.run, by_id, id=f"asking-{by_id}", task_queue="asking")
            assert output == {"n": 3, "twice": 6}
    child = await client.get_workflow_handle("asking-False-child").fetch_history()
    assert "specVersion" in str(child.events[0].workflow_execution_started_event_attributes.input)


@pytest.mark.temporal
async def test_what_a_worker_does_not_serve_is_left_to_another(address: str, plugin: Plugin) -> None:
    client = await connected(address, plugin)
    async with Worker(client, task_queue="apart"):
        handle = await client.start_workflow(Shouting.run, "text", id="apart", task_queue="apart")
        told = await failed_task(handle)
        assert "'Shouting' is not" in told or "no definition 'Shouting' is known here" in told
    async with Worker(await connected(address), task_queue="apart", workflows=[Shouting], activities=[shout]):
        assert await handle.result() == "TEXT"


async def failed_task(handle: temporal.WorkflowHandle[Any, Any]) -> str:
    async with asyncio.timeout(30):
        while True:
            async for event in handle.fetch_history_events():
                if event.HasField("workflow_task_failed_event_attributes"):
                    return event.workflow_task_failed_event_attributes.failure.message
            await asyncio.sleep(0.02)


@pytest.mark.temporal
async def test_definitions_come_and_go_while_a_worker_works(address: str) -> None:
    plugin = Plugin(functions=FUNCTIONS)
    client = await connected(address, plugin)
    text = (
        'id: said\nversion: 1.0.0\nspecVersion: "0.8"\nstates: [{name: Say, type: inject, data: {said: 1}, end: true}]'
    )
    async with Worker(client, task_queue="changing", activities=[shout]):
        plugin.definitions.add(text)
        assert await client.execute_workflow("said", {}, id="said-1", task_queue="changing") == {"said": 1}
        other = text.replace("said: 1", "said: 2")
        plugin.definitions.add(text)
        with pytest.raises(UsageError, match=r"'said' is served already in version 1\.0\.0, with another content"):
            plugin.definitions.add(other)
        with pytest.raises(InvalidDefinition):
            plugin.definitions.add(text.replace("end: true", "transition: Nowhere"))
        with pytest.raises(UsageError, match="and an activity of the worker have the same name"):
            plugin.definitions.add(DEFINITION.replace("louder", "shout").replace(', operation: "temporal:shout"', ""))
        assert ("said" in plugin.definitions, "sad" in plugin.definitions) == (True, False)
        assert (load(text) in plugin.definitions, load(other) in plugin.definitions) == (True, False)
        plugin.definitions.add(other, replace=True)
        assert await client.execute_workflow("said", {}, id="said-2", task_queue="changing") == {"said": 2}
        plugin.definitions.remove("said")
        assert list(plugin.definitions) == []
        with pytest.raises(UsageError, match="there is no definition 'said' here"):
            plugin.definitions.remove("said")


@pytest.mark.temporal
async def test_what_cannot_stand_beside_definitions_is_told(address: str) -> None:
    client = await connected(address)

    @activity.defn(name="double")
    async def double(n: int) -> int:
        return n

    for told, options in {
        "'shouting' and a workflow of the worker have the same name": {"workflows": [Same]},
        "already has a dynamic workflow": {"workflows": [Dynamic]},
        "the function 'double' of 'shouting' and an activity": {"activities": [double]},
    }.items():
        with pytest.raises(UsageError, match=told):
            Worker(client, task_queue="names", plugins=[Plugin(definitions=DEFINITION)], **options)  # type: ignore[arg-type]


@pytest.mark.temporal
async def test_a_worker_of_ours_takes_what_is_written_by_hand(address: str) -> None:
    client = await Client.connect(address)
    worker = swf_temporal.Worker(
        client, definitions=DEFINITION, functions=FUNCTIONS, task_queue="ours", workflows=[Shouting], activities=[shout]
    )
    async with worker:
        assert await client.temporal.execute_workflow(Shouting.run, "text", id="ours", task_queue="ours") == "TEXT"
        with pytest.raises(UsageError, match="this worker works already"):
            await worker.__aenter__()
        with pytest.raises(UsageError, match="has a worker of the task queue 'ours' on this client already"):
            await swf_temporal.Worker(client, definitions=DEFINITION, task_queue="ours").__aenter__()
