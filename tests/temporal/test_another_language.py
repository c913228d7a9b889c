"""Runs in a language whose steps nest in one another continue as new wherever they are."""

import pytest
from temporalio.api.enums.v1 import EventType

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.known import LANGUAGES
from swf_temporal.languages.loading import load
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.records import Pin, pinned
from tests.temporal.conftest import Bench, events_of
from tests.temporal.suspending import SUSPEND_AFTER

NESTED = """
id: nested
steps:
  - beside:
      cups:
        - each:
            each: cup
            in: [1, 2, 3]
            at once: 2
            do:
              - set: {cup: =$cup}
              - try:
                  again: {when: '=$error.type == "Empty"', times: 9}
                  do: [{wait: PT0.01S}, {call: brew}]
      tea:
        - leave: {do: [{wait: PT0.01S}, {wait: PT0.01S}, {call: wash}]}
        - listen: {all: [{type: ordered}, {type: paid}]}
"""


@pytest.mark.parametrize("limit", [5, 9, 14])
async def test_nested_steps_continue_as_new(bench: Bench, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """A try in an iteration in a branch, a branch that was left running, and a wait for events go on where they are."""
    monkeypatch.setattr("swf_temporal.languages.known.LANGUAGES", [*LANGUAGES, "tests.languages.steps.language"])
    brewed: list[JSON] = []

    def brew(data: JSON) -> JSON:
        brewed.append(data)
        if len(brewed) < 3:
            raise CallFailed("there is no water", name="Empty")
        return {"coffee": "hot"}

    definition = load(NESTED)
    pin = Pin(pinned([definition]), definition.version, semantics=1, others={SUSPEND_AFTER: limit})
    async with bench.worker(definition, brew=brew, wash={}) as worker:
        handle = await worker.begin(definition.id, {}, pin.to_json(), workflow_id=f"nested-{limit}")
        for kind in ("paid", "ordered"):
            await swf.send_event(bench.client, handle.id, {"type": kind, "source": "s", "id": kind, "data": 1})
        output = await swf.result(handle)
        first = await events_of(bench.first(handle))
    assert output == {
        "cups": {"results": [{"cup": cup, "coffee": "hot"} for cup in (1, 2, 3)]},
        "tea": {"ordered": 1, "paid": 1},
    }
    assert len(brewed) == 5
    assert [name for name, *_ in worker.scripted.calls].count("wash") == 1
    assert first[-1].event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW
