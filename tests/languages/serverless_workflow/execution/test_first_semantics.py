"""A run that was begun under the first reading keeps its course, whatever later readings make of its definition."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from swf_temporal.data import JSON
from swf_temporal.loading import load
from swf_temporal.runtime.semantics import FIRST_SEMANTICS
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.result import Simulation
from swf_temporal.simulation.simulate import events_of

Run = Callable[..., Simulation]
State = Mapping[str, JSON]

EVENTS: JSON = [
    {"name": "Read", "type": "read"},
    {"name": "Here", "type": "read", "source": "here"},
    {"name": "Go", "type": "go", "source": "s"},
]
NAP: State = {"name": "Nap", "type": "sleep", "duration": "PT2H", "end": True}
PASS: State = {"name": "Pass", "type": "inject", "data": {}, "transition": "Wait"}


@pytest.fixture
def run() -> Run:
    """Run a definition of some states that was begun under the first reading."""
    return _run


def _run(
    *states: State,
    data: JSON = None,
    functions: Mapping[str, Any] | None = None,
    sent: Sequence[Mapping[str, Any]] = (),
    cancelling: bool = False,
    others: Sequence[Mapping[str, Any]] = (),
    **rest: Any,
) -> Simulation:
    defined = [{"name": name, "type": "custom"} for name in functions or ()]
    whole = {"id": "old", "specVersion": "0.8", "functions": defined, "events": EVENTS, "states": states, **rest}
    workflows = [load(one) for one in (whole, *others)]
    context = SimulationContext(workflows, functions or {}, events_of(sent), {}, cancelling=cancelling)
    context.semantics = FIRST_SEMANTICS
    return context.run(data)


def _all_of(*refs: str, **rest: JSON) -> State:
    on_events: JSON = [{"eventRefs": [ref], "eventDataFilter": {"toStateData": f".{ref}"}} for ref in refs]
    return {"name": "Wait", "type": "event", "exclusive": False, "onEvents": on_events, **rest}


def test_a_text_in_the_metadata_asked_for_nothing(run: Run) -> None:
    """Only true made `compensateOnCancel` count."""
    states: list[State] = [
        {"name": "Book", "type": "inject", "data": {}, "compensatedBy": "Unbook", "transition": "Wait"},
        {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["Go"]}], "end": True},
        {"name": "Unbook", "type": "operation", "usedForCompensation": True, "actions": [{"functionRef": "f"}]},
    ]

    def calls(asked: JSON) -> int:
        metadata = {"compensateOnCancel": asked}
        return len(run(*states, functions={"f": 1}, cancelling=True, metadata=metadata).calls)

    assert [calls(asked) for asked in (True, "true")] == [1, 0]


def test_run_before_did_not_complete_a_run(run: Run) -> None:
    """A run whose time was over failed, whatever ran before its end, and whatever that end said."""
    before: State = {"name": "Tidy", "type": "inject", "data": {}, "end": {"continueAs": "other"}}
    timeouts = {"workflowExecTimeout": {"duration": "PT1H", "runBefore": "Tidy"}}
    ended = run(NAP, before, timeouts=timeouts)
    assert ended.error is not None
    assert (ended.error.name, ended.elapsed.total_seconds()) == ("TimedOut", 3600)


def test_undoing_began_anew_before_the_end(run: Run) -> None:
    """What the timeout had broken off in the middle of a chain was done again from the chain's beginning."""
    undone = run(
        {"name": "Book", "type": "inject", "data": {}, "compensatedBy": "Unbook", "end": {"compensate": True}},
        {"name": "Unbook", "type": "operation", "usedForCompensation": True, "actions": [{"functionRef": "f"}],
         "transition": "Rest"},
        {"name": "Rest", "type": "sleep", "usedForCompensation": True, "duration": "PT2H"},
        {"name": "Tidy", "type": "inject", "data": {}, "end": {"compensate": True}},
        functions={"f": None},
        timeouts={"workflowExecTimeout": {"duration": "PT1H", "runBefore": "Tidy"}},
    )  # fmt: skip
    assert len(undone.calls) == 2


def test_a_timeout_for_all_states_passed_sleeps_over(run: Run) -> None:
    """One of its own a sleep state could have, and of two times the total was the only one that counted."""
    everywhere: JSON = {"stateExecTimeout": "PT1H"}
    assert run(NAP, timeouts=everywhere).status == "completed"
    work: JSON = [{"functionRef": "f", "sleep": {"before": "PT2H"}}]
    other: State = {"name": "Work", "type": "operation", "actions": work, "end": True}
    assert run(other, functions={"f": 1}, timeouts=everywhere).status == "failed"
    assert run({**NAP, "timeouts": {"stateExecTimeout": "PT1H"}}).status == "failed"
    assert run({**NAP, "timeouts": {"stateExecTimeout": {"single": "PT1H", "total": "PT3H"}}}).status == "completed"


def test_an_event_stayed_where_it_went_first(run: Run) -> None:
    """An event that was like two definitions did not move on."""
    sent = [{"type": "read", "source": place, "data": place} for place in ("here", "there")]
    assert run(_all_of("Read", "Here", end=True), sent=sent).status == "waiting"


def test_what_was_taken_in_vain_was_lost(run: Run) -> None:
    """A state that was left before all of its events came kept those that had come."""
    again: State = {"name": "Again", "type": "event", "onEvents": [{"eventRefs": ["Read"]}], "end": True}
    sent = [{"type": "read", "source": "there", "data": {}}]
    ways: list[JSON] = [{"eventTimeout": "PT1H"}, {"stateExecTimeout": "PT1H"}]
    for how in ways:
        handled: JSON = [{"errorRef": "late", "transition": "Again"}]
        wait = _all_of("Read", "Go", timeouts=how, transition="Again", onErrors=handled)
        errors = [{"name": "late", "code": "TimedOut"}]
        left = run(PASS, wait, again, sent=sent, errors=errors)
        assert (left.status, left.elapsed.total_seconds()) == ("waiting", 3600)


def test_time_for_events_ran_from_the_start(run: Run) -> None:
    """In the first state, too, it counted from when the state was entered."""
    timeouts = {"eventTimeout": "PT1H"}
    exclusive: State = {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["Go"]}], "end": True}
    for state in (exclusive, _all_of("Read", "Go", end=True)):
        left = run({**state, "timeouts": timeouts})
        assert (left.status, left.elapsed.total_seconds()) == ("completed", 3600)


def test_an_output_collection_took_the_place_of_what_was_there(run: Run) -> None:
    """What was no array was replaced."""
    each: State = {
        "name": "Each", "type": "foreach", "inputCollection": ".items", "outputCollection": ".out",
        "actions": [{"functionRef": "f"}], "end": True,
    }  # fmt: skip
    assert run(each, data={"items": [1], "out": "text"}, functions={"f": 7}).output == {"items": [1], "out": [7]}


def test_a_text_for_an_event_was_no_expression(run: Run) -> None:
    """Only marks made it one; without a text, an event had all the data."""
    texts: list[JSON] = [{"data": ".order"}, {"data": "${ .order }"}, {}]
    events: JSON = [{"eventRef": "Go", **text} for text in texts if isinstance(text, dict)]
    tell: State = {"name": "Tell", "type": "inject", "data": {}, "end": {"produceEvents": events}}
    produced = run(tell, data={"order": 7}).produced_events
    assert [event["data"] for event in produced] == [".order", 7, {"order": 7}]


def test_a_sub_workflow_was_tried_again_with_the_same_wrong_input(run: Run) -> None:
    """An input that does not fit was an error like any other."""
    child = {
        "id": "child", "specVersion": "0.8", "states": [NAP],
        "dataInputSchema": {"schema": {"type": "object", "required": ["order"]}, "failOnValidationErrors": True},
    }  # fmt: skip
    parent: State = {
        "name": "Run", "type": "operation", "actions": [{"subFlowRef": "child", "retryRef": "Twice"}], "end": True,
    }  # fmt: skip
    retries = [{"name": "Twice", "delay": "PT1M", "maxAttempts": 3}]
    assert run(parent, others=[child], retries=retries).elapsed.total_seconds() == 120
