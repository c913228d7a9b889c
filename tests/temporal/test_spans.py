"""Which spans an execution records, whatever exports them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from swf_temporal import CallFailed, RunEnded
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import spans
from swf_temporal.temporal.spans import Span
from tests.temporal.building import inject, operation
from tests.temporal.conftest import Bench, calling, define, outcome

Told = tuple[str, str, str, str | None]


class Recorded:
    """The spans that were recorded: with the one around each, the result, and the error."""

    def __init__(self) -> None:
        self.told: list[Told] = []
        self.ids: list[int] = []

    def enter(self, span: Span) -> None:
        """Do nothing: no other program is to be told."""

    def record(self, span: Span, ended: datetime) -> None:
        assert span.begun <= ended
        self.ids.append(span.id)
        around = "" if span.parent is None else span.parent.name
        error = None if span.error is None else span.error.type
        self.told.append((span.name, around, span.attributes["swf.result"], error))


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    found = Recorded()
    monkeypatch.setattr(spans, "_begin", lambda _: found)
    yield found
    assert len(set(found.ids)) == len(found.ids)


async def test_a_state_that_goes_on_in_another_execution_has_a_span_in_each(bench: Bench, recorded: Recorded) -> None:
    each: Any = {
        "name": "each", "type": "foreach", "inputCollection": "${ .items }", "batchSize": 4,
        "actions": [{"functionRef": "f"}], "transition": "last",
    }  # fmt: skip
    async with bench.worker(define(each, inject("last"), functions=("f",)), f={"a": 1}) as worker:
        handle = await worker.start({"items": list(range(40))}, suspend_after=40)
        await outcome(handle)
    instance = "RunWorkflow:sample"
    *goes_on, last = [one for one in recorded.told if one[0] == instance]
    assert goes_on == [(instance, "", "continued", None)] * len(goes_on)
    assert len(goes_on) >= 1
    assert last == (instance, "", "completed", None)
    *before, after = [one for one in recorded.told if one[0] == "State:each"]
    assert before == [("State:each", instance, "continued", None)] * len(before)
    # The last one goes on between both states if the limit is reached there, which depends on how tasks are cut.
    assert len(before) in (len(goes_on), len(goes_on) - 1)
    assert after == ("State:each", instance, "completed", None)
    assert recorded.told[-2:] == [("State:last", instance, "completed", None), last]


async def test_what_fails_names_its_error(bench: Bench, recorded: Recorded) -> None:
    """A state that handles an error has failed by its code; one that does not, and the instance, by its name."""

    def work(_: object) -> Any:
        raise CallFailed(code=409, message="no seat")

    handles = operation("First", {"functionRef": "f"}, onErrors=[{"errorRef": "*", "transition": "Second"}], end=True)
    definition = define(dict(handles), calling("Second", "f"), functions=("f",))
    async with bench.worker(definition, f=work) as worker:
        await worker.failure({})
    instance = "RunWorkflow:sample"
    assert recorded.told == [
        ("State:First", instance, "failed", "409"),
        ("State:Second", instance, "failed", "CallFailed"),
        (instance, "", "failed", "CallFailed"),
    ]


async def test_what_is_cancelled_is_told_so(bench: Bench, recorded: Recorded) -> None:
    waits = {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["go"], "actions": []}], "end": True}
    definition = define(waits, events=[{"name": "go", "type": "go", "source": "shop"}])
    async with bench.worker(definition) as worker:
        handle = await worker.start_awaiting("go", {})
        await bench.handle(handle).cancel()
        with pytest.raises(RunEnded):
            await swf.result(handle)
    instance = "RunWorkflow:sample"
    assert recorded.told == [("State:Wait", instance, "cancelled", None), (instance, "", "cancelled", None)]
