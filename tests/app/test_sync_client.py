"""The client for programs without an event loop, lists of instances, and following one."""

import asyncio
import inspect
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from swf_temporal import Client, Instance, InstanceNotFoundError, RunEnded, SyncClient, UsageError, Worker, load
from swf_temporal.operations.sync_client import SyncInstance
from tests.docs.api_page import is_public

PAYMENT = load("""\
id: payment
version: 1.0.0
specVersion: "0.8"
events: [{name: paid, type: com.paid, source: bank}]
states:
  - {name: Wait, type: event, onEvents: [{eventRefs: [paid]}], end: true}
""")
LATER = load(PAYMENT.source.text.replace("1.0.0", "2.0.0").replace("Wait", "Later"))
TWICE = load("""\
id: twice
version: 1.0.0
specVersion: "0.8"
events: [{name: paid, type: com.paid, source: bank}]
states:
  - {name: First, type: event, onEvents: [{eventRefs: [paid]}], end: {continueAs: payment}}
""")
PAID = {"name": "paid", "data": {"amount": 1}}


def _members(kind: type) -> set[str]:
    return {name for name in vars(kind) if is_public(kind.__name__, name) and not name.startswith("_")}


def test_every_member_has_its_like() -> None:
    """What a client and its instances have, the ones that wait have with the same arguments; but no SDK's handle."""
    assert _members(SyncClient) == _members(Client) | {"close"}
    assert _members(SyncInstance) == _members(Instance) - {"handle"}
    for kind, like in ((SyncClient, Client), (SyncInstance, Instance)):
        for name in _members(like) & _members(kind):
            mine, other = vars(kind)[name], vars(like)[name]
            if inspect.isfunction(other):
                assert inspect.signature(mine).parameters == inspect.signature(other).parameters, name
    assert inspect.signature(SyncClient.connect).parameters == inspect.signature(Client.connect).parameters


@pytest.fixture
async def served(client: Client) -> AsyncIterator[Client]:
    async with Worker(client, definitions=[PAYMENT, LATER, TWICE], task_queue="sync"):
        yield client


@pytest.mark.temporal
async def test_a_program_without_an_event_loop(served: Client) -> None:
    """It starts, lists, follows, sends and waits; errors are those of the client, and a closed client says so."""

    def program() -> list[str]:
        with SyncClient.connect(served.address) as client:
            instance = client.start("payment", {}, version="1.0.0", workflow_id="sync-1", task_queue="sync")
            kinds = []
            for entry in instance.follow():
                kinds.append(entry["kind"])
                if entry["kind"] == "state-entered":
                    assert instance.send_event(PAID) in {"taken", "kept"}
            assert instance.result() == {"amount": 1}
            with pytest.raises(InstanceNotFoundError):
                client.instance("nobody").status()
            [row] = client.list_instances("WorkflowId = 'sync-1'", definition="payment")
            assert row["status"] == "completed"
        with pytest.raises(UsageError, match="this client is closed"):
            client.instance("sync-1").status()
        assert [one.name for one in threading.enumerate() if one.name == "swf-client"] == []
        return kinds

    with ThreadPoolExecutor(1) as pool:
        kinds = await asyncio.get_running_loop().run_in_executor(pool, program)
    assert (kinds[0], kinds[-1]) == ("workflow-started", "workflow-completed")


def test_a_program_that_forgets_to_close_it_ends() -> None:
    program = (
        "import asyncio\nfrom swf_temporal.operations.sync_client import _Loop\n"
        "print(_Loop().wait_for(asyncio.sleep(0, 1)))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "1\n"


@pytest.mark.temporal
async def test_instances_are_listed(served: Client) -> None:
    """By their status, their definition and a filter of Temporal's; a status that does not exist is refused."""
    for number in range(3):
        await served.start(PAYMENT, workflow_id=f"listed-{number}", task_queue="sync")
    await served.instance("listed-2").terminate()
    wanted: dict[str, Any] = {"definition": "payment", "query": "WorkflowId STARTS_WITH 'listed-'"}

    async def ids(**more: Any) -> set[str]:
        return {row["id"] async for row in served.list_instances(**wanted, **more)}

    while await ids(status="terminated") != {"listed-2"} or len(await ids()) != 3:  # the list follows
        await asyncio.sleep(0.1)
    assert await ids(status="running") == {"listed-0", "listed-1"}
    assert len(await ids(limit=1)) == 1
    with pytest.raises(UsageError, match="there is no status 'done'"):
        served.list_instances(status="done")
    with pytest.raises(UsageError, match="refuses the list"):
        _ = [one async for one in served.list_instances("nonsense")]
    for number in range(2):
        await served.instance(f"listed-{number}").terminate()


@pytest.mark.temporal
async def test_a_version_is_started_by_an_id(served: Client) -> None:
    """The one that is given, else the latest; one that no worker has leaves nothing behind."""
    began = {}
    for version in ("1.0.0", None):
        instance = await served.start("payment", version=version, task_queue="sync")
        while (status := await instance.status()).get("state") is None:
            await asyncio.sleep(0.05)
        began[version] = status["state"]
        await instance.terminate()
    assert began == {"1.0.0": "Wait", None: "Later"}
    with pytest.raises(UsageError, match=r"3\.0\.0"):
        await served.start("payment", version="3.0.0", workflow_id="none-such", task_queue="sync")
    assert (await served.instance("none-such").status())["status"] == "terminated"
    with pytest.raises(UsageError, match="with the id of a definition"):
        await served.start(PAYMENT, version="1.0.0")


@pytest.mark.temporal
async def test_an_instance_is_followed_into_its_next_run(served: Client) -> None:
    """No entry is missed where it continues as new, whenever one looks; and the end of the instance is the end."""
    instance = await served.start("twice", {}, task_queue="sync")
    kinds = []
    async for entry in instance.follow():
        kinds.append((entry["kind"], entry["name"]))
        if entry["kind"] == "state-entered":
            await instance.send_event(PAID)
    # What is awaited is told only if the event comes later than the state begins.
    told = [kind for kind, _ in kinds if kind != "event-awaited"]
    one = ["workflow-started", "state-entered", "event-taken"]
    first, last = told.index("workflow-continued"), len(told)
    assert (told[:3], told[first + 1 : first + 4], told[last - 1]) == (one, one, "workflow-completed")
    stopped = await served.start(PAYMENT, task_queue="sync")
    async for entry in stopped.follow():
        if entry["kind"] == "state-entered":
            await stopped.terminate()
    with pytest.raises(RunEnded):
        await stopped.result()
    with pytest.raises(InstanceNotFoundError):
        _ = [one async for one in served.instance("nobody").follow()]
