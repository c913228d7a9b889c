"""Runs and the releases that serve them: what an older release wrote, and what a newer one may add."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowExecutionStatus

from swf_temporal import definition_cache
from swf_temporal.errors import InvalidDefinition, NewerRecord, Problem
from swf_temporal.languages.port import Definition
from swf_temporal.languages.serverless_workflow.validation import validate
from swf_temporal.loading import load
from swf_temporal.runtime.semantics import SEMANTICS
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import workflow_input
from swf_temporal.temporal.children import reachable_from
from swf_temporal.temporal.records import (
    Pin,
    Pinned,
    call_from_json,
    catalogue_of,
    pinned,
)
from tests.temporal.conftest import Bench, define, events_of

_UNRULY = """
id: sample
version: "1.0.0"
specVersion: "0.8"
states:
- {name: a, type: inject, data: {x: 1}, end: true}
- {name: never, type: inject, data: {x: 2}, transition: nowhere}
"""
"""A definition that our rules refuse, though nothing of what is wrong with it is ever reached."""


def test_a_pin_says_which_number_its_run_began_with() -> None:
    """The number travels with the pin."""
    definition = define({"name": "a", "type": "inject", "data": {"x": 1}})
    record = Pin(pinned([definition]), numbers={"a/f": 3}).to_json()

    assert Pin.from_json(record).semantics == SEMANTICS
    assert Pin.from_json(record).numbers == {"a/f": 3}


def test_a_pin_of_a_newer_release_is_read() -> None:
    """Fields that a later release adds are carried along unread, those of a definition are passed over."""
    record = Pin([Pinned("text", "name", "digest")]).to_json()
    newer = {**record, "colour": "blue", "definitions": [{**record["definitions"][0], "language": "x"}]}

    assert Pin.from_json(newer) == replace(Pin.from_json(record), others={"colour": "blue"})
    assert Pin.from_json(newer).to_json() == {**record, "colour": "blue"}


def test_a_part_of_a_pin_means_what_the_whole_does() -> None:
    """An instance of a version finds the same definitions in what it may need as in all that there are."""

    def of(id_: str, version: str, *sub_workflows: Any) -> Definition:
        actions = [{"subFlowRef": one} for one in sub_workflows]
        state = (
            {"name": "a", "type": "operation", "actions": actions}
            if actions
            else {"name": "a", "type": "inject", "data": {}}
        )
        return define(state, id=id_, version=version)

    latest = of("part", "2.0.0")
    old = of("part", "1.0.0", {"workflowId": "part", "version": "1.5.0"})
    between = of("part", "1.5.0", "other")
    all_ = tuple(pinned([of("whole", "1.0.0", "part"), old, between, latest, of("other", "1.0.0")]))

    def needed(id_: str, version: str | None) -> list[str]:
        part = reachable_from(id_, version, all_)
        assert catalogue_of(part).find(id_, version).version == catalogue_of(all_).find(id_, version).version
        return [f"{one.id} {one.version}" for one in catalogue_of(part)]

    assert needed("whole", None) == ["whole 1.0.0", "part 2.0.0"]
    assert needed("part", None) == ["part 2.0.0"]
    assert needed("part", "1.0.0") == ["part 1.0.0", "part 1.5.0", "other 1.0.0"]
    assert reachable_from("part", "1.0.0", all_) == (all_[1], all_[2], all_[4])


@pytest.mark.parametrize("number", ["format", "semantics"])
def test_a_record_that_needs_a_newer_release_is_left_to_it(number: str) -> None:
    """What it says may not be passed over, and so nothing is made of it here."""
    numbers = {"a/f": 3, number: 99}
    with pytest.raises(NewerRecord, match=f"{number} of a run.* 99 is newer"):
        Pin.from_json({"numbers": numbers})
    with pytest.raises(NewerRecord, match="format of a call"):
        call_from_json({"function": {"name": "f"}, "source": "", "format": 99}, activity_id="a", state="a")


@pytest.mark.parametrize("number", ["format", "semantics"])
async def test_a_run_waits_for_the_release_that_can_go_on_with_it(bench: Bench, number: str) -> None:
    """It does not fail with a worker that is too old: its task does, and is tried again."""
    definition = define({"name": "a", "type": "inject", "data": {"x": 1}})
    async with bench.worker(definition) as worker:
        pin = {**Pin(pinned([definition])).to_json(), "numbers": {number: 99}}
        handle = await bench.client.start_workflow(
            "sample", args=[{}, pin], id=f"releases-{number}", task_queue=worker.queue
        )
        async with asyncio.timeout(30):
            while not (found := failed_tasks(await events_of(handle))):
                await asyncio.sleep(0.02)
        described = await handle.describe()
        await handle.terminate()

    assert described.status == WorkflowExecutionStatus.RUNNING
    assert "99 is newer than this release" in found[0]


def failed_tasks(events: Sequence[HistoryEvent]) -> list[str]:
    """Return why workflow tasks failed."""
    return [
        event.workflow_task_failed_event_attributes.failure.message
        for event in events
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED
    ]


def test_a_pin_without_digests_has_recorded_nothing() -> None:
    """Somebody else wrote it, for a run that begins under this release."""
    assert Pin.from_json({"definitions": [{"text": "text", "name": "name"}]}).semantics is None


async def test_a_new_rule_never_touches_a_running_instance(bench: Bench) -> None:
    """A text that is pinned with its digest was checked when its run began, and is read without rules from then on."""
    definition = define({"name": "a", "type": "inject", "data": {"x": 1}})
    carried = replace(pinned([definition])[0], text=_UNRULY)
    async with bench.worker(definition) as worker:
        arguments = [{"given": True}, Pin([carried], version="1.0.0").to_json()]
        handle = await bench.client.start_workflow(
            "sample", args=arguments, id="releases-rules", task_queue=worker.queue
        )

        assert await asyncio.wait_for(swf.result(handle), 30) == {"given": True, "x": 1}


async def test_a_rule_that_was_added_does_not_stop_a_running_instance(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker of the release with the rule refuses the definition, and replays and completes what began before."""
    definition = define(
        {"name": "w", "type": "event", "onEvents": [{"eventRefs": ["go"]}]},
        {"name": "a", "type": "inject", "data": {"x": 1}},
        events=[{"name": "go", "type": "go", "source": "s"}],
    )
    async with bench.worker(definition) as worker:
        handle = await worker.start(workflow_id="releases-added-rule")
        await worker.awaiting(handle, "go")

    def forbids_everything(_: object) -> Iterator[Problem]:
        yield Problem("no-more", "nothing is allowed any more")

    monkeypatch.setattr(validate, "RULES", (forbids_everything,))
    definition_cache.forget()
    with pytest.raises(InvalidDefinition, match="nothing is allowed any more"):
        load(f"{definition.source.text}\n")  # what was read is remembered by its text
    async with bench.worker(queue=worker.queue):
        await swf.send_data(bench.client, handle.id, "go", {"gone": True})
        assert await asyncio.wait_for(swf.result(handle), 60) == {"gone": True, "x": 1}


async def test_a_definition_of_unknown_origin_is_checked(bench: Bench) -> None:
    """Without a digest nobody has checked it: a run with such a text fails with all that is wrong with it."""
    definition = define({"name": "a", "type": "inject", "data": {"x": 1}})
    async with bench.worker(definition) as worker:
        arguments = [{}, Pin([Pinned(_UNRULY, "unruly.yaml")]).to_json()]
        handle = await bench.client.start_workflow(
            "sample", args=arguments, id="releases-unknown", task_queue=worker.queue
        )
        with pytest.raises(swf.RunEnded, match="nowhere"):
            await asyncio.wait_for(swf.result(handle), 30)


async def test_a_run_without_a_pin_records_its_number(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Started with nothing but data, its history says a number after the first by a marker; a pin says it itself."""
    monkeypatch.setattr(workflow_input, "SEMANTICS", 2)
    definition = define({"name": "a", "type": "inject", "data": {"x": 1}})
    async with bench.worker(definition) as worker:
        bare = await swf.start_known(bench.client, "sample", {}, workflow_id="releases-bare", task_queue=worker.queue)
        assert await swf.result(bare) == {"x": 1}
        carrying = await worker.start()
        assert await swf.result(carrying) == {"x": 1}

    markers = [
        event.marker_recorded_event_attributes.details["patch-data"].payloads[0].data
        for event in await events_of(bare)
        if event.event_type == EventType.EVENT_TYPE_MARKER_RECORDED
        and "patch-data" in event.marker_recorded_event_attributes.details
    ]
    assert [b"semantics-2" in data for data in markers] == [True]
    assert EventType.EVENT_TYPE_MARKER_RECORDED not in {event.event_type for event in await events_of(carrying)}


def test_reading_again_costs_nothing() -> None:
    """What a run carries is read once, however often its workflow tasks ask for it."""
    carried = tuple(pinned([define({"name": "a", "type": "inject", "data": {"x": 1}})]))

    assert catalogue_of(carried) is catalogue_of(carried)
