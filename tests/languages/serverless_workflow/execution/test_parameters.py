"""Are a workflow's own parameters evaluated for each run by itself?"""

from typing import Any

import pytest

from swf_temporal.base.errors import ExpressionFailed, WrongData
from swf_temporal.languages.serverless_workflow.execution.parameters import for_run, has_open_parameters
from swf_temporal.languages.serverless_workflow.execution.program import Program
from swf_temporal.languages.serverless_workflow.model.actions import Action
from tests.languages.serverless_workflow.models import load_program


def program(**more: Any) -> Program:
    states = [{"name": "A", "type": "inject", "data": {}, "end": True}]
    return load_program({"id": "a", "version": "1.0.0", "specVersion": "0.8", "states": states, **more})


def retry(**fields: Any) -> Program:
    return program(retries=[{"name": "r", **fields}])


def test_programs_are_shared_and_never_change() -> None:
    """Two runs see their own values, and the program that they share keeps its expressions."""
    shared = program(timeouts={"stateExecTimeout": "${ .t }"}, name="for ${ .who }")
    first, second = (for_run(shared, {"t": text, "who": text}, {}) for text in ("PT1S", "PT2S"))
    assert [one.workflow.timeouts.state_exec_timeout for one in (first, second, shared)] == ["PT1S", "PT2S", "${ .t }"]
    assert [one.about["name"] for one in (first, second, shared)] == ["for PT1S", "for PT2S", "for ${ .who }"]
    assert first.expressions is shared.expressions
    state = shared.workflow.states[0]
    assert [one.timeouts(state).state_exec_timeout for one in (first, second)] == ["PT1S", "PT2S"]


def test_runs_have_their_own_retry_rules() -> None:
    shared = retry(maxAttempts="${ .n }")
    action = Action(name="x", retry_ref="r")
    rules = [for_run(shared, {"n": number}, {}).retry_rule(action) for number in (2, 3)]
    assert [rule and rule.max_attempts for rule in rules] == [2, 3]


@pytest.mark.parametrize(
    ("more", "is_open"),
    [
        ({}, False),
        ({"version": "${ .v }"}, True),
        ({"timeouts": {"workflowExecTimeout": {"duration": "${ .t }"}}}, True),
        ({"timeouts": {"eventTimeout": "PT${ .t }S"}}, True),
        ({"retries": [{"name": "r", "maxAttempts": "${ .n }"}]}, True),
        ({"metadata": {"a": "${ .n }"}, "constants": {"a": "${ .n }"}}, False),
    ],
)
def test_which_parameters_are_open(more: dict[str, Any], is_open: bool) -> None:  # noqa: FBT001 - what is expected
    """Names, timeouts and retries may be expressions; constants and metadata are static."""
    assert has_open_parameters(program(**more).workflow) is is_open


@pytest.mark.parametrize(
    ("field", "given", "value"),
    [
        ("delay", "PT3S", "PT3S"),
        ("delay", 1.5, "PT1.5S"),
        ("delay", 0, "PT0S"),
        ("maxAttempts", "3", 3),
        ("maxAttempts", 3.0, 3),
        ("maxAttempts", 0, 0),
        ("multiplier", "2.5", 2.5),
        ("multiplier", 0, 0.0),
        ("multiplier", "PT2S", "PT2S"),
        ("multiplier", "+PT2S", "+PT2S"),
        ("jitter", 0.5, 0.5),
        ("jitter", 0, 0.0),
        ("jitter", 1, 1.0),
        ("jitter", "PT1S", "PT1S"),
        ("jitter", "+PT1S", "+PT1S"),
    ],
)
def test_retries(field: str, given: Any, value: Any) -> None:
    found = for_run(retry(**{field: "${ .x }"}), {"x": given}, {}).workflow.retries[0]
    assert found.model_dump(by_alias=True)[field] == value


@pytest.mark.parametrize(
    ("field", "given", "message"),
    [
        ("delay", "soon", "a text 'soon'"),
        ("delay", -1, "a number -1"),
        ("delay", "-PT1S", "a text '-PT1S'"),
        ("delay", True, "a boolean"),
        ("delay", [1], "an array"),
        ("maxAttempts", 1.5, "a number 1.5"),
        ("maxAttempts", None, "null"),
        ("maxAttempts", True, "a boolean"),
        ("maxAttempts", "many", "a text 'many'"),
        ("multiplier", {}, "an object"),
        ("multiplier", -0.5, "a number -0.5"),
        ("multiplier", True, "a boolean"),
        ("multiplier", "inf", "a text 'inf'"),
        ("multiplier", "+P", "a text '+P'"),
        ("jitter", 1.5, "a number 1.5"),
        ("jitter", "+P", "a text '+P'"),
    ],
)
def test_what_a_parameter_cannot_be(field: str, given: Any, message: str) -> None:
    """A parameter that yields what it cannot be is told with its name and what it yielded."""
    with pytest.raises(WrongData) as told:
        for_run(retry(**{field: "${ .x }"}), {"x": given}, {})
    assert told.value.message == f"retry 'r': {field} yields {message}, which is not valid there"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"name": "${ true }"}, "the workflow's name yields a boolean"),
        ({"version": "${ empty }"}, "the workflow's version yields null"),
        ({"timeouts": {"eventTimeout": "${ 1, 2 }"}}, "timeouts: eventTimeout yields an array"),
        ({"timeouts": {"workflowExecTimeout": {"duration": '${ "soon" }'}}},
         "workflowExecTimeout: duration yields a text 'soon'"),
    ],
)  # fmt: skip
def test_where_a_parameter_stands(more: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongData) as told:
        for_run(program(**more), {}, {})
    assert told.value.message == f"{message}, which is not valid there"


def test_names_and_versions_are_texts() -> None:
    """A number is read as it is written, and expressions see the variables of the run."""
    shared = program(name="${ $CONST.who }", version="${ 2 }", constants={"who": "all"})
    about = for_run(shared, {}, {"CONST": {"who": "all"}}).about
    assert about == {"id": "a", "name": "all", "version": "2"}


@pytest.mark.parametrize(
    ("field", "written"),
    [
        ("state_exec_timeout", {"stateExecTimeout": "${ .t }"}),
        ("single_state_exec_timeout", {"stateExecTimeout": {"single": "${ .t }", "total": "PT1H"}}),
        ("action_exec_timeout", {"actionExecTimeout": "${ .t }"}),
        ("branch_exec_timeout", {"branchExecTimeout": "${ .t }"}),
        ("event_timeout", {"eventTimeout": "${ .t }"}),
    ],
)
def test_each_timeout_may_be_an_expression(field: str, written: dict[str, Any]) -> None:
    shared = program(timeouts={**written, "workflowExecTimeout": {"duration": "${ .all }"}})
    timeouts = for_run(shared, {"t": 5, "all": "PT1H"}, {}).workflow.timeouts
    assert getattr(timeouts, field) == "PT5S"
    assert timeouts.workflow_exec_timeout is not None
    assert timeouts.workflow_exec_timeout.duration == "PT1H"


def test_expressions_that_fail() -> None:
    """An expression that fails on the input is told with the parameter that it stands in."""
    with pytest.raises(ExpressionFailed, match=r"^the workflow's version: "):
        for_run(program(version="${ .a.b }"), {"a": 1}, {})
