"""Producing events, where that takes time."""

from datetime import timedelta
from typing import Any

import pytest

from swf_temporal import simulate
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.languages.serverless_workflow.execution.events import as_read
from swf_temporal.languages.serverless_workflow.model.definitions import Event
from swf_temporal.runtime.host import Timer
from swf_temporal.simulation.host import SimulatedHost


def test_an_event_is_produced_once_though_undoing_was_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workflow's time is over while the second of two is produced: going on, it begins with that one."""
    begun: list[str] = []

    async def publish(host: SimulatedHost, event: CloudEvent) -> None:
        begun.append(event.type)
        if begun == ["first", "second"]:
            await host.sleep(timedelta(hours=2), Timer("sleep", "a slow place"))

    monkeypatch.setattr(SimulatedHost, "publish", publish)
    both: Any = [{"eventRef": "first"}, {"eventRef": "second"}]
    states: Any = [
        {"name": "Book", "type": "inject", "data": {}, "compensatedBy": "Unbook", "end": {"compensate": True}},
        {"name": "Unbook", "type": "inject", "data": {}, "usedForCompensation": True,
         "transition": {"nextState": "Rest", "produceEvents": both}},
        {"name": "Rest", "type": "inject", "data": {}, "usedForCompensation": True},
        {"name": "Tidy", "type": "inject", "data": {}, "end": {"compensate": True}},
    ]  # fmt: skip
    run = simulate(
        {"id": "slow", "specVersion": "0.8",
         "events": [{"name": name, "type": name, "source": "s", "kind": "produced"} for name in ("first", "second")],
         "timeouts": {"workflowExecTimeout": {"duration": "PT1H", "runBefore": "Tidy"}}, "states": states}
    )  # fmt: skip
    assert (run.status, run.elapsed) == ("completed", timedelta(hours=1))
    assert begun == ["first", "second", "second"]


def test_what_a_state_did_is_there_though_its_event_was_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workflow's time is over while an event is produced: what runs before the end has the state's data."""

    async def publish(host: SimulatedHost, _: CloudEvent) -> None:
        await host.sleep(timedelta(hours=2), Timer("sleep", "a slow place"))

    monkeypatch.setattr(SimulatedHost, "publish", publish)
    states: Any = [
        {"name": "Do", "type": "inject", "data": {"done": True}, "end": {"produceEvents": [{"eventRef": "told"}]}},
        {"name": "Tidy", "type": "inject", "data": {"tidied": True}, "end": True},
    ]
    run = simulate(
        {"id": "slow", "specVersion": "0.8",
         "events": [{"name": "told", "type": "told", "source": "s", "kind": "produced"}],
         "timeouts": {"workflowExecTimeout": {"duration": "PT1H", "runBefore": "Tidy"}}, "states": states}
    )  # fmt: skip
    assert (run.output, run.elapsed) == ({"done": True, "tidied": True}, timedelta(hours=1))


@pytest.mark.parametrize(("written", "read"), [("", None), (None, None), ("s", "s"), ("XXXX", "XXXX")])
def test_an_empty_source_is_none(written: str | None, read: str | None) -> None:
    definition = Event(name="e", type="t", source=written)
    assert as_read(definition).source == read
