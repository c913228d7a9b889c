"""A part of an instance is one file, and one line: this one counts the states that an instance has entered."""

from dataclasses import dataclass
from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record
from swf_temporal.operations.client import Client
from swf_temporal.operations.rerunning import plan_rerun, plan_retry
from swf_temporal.runtime.host import ContinuedAs, TraceEntry, TraceKind
from swf_temporal.temporal import continuing, workflow
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.instance_part import Instance, OperatorOptions, Part
from swf_temporal.temporal.instance_parts import PARTS
from swf_temporal.temporal.replaying import replay
from tests.temporal.building import awaits, consumed, inject
from tests.temporal.conftest import Bench, calling, define, reset
from tests.temporal.test_rerunning import Calls, ended


@dataclass(slots=True)
class CountRecord(Record):
    count: int = 0


class StatesCounted(Part):
    """Shows in the status how many states an instance has entered, in all of its executions."""

    KEY = "statesCounted"

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.count = self.carried(CountRecord).count

    def note(self, entry: TraceEntry) -> None:
        self.count += entry.kind is TraceKind.STATE_ENTERED

    def status(self) -> dict[str, Any]:
        return {"statesEntered": self.count}

    def record(self, to: ContinuedAs | None = None) -> CountRecord | None:
        return CountRecord(self.count) if to is None else None


WAIT: dict[str, JSON] = awaits("Wait", "go")
DEFINITION = define(
    inject("Begin"), WAIT, calling("Call", "first"), calling("Last", "second"),
    functions=("first", "second"), events=consumed("go"), id="counted",
)  # fmt: skip


async def test_it_survives_all_that_an_instance_does(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is carried through continue-as-new, a reset, a retry and a rerun, each of which counts from where it was."""
    monkeypatch.setattr(workflow, "PARTS", (*PARTS, StatesCounted))
    monkeypatch.setattr(continuing, "MAX_SIGNALS", 1)
    calls, client = Calls("second"), Client(bench.client)
    async with bench.worker(DEFINITION, options=OperatorOptions(), **calls.functions("first", "second")) as worker:
        handle = await worker.start({})
        await worker.awaiting(handle, "go")
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
