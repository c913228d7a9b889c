"""Starting instances from a program: options of the SDK, values of Python, and where there is no worker."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from types import MappingProxyType

import pytest
from pydantic import BaseModel
from temporalio.common import Priority, WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from swf_temporal import (
    JSON,
    AlreadyStartedError,
    Client,
    CloudEvent,
    InvalidEventError,
    NoAnswerError,
    Registry,
    UsageError,
    Worker,
    check,
    load,
    simulate,
)
from swf_temporal.temporal.connecting import why_unserved

WAITER = load("""\
id: waiter
version: 1.0.0
specVersion: "0.8"
functions: [{name: book, type: custom}]
events: [{name: paid, type: com.paid, source: shop}]
states:
  - {name: Wait, type: event, onEvents: [{eventRefs: [paid]}], transition: Book}
  - {name: Book, type: operation, actions: [{functionRef: book}], end: true}
""")


class Colour(str, Enum):  # noqa: UP042 - whose text is its name
    RED = "red"


class Customer(BaseModel):
    name: str
    since: date


@dataclass
class Order:
    """A dataclass with all that programs have at hand."""

    customer: Customer
    due: datetime
    takes: timedelta
    colours: tuple[Colour, ...]
    sizes: frozenset[int]
    labels: Mapping[str, str]


ORDER = Order(
    Customer(name="Ada", since=date(2024, 5, 1)),
    datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    timedelta(minutes=90),
    (Colour.RED,),
    frozenset({7}),
    {"a": "b"},
)
WRITTEN: JSON = {
    "customer": {"name": "Ada", "since": "2024-05-01"},
    "due": "2026-01-02T03:04:00Z",
    "takes": "PT1H30M",
    "colours": ["red"],
    "sizes": [7],
    "labels": {"a": "b"},
}


@pytest.mark.temporal
async def test_values_are_written_alike_everywhere(client: Client) -> None:
    registry = Registry()
    registry.custom("book")(lambda: {"booked": ORDER})
    async with Worker(client, definitions=[WAITER], functions=registry, task_queue="values"):
        instance = await client.start("waiter", {"order": ORDER, "at": MappingProxyType({})}, task_queue="values")
        assert instance.handle.id == instance.id
        await instance.send_event({"name": "paid", "data": {"paid": ORDER}})
        output = await instance.result()
    assert output == {"order": WRITTEN, "at": {}, "paid": WRITTEN, "booked": WRITTEN}
    paid = CloudEvent(id="1", source="shop", type="com.paid", data={"paid": WRITTEN})
    simulated = simulate(
        WAITER, {"order": ORDER, "at": MappingProxyType({})}, events=[paid], functions={"book": {"booked": ORDER}}
    )
    assert simulated.raise_for_status().output == output


@pytest.mark.temporal
async def test_options_of_the_sdk(client: Client) -> None:
    instance = await client.start(
        "waiter", workflow_id="with-options", task_queue="nobody", memo={"tenant": "acme"},
        execution_timeout=timedelta(hours=1), priority=Priority(priority_key=2), static_summary="The order of Ada",
    )  # fmt: skip
    found = await instance.handle.describe()
    config = found.raw_description.execution_config
    assert (await found.memo(), await found.static_summary()) == ({"tenant": "acme"}, "The order of Ada")
    assert config.workflow_execution_timeout.ToTimedelta() == timedelta(hours=1)
    assert found.raw_info.priority.priority_key == 2
    with pytest.raises(AlreadyStartedError, match="is running already"):
        await client.start("waiter", workflow_id="with-options", task_queue="nobody")
    same = await client.start(
        "waiter", workflow_id="with-options", task_queue="nobody",
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )  # fmt: skip
    assert same.run_id == instance.run_id
    await instance.terminate()
    with pytest.raises(AlreadyStartedError, match="was started before"):
        await client.start("waiter", workflow_id="with-options", id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE)
    with pytest.raises(TypeError, match="unexpected keyword argument 'timeout'"):
        await client.start("waiter", timeout=5)  # type: ignore[call-arg]  # that is what is tried


@pytest.mark.temporal
async def test_the_task_queue_is_that_of_workers(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is read from where a worker reads it; that nobody is there is told soon, and the server tells what it can."""
    monkeypatch.setenv("SWF_TASK_QUEUE", "from-the-environment")
    here = Client(client.temporal)
    instance = await here.start(WAITER)
    with caplog.at_level(logging.WARNING, "swf"), pytest.raises(TimeoutError):
        await asyncio.wait_for(instance.result(), 4)
    assert "is one serving the task queue 'from-the-environment'?" in caplog.text
    status = await instance.status()
    assert (status["status"], status["definition"], "note" in status) == ("running", "waiter", True)
    with pytest.raises(NoAnswerError, match="no worker answers for") as silent:
        await instance.trace()
    assert silent.value.instance == instance.id
    async with Worker(here, definitions=[WAITER], functions={"book": dict}):
        await instance.send_event({"name": "paid"})
        assert await instance.result() == {}
    assert (await instance.status())["status"] == "completed"


async def test_what_is_no_event_or_definition_is_refused(client: Client) -> None:
    with pytest.raises(InvalidEventError, match="5 is not an event"):
        await client.instance("nobody").send_event(5)  # type: ignore[arg-type]  # that is what is tried
    assert load(WAITER.source.text.encode()).id == "waiter"
    assert check({"id": "x"}).errors
    assert check(b"\xff").errors[0].code == "encoding"
    for given in (5, None):
        with pytest.raises(UsageError, match=r"a definition is a text, bytes or a mapping, and this is (an int|None)$"):
            load(given)  # type: ignore[arg-type]  # as above


@pytest.mark.temporal
async def test_a_task_queue_without_workers_is_reported(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    unserved = "no worker is serving the task queue 'unserved'"
    with caplog.at_level(logging.WARNING, "swf"):
        await (await client.start(WAITER, task_queue="unserved")).terminate()
        assert unserved in caplog.text
        caplog.clear()
        async with Worker(client, definitions=[WAITER], functions={"book": dict}, task_queue="served-here"):
            while await why_unserved(client.temporal, "served-here"):
                pass
            await (await client.start(WAITER, task_queue="served-here")).terminate()
        assert "no worker is serving" not in caplog.text


@pytest.mark.temporal
async def test_an_id_that_no_worker_knows_leaves_nothing_behind(client: Client) -> None:
    """The instance is terminated and the id said to be unknown, unless it is to wait for a worker that knows it."""
    async with Worker(client, definitions=[WAITER], functions={"book": str}, task_queue="unknown"):
        for _ in range(2):
            with pytest.raises(UsageError, match="did you mean 'waiter'") as refused:
                await client.start("wiater", workflow_id="mistyped", task_queue="unknown")
            assert "keep=True" in str(refused.value.hint)
            assert (await client.instance("mistyped").status())["status"] == "terminated"
        kept = await client.start("wiater", task_queue="unknown", keep=True)
        known = await client.start("waiter", task_queue="unknown")
        assert [(await one.status())["status"] for one in (kept, known)] == ["running", "running"]
        await kept.terminate()
        await known.terminate()
