"""Simulating a definition in this process."""

import gc
from datetime import datetime, timedelta, timezone
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from swf_temporal import CallFailed, Simulation, simulate
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import InvalidDefinition, UsageError
from swf_temporal.languages.loading import load
from swf_temporal.simulation.result import SimulationError

ORDER: dict[str, Any] = {
    "id": "order", "specVersion": "0.8", "functions": [{"name": "price", "operation": "api#price"}],
    "states": [{"name": "Price", "type": "operation",
                "actions": [{"name": "ask", "functionRef": {"refName": "price", "arguments": {"item": "${ .item }"}}}],
                "end": True}],
}  # fmt: skip
WAITING: dict[str, Any] = {
    "id": "waiting", "specVersion": "0.8", "events": [{"name": "Go", "type": "go", "source": "s"}],
    "states": [{"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["Go"]}], "end": True}],
}  # fmt: skip


def failed(*arguments: Any, **options: Any) -> tuple[SimulationError, Simulation]:
    run = simulate(*arguments, **options)
    assert run.error is not None
    return run.error, run


async def _asking(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"price": len(arguments["item"])}


@pytest.mark.parametrize("price", [{"price": 4}, lambda arguments: {"price": len(arguments["item"])}, _asking])
def test_a_function_may_be_its_result_or_a_callable(price: Any) -> None:
    run = simulate(ORDER, {"item": "book"}, functions={"price": price})
    assert (run.status, run.output) == ("completed", {"item": "book", "price": 4})
    assert run.calls == (("price", {"item": "book"}),)


NOT_JSON = [
    (b"text", "these are bytes"),
    ({"at": {"x": b"text"}}, "these are bytes (at .at.x)"),
    ([float("nan")], "NaN is not a JSON number (at .[0])"),
    (float("-inf"), "-Infinity is not a JSON number"),
    ({"when": [object()]}, "a value of the type 'object' cannot be written as JSON (at .when[0])"),
    ({1: "a"}, "a key must be a text, and 1 is not"),
    (object(), "a value of the type 'object' cannot be written as JSON"),
]


def _nested(depth: int) -> JSON:
    value: JSON = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(("value", "message"), NOT_JSON)
@pytest.mark.parametrize("called", [False, True])
def test_results_are_json(value: Any, message: str, *, called: bool) -> None:
    """A result that is not JSON fails its call as a worker would, whether it is the function's or the script's."""
    error, _ = failed(ORDER, {"item": "book"}, functions={"price": (lambda _: value) if called else value})
    assert (error.name, error.code, error.state, error.action) == ("CallFailed", "NotJSON", "Price", "ask")
    what = "an object" if type(value) is object else f"a {type(value).__name__}"
    assert error.message == f"function 'price' returned {what}, not JSON: {message}"


@pytest.mark.parametrize(("value", "message"), NOT_JSON)
def test_the_input_is_json(value: Any, message: str) -> None:
    error, run = failed(ORDER, value, functions={"price": 5})
    assert (run.status, error.name) == ("failed", "WrongInput")
    assert (error.message, run.trace) == (f"the input of a workflow is one JSON value: {message}", ())


@pytest.mark.parametrize(("value", "_message"), NOT_JSON)
def test_events_are_json(value: Any, _message: str) -> None:
    with pytest.raises(UsageError, match=r"^event 1: .*\.data"):
        simulate(WAITING, events=[{"type": "go", "source": "s", "data": value}])


def test_what_json_can_write_as_it_is() -> None:
    """A tuple is written as an array is, and a text or a number of a class of its own as what it is."""

    class Kind(StrEnum):
        NEW = "new"

    data: dict[str, Any] = {"kind": Kind.NEW, "pair": (1, 2.0)}
    run = simulate(ORDER, data, functions={"price": {"price": (5,)}})
    assert run.output == {"kind": "new", "pair": [1, 2.0], "price": [5]}
    assert isinstance(run.output, dict)
    assert type(run.output["kind"]) is str


def test_what_is_nested_too_deeply_is_refused() -> None:
    error, _ = failed(ORDER, _nested(100_000), functions={"price": 5})
    assert error.message == "the input of a workflow is one JSON value: it is nested too deeply"
    error, _ = failed(ORDER, {}, functions={"price": _nested(100_000)})
    told = "function 'price' returned a list, not JSON: it is nested too deeply"
    assert (error.code, error.message) == ("NotJSON", told)


def test_what_expressions_nest_too_deeply_ends_the_run() -> None:
    """What grows too deep while a workflow runs fails it, as on a worker, and breaks nothing here."""
    grows = {"name": "Grow", "type": "inject", "data": {"n": {"a": "${ .n }"}}, "transition": "Grow"}
    run = simulate({"id": "deep", "specVersion": "0.8", "states": [grows]}, {"n": {}})
    assert (run.status, run.error and run.error.name) == ("failed", "NestedTooDeeply")


def test_data_has_to_be_of_a_size_that_can_travel() -> None:
    """More than one step or a run can carry ends a run, and no entry for errors can catch that; a result is a fault."""
    text = "x" * 1_100_000

    def error_of(functions: Any, **data: JSON) -> tuple[str, str]:
        error, _ = failed(ORDER, data, functions=functions)
        return error.name, error.message

    too_large = "PayloadTooLarge"
    assert error_of({"price": 5}, item=[text, text]) == (
        too_large, "2,200,016 bytes of data are more than the 2,031,616 that one step can carry",
    )  # fmt: skip
    assert error_of({"price": [text, text]}) == (
        "CallFailed", "function 'price' returned 2,200,007 bytes of JSON, and the limit is 2,031,616",
    )  # fmt: skip
    assert error_of({"price": {"a": text}}, b=text) == (
        too_large, "2,200,015 bytes of data are more than the 2,031,616 that a run can carry over",
    )  # fmt: skip


def test_a_function_cannot_change_the_data() -> None:
    """What a callable does to what it is given, and to what it gave, does nothing to the run."""
    given: dict[str, Any] = {"seen": []}

    def price(arguments: dict[str, Any]) -> dict[str, Any]:
        arguments["item"].append("changed")
        given["seen"].append("changed")
        return given

    twice = {**ORDER, "states": [{**ORDER["states"][0], "actions": ORDER["states"][0]["actions"] * 2}]}
    run = simulate(twice, {"item": ["book"]}, functions={"price": price})
    assert run.output == {"item": ["book"], "seen": ["changed"]}
    assert run.calls == (("price", {"item": ["book"]}),) * 2


def test_a_function_may_fail() -> None:
    def price(_: dict[str, Any]) -> None:
        raise CallFailed("no such item", code=404)

    error, run = failed(ORDER, functions={"price": price})
    assert (run.status, error.code, error.message) == ("failed", "404", "no such item")
    assert (error.state, error.action) == ("Price", "ask")
    error, _ = failed(ORDER, functions={"price": lambda _: 1 / 0})
    assert (error.name, error.message) == ("ZeroDivisionError", "division by zero")
    error, _ = failed(ORDER)
    assert error.message == "function 'price' has no scripted result: give it one in `functions`"


def test_says_that_it_waits() -> None:
    run = simulate(WAITING)
    assert (run.status, run.output, run.error) == ("waiting", None, None)


def test_refuses_an_event_that_is_none() -> None:
    with pytest.raises(UsageError, match="event 2: an event needs a text as its 'type'"):
        simulate(WAITING, events=[{"type": "go"}, {"source": "s"}])


def test_refuses_an_invalid_definition() -> None:
    with pytest.raises(InvalidDefinition, match="Nowhere"):
        simulate({"id": "x", "specVersion": "0.8", "states": [{"name": "A", "type": "sleep", "transition": "Nowhere"}]})


def test_finds_secrets_as_a_worker_does() -> None:
    action = {"functionRef": {"refName": "price", "arguments": {"k": '${ $SECRETS["api.key"] }'}}}
    definition = {**ORDER, "secrets": ["api.key"], "states": [{**ORDER["states"][0], "actions": [action]}]}
    assert simulate(definition, functions={"price": None}, secrets={"API_KEY": "k"}).calls == (("price", {"k": "k"}),)
    error, run = failed(definition, functions={"price": None})
    assert (error.code, run.calls) == ("UnknownSecret", ())
    assert error.message == "the secret 'api.key' is not known here: give it in `secrets`"


def test_takes_a_file_a_text_an_object_or_a_workflow(tmp_path: Path) -> None:
    text = "id: x\nspecVersion: '0.8'\nstates:\n- {name: A, type: inject, data: {a: 1}, end: true}\n"
    file = tmp_path / "x.yaml"
    file.write_text(text)
    for definition in (text, file, str(file), load(text)):
        assert simulate(definition).output == {"a": 1}


async def test_runs_inside_a_running_loop() -> None:
    assert simulate(ORDER, functions={"price": 5}).output == 5


def test_two_runs_are_equal() -> None:
    """Nothing in a simulation depends on when or where it runs: ids, times and order are the same."""

    def run() -> Any:
        return simulate(
            {"id": "fork", "specVersion": "0.8", "autoRetries": True,
             "events": [{"name": "Out", "type": "out", "source": "s", "kind": "produced"}],
             "functions": [{"name": "f", "operation": "api#f"}],
             "states": [{"name": "Fork", "type": "foreach", "inputCollection": "${ [range(20)] }",
                         "outputCollection": "${ .out }",
                         "actions": [{"functionRef": {"refName": "f", "arguments": {"n": "${ .item }"}}}],
                         "end": {"produceEvents": [{"eventRef": "Out"}]}}]},
            functions={"f": lambda arguments: arguments["n"]},
        )  # fmt: skip

    first = run()
    assert first == run()
    assert first.output == {"out": list(range(20))}
    assert first.produced_events[0]["time"] == "2024-01-01T00:00:00+00:00"


RETRYING: dict[str, Any] = {
    **ORDER,
    "retries": [{"name": "on", "delay": "PT0S"}],
    "states": [{**ORDER["states"][0], "actions": [{"functionRef": "price", "retryRef": "on"}]}],
}


def _fails(_arguments: JSON) -> None:
    raise CallFailed("busy", code=503)


def test_gives_up_attempts_without_an_end() -> None:
    error, run = failed(RETRYING, functions={"price": _fails}, max_steps=1_000)
    assert (error.name, error.action) == ("StepLimitExceeded", "price")
    assert error.message.startswith("1,000 states and retries ran, which is the limit set by max_steps: ")
    assert error.message.endswith(": this action failed 1,000 times, the last time with CallFailed: busy")
    assert len(run.calls) == 1_000


def test_does_not_last_for_ever() -> None:
    growing = {**RETRYING, "autoRetries": True, "retries": [{"name": "on", "delay": "PT1H", "multiplier": 2}]}
    for patient in (growing, {**ORDER, "autoRetries": True}):
        error, run = failed(patient, functions={"price": _fails}, input={})
        assert (error.name, run.elapsed) == ("StepLimitExceeded", timedelta(days=365_000))
        assert error.message.startswith("the run took 1,000 years, the limit of a simulation; lately ")
        assert error.message.endswith(" times, the last time with CallFailed: busy")


def test_gives_up_sub_workflows_that_always_fail() -> None:
    child = {**ORDER, "id": "child"}
    states = [{**ORDER["states"][0], "actions": [{"subFlowRef": "child", "retryRef": "on"}]}]
    error, run = failed({**RETRYING, "states": states}, functions={"price": _fails}, definitions=[child], max_steps=100)
    assert (error.name, len(run.calls)) == ("StepLimitExceeded", 50)


def test_times_that_last_longer_than_a_simulation_limit_nothing() -> None:
    patient = {**ORDER, "timeouts": {"stateExecTimeout": "P5000Y", "workflowExecTimeout": "P9000Y"}}
    assert simulate(patient, {"item": "lamp"}, functions={"price": {"price": 3}}).status == "completed"


def test_short_waits_after_centuries() -> None:
    naps = [
        {"name": "Long", "type": "sleep", "duration": "P900Y", "transition": "Short"},
        {"name": "Short", "type": "sleep", "duration": "PT0.5S", "end": True},
    ]
    run = simulate({"id": "naps", "specVersion": "0.8", "states": naps})
    assert (run.status, run.elapsed) == ("completed", timedelta(days=900 * 365, seconds=0.5))


def test_begins_at_the_given_time() -> None:
    state = {"name": "A", "type": "sleep", "duration": "PT1H", "transition": "B"}
    now = {"name": "B", "type": "inject", "data": {"now": "${ now | todate }"}, "end": True}
    definition = {"id": "w", "specVersion": "0.8", "version": "1", "start": "A", "states": [state, now]}
    begin = datetime(2031, 2, 3, 4, tzinfo=timezone(timedelta(hours=1)))
    run = simulate(definition, start_time=begin)
    assert (run.output, run.elapsed) == ({"now": "2031-02-03T04:00:00Z"}, timedelta(hours=1))
    assert run.trace[0].at == begin


def test_a_start_time_needs_a_zone() -> None:
    definition = {
        "id": "w", "specVersion": "0.8", "version": "1", "states": [{"name": "A", "type": "inject", "data": {}}],
    }  # fmt: skip
    with pytest.raises(UsageError, match="has no time zone"):
        simulate(definition, start_time=datetime(2031, 2, 3))  # noqa: DTZ001 - that is the point


def test_a_long_running_call_ends_before_the_simulation_that_cancels_it(caplog: pytest.LogCaptureFixture) -> None:
    """A branch that is complete at once cancels the other, whose call has just begun."""
    branches = [
        {"name": "long", "actions": [{"functionRef": "work"}]},
        {"name": "short", "actions": [{"functionRef": "work", "condition": "${ false }"}]},
    ]
    state = {"name": "A", "type": "parallel", "completionType": "atLeast", "numCompleted": 1, "end": True}
    run = simulate(
        {
            "id": "long", "version": "1.0", "specVersion": "0.8",
            "functions": [{"name": "work", "type": "custom", "metadata": {"longRunning": "true"}}],
            "states": [{**state, "branches": branches, "timeouts": {"actionExecTimeout": "PT2S"}}],
        },
        {},
        functions={"work": 1},
    )  # fmt: skip
    gc.collect()  # asyncio tells of a task that is lost once that is collected
    assert run.status == "completed"
    assert "was destroyed" not in caplog.text
