"""The latest data of a running state: what a change of the data meets, and what follows if the state is broken off."""

from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.languages.loading import load
from swf_temporal.languages.serverless_workflow.execution.execution import Execution
from swf_temporal.runtime.host import TraceEntry
from swf_temporal.runtime.run import Run
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.result import Simulation
from swf_temporal.simulation.simulate import events_of
from tests.definitions import definition

EVENTS: list[dict[str, JSON]] = [
    {"type": "paid", "source": "s", "data": {"amount": 12}},
    {"type": "owed", "source": "s", "data": {"owed": 3}},
]
HEAD = definition("""\
id: latest
start: Work
functions:
  - {name: one, operation: "api#one"}
  - {name: two, operation: "api#two"}
  - {name: three, operation: "api#three"}
events:
  - {name: Paid, type: paid, source: s}
  - {name: Owed, type: owed, source: s}
  - {name: Told, type: told, source: us, kind: produced}
states:
  - {name: Undo, type: operation, usedForCompensation: true, actions: ACTIONS}
  - {name: Rest, type: inject, data: {}, end: true}
  - {name: Work, STATE}
""")
ACTIONS = "[{functionRef: one}, {functionRef: two}, {functionRef: three}]"
CALLED = "action-started two"


class Standing(NamedTuple):
    """A state, a moment in it, and the latest data then."""

    state: str
    at: str
    latest: JSON


STATES = {
    "operation": Standing("type: operation, actions: ACTIONS", CALLED, {"order": 7, "one": 1}),
    "actions side by side": Standing("type: operation, actionMode: parallel, actions: ACTIONS", CALLED, {"order": 7}),
    "callback": Standing(
        "type: callback, action: {functionRef: one}, eventRef: Paid", "event-awaited Paid", {"order": 7, "one": 1}
    ),
    "event": Standing(
        "type: event, onEvents: [{eventRefs: [Paid], actions: ACTIONS}]", CALLED, {"order": 7, "amount": 12, "one": 1}
    ),
    "events": Standing(
        """
        type: event, exclusive: false, onEvents: [
          {eventRefs: [Paid], actions: [{functionRef: one}]},
          {eventRefs: [Owed], actions: [{functionRef: two}, {functionRef: three}]}
        ]""",
        CALLED,
        {"order": 7, "amount": 12, "one": 1, "owed": 3},
    ),
    "iterations in turn": Standing(
        "type: foreach, mode: sequential, inputCollection: '${ [1] }', actions: ACTIONS", CALLED, {"order": 7, "one": 1}
    ),
    "iterations with a collection": Standing(
        """
        type: foreach, mode: sequential, inputCollection: '${ [1] }', outputCollection: '${ .found }', actions: ACTIONS
        """,
        CALLED,
        {"order": 7},
    ),
    "branches": Standing(
        "type: parallel, branches: [{name: a, actions: ACTIONS}, {name: b, actions: [{functionRef: one}]}]",
        CALLED,
        {"order": 7},
    ),
    "produced events": Standing(
        """
        type: inject, data: {one: 1}, stateDataFilter: {output: '${ {order} }'},
        transition: {nextState: Rest, produceEvents: [{eventRef: Told}]}
        """,
        "event-produced Told",
        {"order": 7, "one": 1},
    ),
    "compensation": Standing(
        """
        type: inject, data: {}, compensatedBy: Undo, stateDataFilter: {output: '${ {order} }'},
        transition: {nextState: Rest, compensate: true}
        """,
        CALLED,
        {"order": 7, "one": 1},
    ),
}


def _run(state: str, at: str, do: Callable[[Run], None]) -> Simulation:
    """Run a definition with *state*, and *do* something with it when the trace tells *at* for the first time."""
    if "transition" not in state:
        state += ", transition: Rest"
    definition = load(HEAD.replace("STATE", state).replace("ACTIONS", ACTIONS))
    results = {name: {name: number} for number, name in enumerate(("one", "two", "three"), 1)}
    context = SimulationContext([definition], results, events_of(EVENTS), {})
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


@pytest.mark.parametrize("kind", sorted(STATES.keys() - {"produced events"}))
def test_a_change_of_the_latest_data_is_not_lost(kind: str) -> None:
    """A running state goes on with it, however deep its progress is; between two events that it produces none stops."""
    output = _run(STATES[kind].state, STATES[kind].at, lambda run: run.change({"new": True})).output
    assert isinstance(output, dict)
    assert output["new"] is True
    assert output["order"] == 7
