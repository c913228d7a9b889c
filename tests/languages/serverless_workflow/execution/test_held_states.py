"""Branches and iterations that hold states of their own, as in the drafts."""

from collections.abc import Callable

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.definition import ServerlessWorkflowDefinition
from swf_temporal.languages.serverless_workflow.language import LANGUAGE
from swf_temporal.languages.serverless_workflow.model.states import (
    Branch,
    ForeachState,
    NestedStates,
    ParallelState,
    State,
)
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.runtime.run import Run
from swf_temporal.simulation.context import SimulationContext
from tests.languages.serverless_workflow.models import load_model

BODY = """
id: body
specVersion: "0.8"
functions: [{name: pack, type: custom}]
states:
  - {name: Rest, type: sleep, duration: PT1H, transition: Pack}
  - {name: Pack, type: operation, actions: [{functionRef: {refName: pack, arguments: "${ .item }"}}], transition: Sum}
  - {name: Sum, type: inject, data: {summed: true}, end: true}
"""
PARALLEL = """
id: shop
specVersion: "0.8"
functions: [{name: pack, type: custom}]
states:
  - name: Ship
    type: parallel
    branches: [{name: left, actions: [{functionRef: pack}]}, {name: right, actions: [{functionRef: pack}]}]
    transition: After
  - {name: After, type: inject, data: {after: true}, end: true}
"""
FOREACH = """
id: shop
specVersion: "0.8"
functions: [{name: pack, type: custom}]
states:
  - name: Ship
    type: foreach
    inputCollection: .items
    outputCollection: .packed
    actions: [{functionRef: pack}]
    transition: After
  - {name: After, type: inject, data: {after: true}, end: true}
"""


def holding(text: str, body: str = BODY) -> Workflow:
    """Return the workflow in *text* whose first state runs the states in *body*, in place of actions."""
    outer, inner = load_model(text), load_model(body)
    scope = NestedStates(start=inner.start_state, states=inner.states)
    first, *others = outer.states
    if isinstance(first, ParallelState):
        branches: tuple[Branch, ...] = tuple(one.model_copy(update={"scope": scope}) for one in first.branches)
        held: State = first.model_copy(update={"branches": branches})
    else:
        assert isinstance(first, ForeachState)
        held = first.model_copy(update={"scope": scope})
    return outer.model_copy(update={"states": (held, *others)})


def context(workflow: Workflow) -> SimulationContext:
    functions: dict[str, Callable[[JSON], JSON]] = {"pack": lambda item: {f"packed {item}": True}}
    return SimulationContext([ServerlessWorkflowDefinition(LANGUAGE, workflow)], functions, (), {})


def suspending_at(step: int) -> Callable[[Run, TraceEntry], None]:
    """Return what suspends a run when it has made so many entries in its trace."""
    made = 0

    def told(run: Run, _entry: TraceEntry) -> None:
        nonlocal made
        made += 1
        if made == step:
            run.suspend()

    return told


def test_branches_walk_through_states_of_their_own() -> None:
    """Side by side, each on its copy of the data; states are known by their paths, and outputs are merged in order."""
    ran = context(holding(PARALLEL)).run({"item": 1})
    assert ran.output == {"item": 1, "packed 1": True, "summed": True, "after": True}
    entered = [one.state for one in ran.trace if one.kind is TraceKind.STATE_ENTERED]
    branches = [f"Ship/{branch}/{state}" for state in ("Rest", "Pack", "Sum") for branch in ("left", "right")]
    assert sorted(entered) == sorted(["Ship", *branches, "After"])
    assert ran.elapsed.total_seconds() == 3600


def test_iterations_walk_through_states_of_their_own() -> None:
    ran = context(holding(FOREACH)).run({"items": [1, 2]})
    packed = [{"items": [1, 2], "item": item, f"packed {item}": True, "summed": True} for item in (1, 2)]
    assert ran.output == {"items": [1, 2], "packed": packed, "after": True}
    lanes = [one.lane for one in ran.trace if one.kind is TraceKind.STATE_ENTERED and one.state == "Ship/Pack"]
    assert sorted(lanes) == ["Ship[0]/Pack", "Ship[1]/Pack"]


@pytest.mark.parametrize("text", [PARALLEL, FOREACH])
def test_an_end_that_terminates_ends_the_instance(text: str) -> None:
    ran = context(holding(text, BODY.replace("end: true", "end: {terminate: true}"))).run({"items": [1, 2], "item": 1})
    assert isinstance(ran.output, dict)
    assert ran.output["summed"] is True
    assert "After" not in [one.state for one in ran.trace if one.kind is TraceKind.STATE_ENTERED]


@pytest.mark.parametrize("text", [PARALLEL, FOREACH])
def test_held_states_go_on_where_they_were_suspended(text: str) -> None:
    data: JSON = {"items": [1, 2], "item": 1}
    through = context(holding(text)).run(data)
    for step in range(1, len(through.trace)):
        again = context(holding(text))
        again.on_trace = suspending_at(step)
        ran = again.run(data)
        assert ran.output == through.output
        assert len(again.calls) == 2


def test_descriptions_show_held_states_below_what_holds_them() -> None:
    parts = ServerlessWorkflowDefinition(LANGUAGE, holding(PARALLEL)).outline.parts
    left = parts[0].parts[0]
    assert [part.path for part in left.parts] == ["Ship/left/Rest", "Ship/left/Pack", "Ship/left/Sum"]
    assert [way.to for way in left.parts[0].ways] == ["Ship/left/Pack"]
