"""Definitions that runs carry: read without rules, in parts, and once."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from swf_temporal import RunEnded
from swf_temporal.base.errors import InvalidDefinition, Problem
from swf_temporal.languages import definition_cache
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.languages.serverless_workflow.validation import rules
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.children import reachable_from
from swf_temporal.temporal.records import Pin, Pinned, catalogue_of, pinned
from tests.temporal.building import awaits, consumed, inject, operation
from tests.temporal.conftest import Bench, define, outcome

_UNRULY = """
id: sample
version: "1.0.0"
specVersion: "0.8"
states:
- {name: a, type: inject, data: {x: 1}, end: true}
- {name: never, type: inject, data: {x: 2}, transition: nowhere}
"""
"""A definition that our rules refuse, though nothing of what is wrong with it is ever reached."""


def test_a_part_of_a_pin_means_what_the_whole_does() -> None:
    """An instance of a version finds the same definitions in what it may need as in all that there are."""

    def of(id_: str, version: str, *sub_workflows: Any) -> Definition:
        actions = [{"subFlowRef": one} for one in sub_workflows]
        state = operation("a", *actions) if actions else inject("a")
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


async def test_a_new_rule_never_touches_a_running_instance(bench: Bench) -> None:
    """A text that is pinned with its digest was checked when its run began, and is read without rules from then on."""
    definition = define(inject("a", {"x": 1}))
    carried = replace(pinned([definition])[0], text=_UNRULY)
    async with bench.worker(definition) as worker:
        arguments = [{"given": True}, Pin([carried], version="1.0.0").to_json()]
        handle = await worker.begin("sample", *arguments, workflow_id="pinned-rules")

        assert await outcome(handle) == {"given": True, "x": 1}


async def test_a_rule_that_was_added_does_not_stop_a_running_instance(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker of the release with the rule refuses the definition, and replays and completes what began before."""
    definition = define(awaits("w", "go"), inject("a", {"x": 1}), events=consumed("go", source="s"))
    async with bench.worker(definition) as worker:
        handle = await worker.start(workflow_id="pinned-added-rule")
        await worker.awaiting(handle, "go")

    def forbids_everything(_: object) -> Iterator[Problem]:
        yield Problem("no-more", "nothing is allowed any more")

    monkeypatch.setattr(rules, "RULES", (forbids_everything,))
    definition_cache.forget()
    with pytest.raises(InvalidDefinition, match="nothing is allowed any more"):
        load(f"{definition.source.text}\n")  # what was read is remembered by its text
    async with bench.worker(queue=worker.queue):
        await swf.send_data(bench.client, handle.id, "go", {"gone": True})
        assert await outcome(handle) == {"gone": True, "x": 1}


async def test_a_definition_of_unknown_origin_is_checked(bench: Bench) -> None:
    """Without a digest nobody has checked it: a run with such a text fails with all that is wrong with it."""
    definition = define(inject("a", {"x": 1}))
    async with bench.worker(definition) as worker:
        arguments = [{}, Pin([Pinned(_UNRULY, "unruly.yaml")]).to_json()]
        handle = await worker.begin("sample", *arguments, workflow_id="pinned-unknown")
        with pytest.raises(RunEnded, match="nowhere"):
            await outcome(handle)


def test_reading_again_costs_nothing() -> None:
    carried = tuple(pinned([define(inject("a", {"x": 1}))]))

    assert catalogue_of(carried) is catalogue_of(carried)
