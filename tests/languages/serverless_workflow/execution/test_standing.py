"""Where is an instance, and what does it wait for, while it runs? This is what queries are answered with."""

from typing import Any, NamedTuple

from swf_temporal.base.data import JSON
from swf_temporal.languages.loading import load
from swf_temporal.languages.serverless_workflow.execution.execution import Execution
from swf_temporal.runtime.host import TraceEntry
from swf_temporal.runtime.run import Awaited, Run
from swf_temporal.simulation.clock import EPOCH
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.simulate import events_of

START = EPOCH.timestamp()
DEFINITION = """
id: standing
specVersion: "0.8"
functions: [{name: add, operation: "api#add"}, {name: undo, operation: "api#undo"}]
events:
  - {name: asked, type: asked, source: us, kind: produced}
  - {name: told, type: told, source: them}
  - {name: done, type: done, source: them}
states:
  - name: Add
    type: operation
    compensatedBy: Undo
    actions: [{name: one, functionRef: add}, {name: two, functionRef: add}]
    transition: Both
  - name: Both
    type: parallel
    branches:
      - name: ask
        actions:
          - {name: question, eventRef: {produceEventRef: asked, consumeEventRef: told, consumeEventTimeout: PT1H}}
      - {name: add, actions: [{name: three, functionRef: add, sleep: {before: PT1M}}]}
    onErrors: [{errorRef: "*", transition: {nextState: Rest, compensate: true}}]
    transition: Rest
  - {name: Undo, type: operation, usedForCompensation: true, actions: [{name: back, functionRef: undo}]}
  - {name: Rest, type: event, onEvents: [{eventRefs: [done]}], end: true}
metadata: {compensateOnCancel: true}
"""


class Seen(NamedTuple):
    what: str
    state: str | None
    data: JSON
    latest: JSON
    awaited: list[Awaited]
    cancelled: bool


def _seen(definition: str = DEFINITION, *, cancelling: bool = False) -> list[Seen]:
    """Return where an instance was at each of its steps; its question is never answered."""
    counted: list[int] = []

    def add(_: JSON) -> JSON:
        counted.append(1)
        return {f"n{len(counted)}": True}

    context = SimulationContext(
        [load(definition)], {"add": add, "undo": {"undone": True}}, events_of([]), {}, cancelling=cancelling
    )
    seen: list[Seen] = []

    def look(run: Run, entry: TraceEntry) -> None:
        execution = run.execution
        assert isinstance(execution, Execution)
        what = f"{entry.kind.value} {entry.name}"
        awaited = list(run.awaited.values())
        state, data, latest = execution.state, execution.data, execution.latest_data
        seen.append(Seen(what, state, data, latest, awaited, execution.is_cancelled))

    context.on_trace = look
    context.run({"first": 1})
    return seen


def _at(seen: list[Seen], what: str) -> Seen:
    return next(one for one in seen if one.what == what)


def test_before_the_first_state() -> None:
    assert _seen()[0] == Seen("workflow-started standing", None, {"first": 1}, {"first": 1}, [], cancelled=False)


def test_actions_change_the_latest_data() -> None:
    """The data is what the running state began with; the latest is what its actions made of it."""
    seen = _at(_seen(), "action-completed two")
    assert (seen.state, seen.data) == ("Add", {"first": 1})
    assert seen.latest == {"first": 1, "n1": True}
    assert _at(_seen(), "state-entered Both").data == {"first": 1, "n1": True, "n2": True}


def test_what_is_awaited_is_known() -> None:
    """While a branch waits for an answer it is known in which state, for which event and until when."""
    seen = _seen()
    assert [one._replace(since=None) for one in _at(seen, "action-started three").awaited] == [
        Awaited("Both", ["told"], START + 3600)
    ]
    assert _at(seen, "event-timed-out told").awaited == []
    assert _at(seen, "event-awaited done").awaited == []


def test_undoing_is_where_the_instance_is() -> None:
    """While a state is undone the instance is in the state that undoes it, on the data that goes through."""
    begun = _at(_seen(), "action-started back")
    kept: dict[str, Any] = {"first": 1, "n1": True, "n2": True}
    assert (begun.state, begun.data, begun.latest, begun.cancelled) == ("Undo", kept, kept, False)
    ended = _at(_seen(), "state-left Undo")
    assert ended.state == "Undo"
    left = _at(_seen(), "state-left Both")
    assert (left.state, left.latest) == ("Both", {**kept, "undone": True})


def test_a_cancelled_instance_knows_that_it_is() -> None:
    """One that was cancelled while it waited undoes what it did, and says so; before, it was not."""
    seen = _seen(DEFINITION.replace(", compensate: true", ""), cancelling=True)
    assert not _at(seen, "event-awaited done").cancelled
    undoing = _at(seen, "action-started back")
    kept = {"first": 1, "n1": True, "n2": True}
    assert (undoing.state, undoing.data, undoing.cancelled) == ("Undo", kept, True)


def test_what_runs_before_the_end_is_where_the_instance_is() -> None:
    slow = """
    id: slow
    specVersion: "0.8"
    timeouts: {workflowExecTimeout: {duration: PT1H, runBefore: Late}}
    states: [{name: Nap, type: sleep, duration: PT2H, end: true}, {name: Late, type: inject, data: {}, end: true}]
    """
    seen = _seen(slow)
    assert _at(seen, "workflow-timed-out slow").state == "Nap"
    assert _at(seen, "state-entered Late").state == "Late"
