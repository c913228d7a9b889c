"""Walks over the states that a part of a workflow holds."""

from collections.abc import Coroutine
from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UnknownDefinition
from swf_temporal.languages.loading import load
from swf_temporal.languages.serverless_workflow.execution.execution import Execution, PreparedProgram
from swf_temporal.languages.serverless_workflow.execution.frames import InstanceFrame, WalkFrame
from swf_temporal.languages.serverless_workflow.execution.program import Scope
from swf_temporal.languages.serverless_workflow.execution.step import Ended
from swf_temporal.runtime.host import InstanceIdentity, TraceKind
from swf_temporal.runtime.run import Run
from swf_temporal.simulation.clock import StateHistory
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.host import SimulatedHost
from tests.languages.serverless_workflow.models import load_program

DEFINITION = """
id: shop
specVersion: "0.8"
functions: [{name: pack, type: custom}, {name: unpack, type: custom}]
states: [{name: Ship, type: inject, data: {}, end: true}]
"""
INNER = """
id: inner
specVersion: "0.8"
functions: [{name: pack, type: custom}, {name: unpack, type: custom}]
states:
  - {name: Ship, type: operation, actions: [{functionRef: pack}], compensatedBy: Undo, transition: Rest}
  - {name: Rest, type: sleep, duration: PT1H, transition: {nextState: Sum, compensate: true}}
  - {name: Sum, type: inject, data: {summed: true}, end: true}
  - {name: Undo, type: operation, usedForCompensation: true, actions: [{functionRef: unpack}]}
"""


class Walking:
    """A run of the outer workflow, in which walks over the inner states are tried."""

    def __init__(self, progress: dict[str, Any] | None = None) -> None:
        inner = load_program(INNER)
        outer = load_program(DEFINITION)
        program = PreparedProgram(outer.workflow, outer.semantics, outer.expressions)
        self.scope = Scope("shop", {state.name: state for state in inner.workflow.states}, "Ship", "Ship/left")
        program.scopes["Ship/left"] = self.scope
        program.functions.update(inner.functions)
        functions = {"pack": {"packed": True}, "unpack": {"unpacked": True}}
        self.context = SimulationContext([load(DEFINITION)], functions, (), {})
        self.loop = self.context._loop
        self.host = SimulatedHost(self.context, self.loop, "shop", "<shop>", StateHistory())
        self.run = Run(program, self.host, {}, InstanceIdentity("shop", "run"), progress)
        assert isinstance(self.run.execution, Execution)
        self.execution = self.run.execution

    def result(self, work: Coroutine[Any, Any, Ended]) -> JSON:
        try:
            return self.loop.run_until_complete(work).data
        finally:
            self.loop.close()

    @property
    def entered(self) -> list[tuple[str, str]]:
        """The states that were entered, each with the path of execution that it was entered on."""
        return [(one.state, one.lane) for one in self.host.trace if one.kind is TraceKind.STATE_ENTERED]


def test_states_of_a_scope_are_known_by_their_paths() -> None:
    """A walk moves among the states of its scope; what it compensates is found there by its path."""
    walking = Walking()
    ended = walking.result(walking.execution.walk(WalkFrame("Ship", {}), walking.scope))
    assert ended == {"packed": True, "unpacked": True, "summed": True}
    paths = ["Ship/left/Ship", "Ship/left/Rest", "Ship/left/Undo", "Ship/left/Sum"]
    assert walking.entered == [(path, path) for path in paths]
    assert [call for call, _ in walking.context.calls] == ["pack", "unpack"]


def test_a_walk_over_a_scope_goes_on_where_it_was_suspended() -> None:
    """What its frame says is done is not done again, and what is to be compensated is still known."""
    frame = WalkFrame("Rest", {"packed": True}, moved=True)
    walking = Walking({"frame": InstanceFrame(completed=["Ship/left/Ship"]).to_json()})
    ended = walking.result(walking.execution.walk(frame, walking.scope))
    assert ended == {"packed": True, "unpacked": True, "summed": True}
    assert [call for call, _ in walking.context.calls] == ["unpack"]


def test_a_transition_does_not_leave_its_scope() -> None:
    scope = Scope("shop", {}, "Ship", "Ship/left")
    with pytest.raises(UnknownDefinition, match="'Elsewhere' is not a state of workflow 'shop' in 'Ship/left'"):
        scope.state("Elsewhere")
    with pytest.raises(UnknownDefinition, match=r"'Elsewhere' is not a state of workflow 'shop'$"):
        Scope("shop", {}, "Ship").state("Elsewhere")
