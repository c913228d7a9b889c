"""What is told of an instance: by all of its runs, once it has ended, while it is paused, and by parts of it."""

import asyncio
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.service import RPCError

from swf_temporal import UsageError
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.records import Record
from swf_temporal.operations import instances
from swf_temporal.operations.client import Client, Instance
from swf_temporal.operations.instance_history import list_runs
from swf_temporal.operations.instances import facts_of, view_instance
from swf_temporal.operations.rerunning import plan_rerun, plan_retry
from swf_temporal.operations.steps import runs_of_instance
from swf_temporal.runtime.host import ContinuedAs, TraceEntry, TraceKind
from swf_temporal.settings.http import Tenant
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import continuing, workflow
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.instance_part import Instance as RunningInstance
from swf_temporal.temporal.instance_part import OperatorOptions, Part
from swf_temporal.temporal.instance_parts import PARTS
from swf_temporal.temporal.pausing import pause, resume
from swf_temporal.temporal.replaying import replay
from tests.temporal.building import awaits, consumed, inject
from tests.temporal.conftest import Bench, Measured, calling, define, events_of, reset
from tests.temporal.test_console import page
from tests.temporal.test_event_starts import event
from tests.temporal.test_gateway import served
from tests.temporal.test_rerunning import Calls, ended

WAIT = awaits("Wait", "go")
DEFINITION = define(
    inject("Begin"), WAIT, calling("Call", "first"), functions=("first",), events=consumed("go"), id="has-many-runs"
)
KEY, OTHER = "a-key-of-the-shop-0001", "a-key-of-the-bank-0002"
TENANTS = {
    "shop": Tenant(keys=(KEY,), workflows=(DEFINITION.id,)),
    "bank": Tenant(keys=(OTHER,), workflows=("other-of-runs",)),
}


@pytest.fixture(autouse=True)
def _answers_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait no longer for a worker that is not there."""
    monkeypatch.setattr(instances, "PATIENCE", timedelta(seconds=1))


async def test_its_start_is_that_of_its_first_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it is for status, the gateway, and the console, as in the graph; the console has a page of each run."""
    monkeypatch.setattr(continuing, "MAX_SIGNALS", 1)
    calls, client = Calls("first"), Client(bench.client)
    async with bench.worker(DEFINITION, **calls.functions("first")) as worker:
        old = await worker.start_awaiting("go", {}, workflow_id="many-runs")
        await old.terminate()
        handle = await worker.start_awaiting("go", {}, workflow_id="many-runs")
        began = (await handle.describe()).start_time
        await handle.signal("go", {})
        assert await ended(handle) is None
        calls.broken.clear()
        for planned in (plan_retry(client, handle.id), plan_rerun(client, handle.id, "Call")):
            run = await (await planned).begin(client)
            assert await ended(bench.handle(handle, run)) is not None
        await ended(await reset(bench.handle(handle), bench.client))
        foreign = await worker.start({})
    runs = [one async for one in list_runs(client, handle.id)]
    [drawn] = await runs_of_instance(client, handle.id)
    async with served(bench, [DEFINITION], console=True, tenants=TENANTS) as web:
        await web.post("/console/login", data={"key": KEY})
        shown = html.unescape(await page(web, "/console/instances/many-runs"))
        pages = [await _run(web, one.described.run_id) for one in runs]
        strange = [await _run(web, one) for one in (old.first_execution_run_id, foreign.first_execution_run_id, "x")]
        asked = await web.get("/instances/many-runs", headers={"Authorization": f"Bearer {KEY}"})
        await web.post("/console/login", data={"key": OTHER})
        hidden = [await _run(web, one.described.run_id) for one in runs]
    await foreign.terminate()
    assert [one.why for one in runs] == ["reset", "run again from Call", "retried", "continued as new", "started"]
    assert runs[-1].described.run_id == handle.first_execution_run_id
    started = (await facts_of(client, handle.id))["started"]
    assert began is not None
    assert drawn.course.began is not None
    assert abs((drawn.course.began - began).total_seconds()) < 1
    assert asked.json()["started"] == started == began.isoformat(timespec="milliseconds")
    assert f"{began:%Y-%m-%d %H:%M:%S} UTC" in shown
    assert re.findall(r"many-runs\?run=([-\w]+)", shown) == [one.described.run_id for one in runs]
    assert [one.status_code for one in pages] == [200] * 5
    assert [_entered(one) for one in pages] == [["Call"], ["Call"], [], ["Call"], ["Begin", "Wait"]]
    assert all("<svg" in one.text for one in pages)
    assert [one.status_code for one in (*strange, *hidden)] == [404] * 8


async def _run(web: httpx.AsyncClient, run: str | None) -> httpx.Response:
    return await web.get("/console/instances/many-runs", params={"run": run or ""})


def _entered(shown: httpx.Response) -> Sequence[str]:
    return re.findall(r"state entered</a> <span>(\w+)", shown.text)[::-1]


@pytest.mark.parametrize("has_pending", [False, True])
async def test_a_closed_one_is_answered_without_a_worker(bench: Bench, *, has_pending: bool) -> None:
    """Also if a workflow task was to be done when it was terminated: what no worker has done has not happened."""
    client = Client(bench.client)
    async with bench.worker(DEFINITION) as worker:
        handle = await worker.start_awaiting("go", {})
    if has_pending:
        await handle.signal("go", {})
    open_ = await facts_of(client, handle.id, with_trace=True)
    await handle.terminate("enough")
    facts = await facts_of(client, handle.id, with_trace=True)
    view = await view_instance(client, handle.id)
    with pytest.raises(RPCError):  # no worker is there to be asked
        await handle.query("status", rpc_timeout=timedelta(milliseconds=300))
    assert (facts["status"], facts["state"], "note" in facts) == ("terminated", "Wait", False)
    assert [one["events"][0]["name"] for one in facts["awaiting"]] == ["go"]
    assert [one["kind"] for one in facts["trace"]][-1] == "event-awaited"
    assert (view.status, view.trace) == ("terminated", facts["trace"])
    assert (open_["state"], open_["trace"]) == ("Wait", facts["trace"])
    assert open_["note"] == "no worker is currently responding: its history shows where it is"


pytestmark = pytest.mark.temporal

FIRST = inject("First", {"a": 1})


async def names(instance: Instance) -> list[str]:
    """Return the states that an instance has entered."""
    return [entry["name"] for entry in await instance.trace() if entry["kind"] == "state-entered"]


async def test_a_completed_instance_has_its_output(bench: Bench) -> None:
    """Its data is the result, not what the last state began with, whoever asks."""
    last = inject("Last", stateDataFilter={"output": "${ {only: 2} }"})
    async with bench.worker(define(FIRST, last)) as worker:
        handle = await worker.start()
        assert await handle.result() == {"only": 2}
        assert await handle.query("data") == {"only": 2}
        instance = Client(bench.client).instance(handle.id)
        assert await instance.data() == {"only": 2}
    assert await instance.data() == {"only": 2}
    assert await names(instance) == ["First", "Last"]


async def test_a_failed_instance_has_its_latest_data(bench: Bench) -> None:
    def fail(_: object) -> None:
        raise CallFailed("broken")

    async with bench.worker(define(FIRST, calling("Last", "f"), functions=("f",)), f=fail) as worker:
        instance = Client(bench.client).instance(str((await worker.failure()).instance))
    assert await instance.data() == {"a": 1}


async def test_a_terminated_instance_whose_task_is_pending_answers(bench: Bench) -> None:
    """The event that no worker has seen has not happened; nothing asks again for a task that never ends."""
    definition = define(FIRST, awaits("Wait", "go"), events=consumed("go"))
    async with bench.worker(definition) as worker:
        handle = await worker.start_awaiting("go")
    await worker.send(handle, event("go", "go", "x"))
    await handle.terminate()
    kinds = [one.event_type for one in await events_of(handle)]
    assert kinds[-3:-1] == [
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
        EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
    ]
    async with bench.worker(definition, queue=worker.queue):
        instance = Client(bench.client).instance(handle.id)
        assert await names(instance) == ["First", "Wait"]
        assert await instance.data() == {"a": 1}
        assert (await instance.status())["state"] == "Wait"


async def test_one_that_ended_before_it_began_says_so(bench: Bench) -> None:
    """No worker has taken it up, so it has no data, and nothing has happened."""
    async with bench.worker(define(FIRST)) as worker:
        pass
    handle = await worker.start()
    await handle.terminate()
    instance = Client(bench.client).instance(handle.id)
    with pytest.raises(UsageError, match="ended before a worker took it up"):
        await instance.data()
    assert await instance.trace() == []


async def test_a_result_is_waited_for_while_the_instance_is_paused(measured: Measured) -> None:
    """By who has started it, and by who asks for it by its id, and neither asks the server again and again."""
    waiting = define(awaits("Wait", "Go"), events=[{"name": "Go", "type": "go", "source": "us"}])
    async with measured.worker(waiting) as running:
        started = await running.start_awaiting("Go")
        by_id = measured.handle(started)
        early = asyncio.create_task(swf.result(started))
        await pause(measured.client, started.id, None)
        results = [early, *(asyncio.create_task(swf.result(one)) for one in (started, by_id))]
        done, _ = await asyncio.wait(results, timeout=2)
        assert not done
        names = ("temporal_request", "temporal_long_request")
        looks = [operation for name in names for [operation] in measured.counted(name, "operation")]
        assert looks.count("GetWorkflowExecutionHistory") < 30
        await swf.send(measured.client, started.id, CloudEvent("1", "us", "go").to_json())
        await resume(measured.client, started.id, None)
        assert await asyncio.wait_for(asyncio.gather(*results), 30) == [{}] * 3


@dataclass(slots=True)
class CountRecord(Record):
    count: int = 0


class StatesCounted(Part):
    """Shows in the status how many states an instance has entered, in all of its executions."""

    KEY = "statesCounted"

    def __init__(self, instance: RunningInstance) -> None:
        super().__init__(instance)
        self.count = 0

    def resume(self) -> None:
        self.count = self.carried(CountRecord).count

    def note(self, entry: TraceEntry) -> None:
        self.count += entry.kind is TraceKind.STATE_ENTERED

    def status(self) -> dict[str, Any]:
        return {"statesEntered": self.count}

    def record(self, to: ContinuedAs | None = None) -> CountRecord | None:
        return CountRecord(self.count) if to is None else None


GO: dict[str, JSON] = awaits("Wait", "go")
COUNTED = define(
    inject("Begin"), GO, calling("Call", "first"), calling("Last", "second"),
    functions=("first", "second"), events=consumed("go"), id="counted",
)  # fmt: skip


async def test_it_survives_all_that_an_instance_does(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is carried through continue-as-new, a reset, a retry and a rerun, each of which counts from where it was."""
    monkeypatch.setattr(workflow, "PARTS", (*PARTS, StatesCounted))
    monkeypatch.setattr(continuing, "MAX_SIGNALS", 1)
    calls, client = Calls("second"), Client(bench.client)
    async with bench.worker(COUNTED, options=OperatorOptions(), **calls.functions("first", "second")) as worker:
        handle = await worker.start_awaiting("go", {})
        await handle.signal("go", {})
        assert await ended(handle) is None
        latest = bench.handle(handle)
        assert (await latest.describe()).run_id != handle.first_execution_run_id
        assert (await latest.query("status"))["statesEntered"] == 4
        calls.broken.clear()
        plan = await plan_retry(client, handle.id)
        retried = await _count_after(bench, await plan.begin(client), handle.id)
        plan = await plan_rerun(client, handle.id, "Wait")
        rerun = await _count_after(bench, await plan.begin(client), handle.id)
        begun = await reset(latest, bench.client)
        after_reset = await _count_after(bench, str(begun.run_id), handle.id)
        history = await bench.handle(handle).fetch_history()
    assert (retried, rerun, after_reset) == (4, 4, 4)
    assert (await replay(history, CONVERTER)).failure is None


async def _count_after(bench: Bench, run: str, instance: str) -> int:
    handle = bench.handle(instance, run)
    assert await ended(handle) is not None
    count: int = (await bench.handle(instance).query("status"))["statesEntered"]
    return count
