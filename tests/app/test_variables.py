"""Variables in a database, of instances on a real server; and workers that do not agree where they are."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from swf_temporal import Client, RunEnded, UsageError, Worker, WorkerSettings
from swf_temporal.base.data import JSON
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.sdk import stores, working
from swf_temporal.sdk.definitions import catalogue_of
from swf_temporal.sdk.stores import SqlVariables
from swf_temporal.temporal import variable_claims
from tests.stores.servers import PostgreSql, postgresql

pytestmark = pytest.mark.temporal

COUNTING: Any = {
    "id": "counting",
    "states": [{"id": "get", "type": "getter", "variables": [{"key": "n", "scope": "workflow"}], "transition": "set"},
               {"id": "set", "type": "setter",
                "variables": [{"key": "n", "scope": "workflow", "value": "jq((.var.n // 0) + 1)"},
                              {"key": "own", "value": "jq(.var.n)"}], "transition": "again"},
               {"id": "again", "type": "getter", "variables": [{"key": "n", "scope": "workflow"}, {"key": "own"}],
                "transform": "jq(.var)"}],
}  # fmt: skip


@pytest.fixture
def queue() -> str:
    return f"variables-{uuid4().hex}"


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'variables.db'}"


@pytest.fixture(scope="session")
def server() -> Any:
    with postgresql() as running:
        yield running


def worker(client: Client, queue: str, where: str = "temporal") -> Worker:
    """Return a worker, with a connection of its own, that holds variables at *where*."""
    return Worker(client.address, definitions=[COUNTING], settings=WorkerSettings(task_queue=queue, variables=where))


async def run(client: Client, queue: str) -> JSON:
    return await (await client.start("counting", {}, task_queue=queue)).result()


async def test_instances_share_what_a_file_holds(client: Client, queue: str, database: str) -> None:
    async with worker(client, queue, database):
        assert await run(client, queue) == {"n": 1, "own": None}
    async with worker(client, queue, database), worker(client, queue, database):
        assert await run(client, queue) == {"n": 2, "own": 1}
    found = client.temporal.list_workflows(f"WorkflowType = 'swf variables' AND TaskQueue = '{queue}'")
    assert [one.id async for one in found] == [f"variables:store:{queue}"]


async def test_instances_share_what_postgresql_holds(client: Client, queue: str, server: PostgreSql) -> None:
    address = server.fresh()
    async with worker(client, queue, address), worker(client, queue, address):
        await asyncio.gather(*(run(client, queue) for _ in range(10)))
    store = await SqlVariables.opened(address, "default", "")
    found = await store.read_variable(VariableRef("workflow", "counting", "n"))
    await store.aclose()
    assert found is not None
    assert 1 <= int(found.content) <= 10
    marker = await client.temporal.get_workflow_handle(f"variables:store:{queue}").describe()
    assert (await marker.memo())["where"] == address.replace("a-password", "…")


async def test_those_of_an_instance_go_once_it_has_ended(
    client: Client, queue: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "CHECK_INTERVAL", timedelta(seconds=-1))
    monkeypatch.setattr(working, "SWEEPING", 0.05)
    async with worker(client, queue, database):
        instance = await client.start("counting", {}, task_queue=queue)
        await instance.result()
        first = (await client.temporal.get_workflow_handle(instance.id).describe()).run_id
        store = await SqlVariables.opened(database, "default", "")
        own = VariableRef("instance", f"{instance.id}/{first}", "own")
        while await store.read_variable(own) is not None:
            await asyncio.sleep(0.02)
        assert await store.read_variable(VariableRef("workflow", "counting", "n")) is not None
        await store.aclose()


async def test_what_is_too_much_for_a_getter(client: Client, queue: str, database: str) -> None:
    """A database may hold more than a payload carries: the instance fails, and is not tried for ever."""
    async with worker(client, queue, database):
        store = await SqlVariables.opened(database, "default", "")
        of = VariableRef("workflow", "counting", "n")
        await store.write_variables({of: Variable(bytes(3_000_000))}, "big")
        await store.aclose()
        with pytest.raises(RunEnded, match="the value of the variable 'n' can be in a state's data"):
            await run(client, queue)


async def test_a_folder_is_no_file(client: Client, queue: str, tmp_path: Path) -> None:
    """What cannot be read as a file of the namespace fails the instance, and is not tried for ever."""
    (tmp_path / "data").mkdir()
    text = "states: [{id: get, type: getter, variables: [{key: data, scope: file}]}]"
    (tmp_path / "reading.yaml").write_text(text)
    settings = WorkerSettings(task_queue=queue)
    catalogue = catalogue_of([tmp_path])
    async with Worker(client.address, definitions=catalogue, settings=settings):
        with pytest.raises(RunEnded, match="data is a folder of the namespace, not a file"):
            await (await client.start("/reading.yaml", {}, task_queue=queue)).result()


async def test_a_worker_with_another_store_does_not_start(
    client: Client, queue: str, database: str, tmp_path: Path
) -> None:
    async with worker(client, queue, database):
        await run(client, queue)
    for other in ("temporal", f"sqlite:///{tmp_path / 'other.db'}"):
        with pytest.raises(UsageError) as refused:
            async with worker(client, queue, other):
                pass
        assert f"'{queue}' are held in {database}" in str(refused.value)
        assert f"swf terminate variables:store:{queue}" in str(refused.value)
    await client.instance(f"variables:store:{queue}").terminate("another database")
    async with worker(client, queue, f"sqlite:///{tmp_path / 'other.db'}"):
        assert await run(client, queue) == {"n": 1, "own": None}


async def test_the_same_path_on_another_machine_is_another_store(client: Client, queue: str, tmp_path: Path) -> None:
    """A file of SQLite is on one machine; workers on two do not share it, whatever its path is."""
    file = tmp_path / "variables.db"
    async with worker(client, queue, f"sqlite:///{file}"):
        pass
    file.unlink()
    with pytest.raises(UsageError, match=r"would hold them in sqlite:///.*, which is another database"):
        async with worker(client, queue, f"sqlite:///{file}"):
            pass


async def test_what_temporal_holds_is_not_forgotten(client: Client, queue: str, database: str) -> None:
    async with worker(client, queue):
        assert await run(client, queue) == {"n": 1, "own": None}
    held = f"WorkflowType = 'swf variables' AND TaskQueue = '{queue}'"
    while (await client.temporal.count_workflows(held)).count < 2:  # the workflow's scope, and the instance's
        await asyncio.sleep(0.05)
    with pytest.raises(UsageError, match="held in Temporal, in 2 workflows") as refused:
        async with worker(client, queue, database):
            pass
    assert "leave `variables` out" in str(refused.value)


async def test_workers_that_disagree_write_nowhere(
    client: Client, queue: str, database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One that works already when another store is chosen logs it, and its attempts are repeated until they agree."""
    monkeypatch.setattr(variable_claims, "CHECKING", 0.0)
    former = worker(client, queue)
    async with former:
        async with worker(client, queue, database):
            pass
        instance = await client.start("counting", {}, task_queue=queue)
        while "nothing is read or written here until the workers agree" not in caplog.text:
            await asyncio.sleep(0.02)
        pending = (await client.temporal.get_workflow_handle(instance.id).describe()).raw_description.pending_activities
        while not pending or not pending[0].HasField("last_failure"):
            found = await client.temporal.get_workflow_handle(instance.id).describe()
            pending = found.raw_description.pending_activities
        assert f"are held in {database}, and this worker would hold them in Temporal" in pending[0].last_failure.message
    async with worker(client, queue, database):
        assert await instance.result() == {"n": 1, "own": None}
