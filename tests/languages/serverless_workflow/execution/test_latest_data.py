"""The latest data of a running state: what a change of the data meets, and what follows if the state is broken off."""

from collections.abc import Callable
from copy import deepcopy

import pytest

from swf_temporal.data import JSON
from swf_temporal.languages.serverless_workflow.execution.execution import Execution
from swf_temporal.loading import load
from swf_temporal.runtime.host import TraceEntry
from swf_temporal.runtime.run import Run
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.simulate import Simulation, events_of

EVENTS: list[JSON] = [
    {"type": "paid", "source": "s", "data": {"amount": 12}},
    {"type": "owed", "source": "s", "data": {"owed": 3}},
]
HEAD = """
id: latest
version: "1.0"
specVersion: "0.8"
start: Work
functions: [{name: one, operation: "api#one"}, {name: two, operation: "api#two"}, {name: three, operation: "api#three"}]
events:
  - {name: Paid, type: paid, source: s}
  - {name: Owed, type: owed, source: s}
  - {name: Told, type: told, source: us, kind: produced}
states:
  - {name: Undo, type: operation, usedForCompensation: true, actions: [{functionRef: one}, {functionRef: two}, {functionRef: three}], end: true}
"""
CALLED = "action-started two"
STATES = {
    "operation": (
        "{name: Work, type: operation, actions: [{functionRef: one}, {functionRef: two}, {functionRef: three}], end: true}",
        CALLED,
        {"order": 7, "one": 1},
    ),
    "actions side by side": (
        "{name: Work, type: operation, actionMode: parallel, actions: [{functionRef: one}, {functionRef: two}, {functionRef: three}], end: true}",
        CALLED,
        {"order": 7},
    ),
    "callback": (
        "{name: Work, type: callback, action: {functionRef: one}, eventRef: Paid, end: true}",
        "event-awaited Paid",
        {"order": 7, "one": 1},
    ),
    "event": (
        "{name: Work, type: event, onEvents: [{eventRefs: [Paid], actions: [{functionRef: one}, {functionRef: two}, {functionRef: three}]}], end: true}",
        CALLED,
        {"order": 7, "amount": 12, "one": 1},
    ),
    "events": (
        "{name: Work, type: event, exclusive: false, onEvents: [{eventRefs: [Paid], actions: [{functionRef: one}]},"
        " {eventRefs: [Owed], actions: [{functionRef: two}, {functionRef: three}]}], end: true}",
        CALLED,
        {"order": 7, "amount": 12, "one": 1, "owed": 3},
    ),
    "iterations in turn": (
        "{name: Work, type: foreach, mode: sequential, inputCollection: '${ [1] }',"
        " actions: [{functionRef: one}, {functionRef: two}, {functionRef: three}], end: true}",
        CALLED,
        {"order": 7, "one": 1},
    ),
    "iterations with a collection": (
        "{name: Work, type: foreach, mode: sequential, inputCollection: '${ [1] }', outputCollection: '${ .found }',"
        " actions: [{functionRef: one}, {functionRef: two}, {functionRef: three}], end: true}",
        CALLED,
        {"order": 7},
    ),
    "branches": (
        "{name: Work, type: parallel, branches: [{name: a, actions: [{functionRef: one}, {functionRef: two}, {functionRef: three}]},"
        " {name: b, actions: [{functionRef: one}]}], end: true}",
        CALLED,
        {"order": 7},
    ),
    "produced events": (
        "{name: Work, type: inject, data: {one: 1}, stateDataFilter: {output: '${ {order, new} }'},"
        " end: {produceEvents: [{eventRef: Told}, {eventRef: Told}]}}",
        "event-produced Told",
        {"order": 7, "one": 1},
    ),
    "compensation": (
        "{name: Work, type: inject, data: {}, compensatedBy: Undo, stateDataFilter: {output: '${ {order} }'},"
        " end: {compensate: true}}",
        CALLED,
        {"order": 7, "one": 1},
    ),
}


def _run(state: str, at: str, do: Callable[[Run], None]) -> Simulation:
    """Run a definition with *state*, and *do* something with it when the trace tells *at* for the first time."""
    definition = load(f"{HEAD}  - {state}\n")
    context = SimulationContext([definition], {"one": {"one": 1}, "two": {"two": 2}, "three": {"three": 3}}, events_of(EVENTS), {})
    met: list[TraceEntry] = []

    def look(run: Run, entry: TraceEntry) -> None:
        if not met and f"{entry.kind.value} {entry.name}" == at:
            met.append(entry)
            do(run)

    context.on_trace = look
    simulation = context.run({"order": 7})
    assert met
    assert simulation.status == "completed", simulation.error
    return simulation


@pytest.mark.parametrize(("state", "at", "latest"), STATES.values(), ids=STATES)
def test_the_latest_data_are_what_finished_actions_merged(state: str, at: str, latest: JSON) -> None:
    """Of every type of state that merges one result after the other; before a join nothing is merged, or filtered."""
    seen: list[JSON] = []

    def look(run: Run) -> None:
        assert isinstance(run.execution, Execution)
        seen.append(deepcopy(run.execution.latest_data))

    _run(state, at, look)
    assert seen == [latest]


@pytest.mark.parametrize("kind", [kind for kind in STATES if kind != "produced events"])
def test_a_change_of_the_latest_data_is_not_lost(kind: str) -> None:
    """A running state goes on with it, however deep its progress is; between two events that it produces none stops."""
    state, at, _ = STATES[kind]
    output = _run(state, at, lambda run: run.change({"new": True})).output
    assert isinstance(output, dict)
    assert output["new"] is True
    assert output["order"] == 7
