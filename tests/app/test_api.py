"""What a program does with the package, and how it lists instances."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

import swf_temporal
from swf_temporal import Client, Registry, RunEnded, UsageError, Worker, WorkerSettings, load
from swf_temporal.operations.listing import length_of, moment_of
from tests.definitions import definition

WAITER = definition("""\
id: waiter
functions: [{name: double, type: custom}]
events: [{name: paid, type: com.paid, source: shop}]
states:
  - {name: Wait, type: event, onEvents: [{eventRefs: [paid]}], transition: Work}
  - {name: Work, type: operation, actions: [{functionRef: {refName: double, arguments: {n: "${ .n }"}}}], end: true}
""")


@pytest.fixture
def registry() -> Registry:
    registry = Registry()

    @registry.custom("double")
    def double(n: int) -> int:
        return 2 * n

    return registry


def test_every_name_is_there() -> None:
    assert all(getattr(swf_temporal, name) is not None for name in swf_temporal.__all__)
    assert set(swf_temporal.__all__) <= set(dir(swf_temporal))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = swf_temporal.nothing  # type: ignore[attr-defined]  # that is what is tried


def test_importing_costs_nothing() -> None:
    """The package alone imports none of its modules, and a name of it only what that needs."""
    show = "print([name for name in sys.modules if name.startswith('swf_temporal.')])\n"
    program = f"import sys, swf_temporal\n{show}from swf_temporal import CallFailed\n{show}"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[]", "['swf_temporal.base', 'swf_temporal.base.errors']"]


@pytest.mark.parametrize(("names", "libraries"), [
    ("Registry, current_call, Call", ("temporalio", "pydantic_core", "pydantic", "httpx", "yaml")),
    ("load, check, simulate, Simulation", ("temporalio", "pydantic_core", "pydantic", "httpx", "jsonschema")),
    ("Client, Plugin, Worker", ("httpx", "yaml", "jsonschema")),
    ("WorkerSettings", ("temporalio", "httpx", "yaml")),
])  # fmt: skip
def test_a_name_imports_no_library_that_it_does_not_need(names: str, libraries: Sequence[str]) -> None:
    program = f"import sys\nfrom swf_temporal import {names}\nprint([one for one in {libraries} if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


@pytest.mark.temporal
async def test_a_worker_serves_what_it_is_given(client: Client, registry: Registry) -> None:
    """An instance that is started by an id runs the worker's definition, takes an event and has its calls made."""
    async with Worker(client, definitions=[load(WAITER)], functions=registry, task_queue="given") as worker:
        instance = await client.start("waiter", {"n": 3}, task_queue="given")
        assert await client.instance(instance.id).send_event({"name": "paid", "data": {"n": 4}}) in {"taken", "kept"}
        assert await instance.result() == {"n": 4, "response": 8}
        assert [entry["kind"] for entry in await instance.trace()][-1] == "workflow-completed"
        assert await worker.is_ready()
    assert not await worker.is_ready()


@pytest.mark.temporal
async def test_a_worker_connects_by_an_address(client: Client, registry: Registry) -> None:
    worker = Worker(client.address, definitions=[WAITER], functions=registry, task_queue="addressed")
    running = asyncio.create_task(worker.run())
    instance = await client.start(load(WAITER), {"n": 1}, workflow_id="addressed", task_queue="addressed")
    with pytest.raises(UsageError, match="an instance 'addressed' is running already"):
        await client.start("waiter", workflow_id="addressed", task_queue="addressed")
    await instance.terminate("enough")
    with pytest.raises(RunEnded) as ended:
        await instance.result()
    assert ended.value.how == "terminated"
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.temporal
async def test_an_id_of_a_reserved_form_is_refused(client: Client) -> None:
    """Whoever had it would get the events of another instance."""
    with pytest.raises(UsageError, match="cannot be chosen: it ends with a digest"):
        await client.start("orders", workflow_id=f"orders:{'0' * 24}")


async def test_a_worker_of_known_definitions_refuses_others(client: Client, registry: Registry) -> None:
    """What a worker is told by its settings holds: it refuses a definition that comes with the input."""
    settings = WorkerSettings(task_queue="known", known_definitions_only=True)
    async with Worker(client, definitions=[WAITER], functions=registry, settings=settings):
        another = load(WAITER.replace('"1.0"', '"1.0.1"'))
        instance = await client.start(another, task_queue="known")
        with pytest.raises(RunEnded) as ended:
            await instance.result()
        assert ended.value.how == "failed"


def test_a_worker_that_does_not_work_says_so() -> None:
    worker = Worker("127.0.0.1:1", definitions=[WAITER])
    with pytest.raises(UsageError, match="is not running yet"):
        _ = worker.client
    with pytest.raises(UsageError, match="is not running yet"):
        _ = worker.functions


@pytest.mark.parametrize(
    ("written", "length"),
    [
        ("90m", timedelta(minutes=90)),
        (" 2 H ", timedelta(hours=2)),
        ("1d", timedelta(days=1)),
        ("2w", timedelta(weeks=2)),
        ("P1DT12H", timedelta(days=1, hours=12)),
    ],
)
def test_durations(written: str, length: timedelta) -> None:
    assert length_of(written) == length


@pytest.mark.parametrize("written", ["", "0h", "5", "1.5h", "soon", "P", "-PT1H", "9999999d"])
def test_no_durations(written: str) -> None:
    with pytest.raises(UsageError, match="is not a duration"):
        length_of(written)


def test_moments() -> None:
    """A time of day is the latest one there; a date and a time without a zone are meant there, too."""
    zone, now = ZoneInfo("Asia/Kolkata"), datetime.now(UTC)
    assert abs(moment_of("2h", zone) - (now - timedelta(hours=2))) < timedelta(minutes=1)
    for written, clock in (("00:00", (0, 0, 0)), ("23:59:59", (23, 59, 59)), ("9:30", (9, 30, 0))):
        found = moment_of(written, zone).astimezone(zone)
        assert (found.hour, found.minute, found.second) == clock
        assert timedelta(0) <= datetime.now(UTC) - found <= timedelta(days=1, minutes=1)
    assert moment_of("2030-05-06", zone) == datetime(2030, 5, 5, 18, 30, tzinfo=UTC)
    assert moment_of("2030-05-06T12:00", zone) == datetime(2030, 5, 6, 6, 30, tzinfo=UTC)
    assert moment_of("2030-05-06T12:00:00Z", zone) == datetime(2030, 5, 6, 12, tzinfo=UTC)


@pytest.mark.parametrize("written", ["", "noon", "25:00", "2030-13-01", "0001-01-01T00:00:00", "P9999Y", "12:00:99"])
def test_no_moments(written: str) -> None:
    with pytest.raises(UsageError, match="is not a time"):
        moment_of(written, ZoneInfo("Asia/Kolkata"))
