"""What a definition is made into before it runs, and what is stored of a run."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from swf_temporal.base.calendars.compiling import compile_schedule
from swf_temporal.base.calls import AuthRef, Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed, UnknownDefinition, UsageError, WrongData
from swf_temporal.languages.serverless_workflow.definition import spec_of
from swf_temporal.languages.serverless_workflow.execution.active_window import BadWindow, is_active, window_of
from swf_temporal.languages.serverless_workflow.execution.data_schemas import refusal_of
from swf_temporal.languages.serverless_workflow.execution.frames import (
    ActionFrame,
    ActionResult,
    CallbackBody,
    EventExpressionBody,
    ForeachBody,
    ForeachFront,
    InstanceFrame,
    ParallelBody,
    PartFrame,
    SequenceFrame,
    StateBody,
    StateFrame,
    WalkFrame,
)
from swf_temporal.languages.serverless_workflow.execution.parameters import (
    for_run,
    has_open_parameters,
    priority_of,
    with_shared_auth,
)
from swf_temporal.languages.serverless_workflow.execution.program import Program
from swf_temporal.languages.serverless_workflow.execution.step import ByError, Exit, Nowhere, Step
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.workflow import Event, External, Workflow
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.progress import Value, forget_deadlines
from swf_temporal.simulation.simulate import simulate
from tests.languages.serverless_workflow.models import load_model, load_program


def defined(**more: Any) -> dict[str, Any]:
    states = [{"name": "A", "type": "inject", "data": {}, "end": True}]
    return {"id": "a", "version": "1.0.0", "specVersion": "0.8", "states": states, **more}


def program(**more: Any) -> Program:
    return load_program(defined(**more))


@pytest.mark.parametrize(("ask", "kind"), [
    (lambda program: program.function("gone"), "a function"),
    (lambda program: program.event("gone"), "an event"),
    (lambda program: program.retry_rule(Action(name="x", retry_ref="gone")), "a retry"),
])  # fmt: skip
def test_what_is_not_defined_is_told(ask: Callable[[Program], object], kind: str) -> None:
    with pytest.raises(UnknownDefinition) as told:
        ask(program())
    assert told.value.message == f"'gone' is not {kind} of workflow 'a'"


def test_what_a_document_defines_that_was_not_read_is_known_by_its_name() -> None:
    """A function is for whatever performs the call to find, and an event is taken by its type."""
    made = program()
    externals = {kind: External(uri=f"{kind}.json") for kind in ("functions", "events")}
    made = made.with_workflow(made.workflow.model_copy(update={"externals": externals}))
    assert made.function("charge") == Function(name="charge", type="custom")
    assert made.event("paid") == Event(name="paid", type="paid")


def test_what_is_worked_out_is_kept() -> None:
    retries = [{"name": "r", "maxAttempts": 3}]
    made = program(retries=retries)
    action = Action(name="x", retry_ref="r")
    assert made.retry_rule(action) is made.retry_rule(action) is not None
    state = made.workflow.states[0]
    assert made.timeouts(state) is made.timeouts(state)


def retry(**fields: Any) -> Program:
    return program(retries=[{"name": "r", **fields}])


def test_programs_are_shared_and_never_change() -> None:
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


@pytest.mark.parametrize(("more", "is_open"), [
    ({}, False),
    ({"version": "${ .v }"}, True),
    ({"timeouts": {"workflowExecTimeout": {"duration": "${ .t }"}}}, True),
    ({"timeouts": {"eventTimeout": "PT${ .t }S"}}, True),
    ({"retries": [{"name": "r", "maxAttempts": "${ .n }"}]}, True),
    ({"metadata": {"a": "${ .n }"}, "constants": {"a": "${ .n }"}}, False),
])  # fmt: skip
def test_which_parameters_are_open(more: dict[str, Any], is_open: bool) -> None:  # noqa: FBT001 - what is expected
    assert has_open_parameters(program(**more).workflow) is is_open


@pytest.mark.parametrize(("field", "given", "value"), [
    ("delay", "PT3S", "PT3S"), ("delay", 1.5, "PT1.5S"), ("delay", 0, "PT0S"), ("maxAttempts", "3", 3),
    ("maxAttempts", 3.0, 3), ("maxAttempts", 0, 0), ("multiplier", "2.5", 2.5), ("multiplier", 0, 0.0),
    ("multiplier", "PT2S", "PT2S"), ("multiplier", "+PT2S", "+PT2S"), ("jitter", 0.5, 0.5), ("jitter", 0, 0.0),
    ("jitter", 1, 1.0), ("jitter", "PT1S", "PT1S"), ("jitter", "+PT1S", "+PT1S"),
])  # fmt: skip
def test_retries(field: str, given: Any, value: Any) -> None:
    found = for_run(retry(**{field: "${ .x }"}), {"x": given}, {}).workflow.retries[0]
    assert found.model_dump(by_alias=True)[field] == value


@pytest.mark.parametrize(("field", "given", "message"), [
    ("delay", "soon", "a text 'soon'"), ("delay", -1, "a number -1"), ("delay", "-PT1S", "a text '-PT1S'"),
    ("delay", True, "a boolean"), ("delay", [1], "an array"), ("maxAttempts", 1.5, "a number 1.5"),
    ("maxAttempts", None, "null"), ("maxAttempts", True, "a boolean"), ("maxAttempts", "many", "a text 'many'"),
    ("multiplier", {}, "an object"), ("multiplier", -0.5, "a number -0.5"), ("multiplier", True, "a boolean"),
    ("multiplier", "inf", "a text 'inf'"), ("multiplier", "+P", "a text '+P'"), ("jitter", 1.5, "a number 1.5"),
    ("jitter", "+P", "a text '+P'"),
])  # fmt: skip
def test_what_a_parameter_cannot_be(field: str, given: Any, message: str) -> None:
    with pytest.raises(WrongData) as told:
        for_run(retry(**{field: "${ .x }"}), {"x": given}, {})
    assert told.value.message == f"retry 'r': {field} yields {message}, which is not valid there"


@pytest.mark.parametrize(("more", "message"), [
    ({"name": "${ true }"}, "the workflow's name yields a boolean"),
    ({"version": "${ empty }"}, "the workflow's version yields null"),
    ({"timeouts": {"eventTimeout": "${ 1, 2 }"}}, "timeouts: eventTimeout yields an array"),
    ({"timeouts": {"workflowExecTimeout": {"duration": '${ "soon" }'}}},
     "workflowExecTimeout: duration yields a text 'soon'"),
])  # fmt: skip
def test_where_a_parameter_stands(more: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongData) as told:
        for_run(program(**more), {}, {})
    assert told.value.message == f"{message}, which is not valid there"


def test_names_and_versions_are_texts() -> None:
    shared = program(name="${ $CONST.who }", version="${ 2 }", constants={"who": "all"})
    about = for_run(shared, {}, {"CONST": {"who": "all"}}).about
    assert about == {"id": "a", "name": "all", "version": "2"}


@pytest.mark.parametrize(("field", "written"), [
    ("state_exec_timeout", {"stateExecTimeout": "${ .t }"}),
    ("single_state_exec_timeout", {"stateExecTimeout": {"single": "${ .t }", "total": "PT1H"}}),
    ("action_exec_timeout", {"actionExecTimeout": "${ .t }"}),
    ("branch_exec_timeout", {"branchExecTimeout": "${ .t }"}),
    ("event_timeout", {"eventTimeout": "${ .t }"}),
])  # fmt: skip
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


@pytest.mark.parametrize("priority", [1, 2, 3, 4, 5])
def test_a_priority(priority: int) -> None:
    assert priority_of(Function("f", metadata={"priority": priority})) == priority


@pytest.mark.parametrize("value", [0, 6, -1, 2.0, 2.5, True, "1", "high", None, [1], {"a": 1}])
def test_none(value: JSON) -> None:
    assert priority_of(Function("f", metadata={"priority": value})) is None
    assert priority_of(Function("f")) is None


def _function(name: str, operation: str, **auth: str) -> Function:
    return Function(name=name, operation=operation, auth_ref=AuthRef(**auth) if auth else None)


def test_one_says_it_for_all() -> None:
    """How a document is fetched is said by one function, and holds for the others; how each is called is its own."""
    functions = with_shared_auth(
        [_function("list", "https://shop/api.json#list"),
         _function("order", "https://shop/api.json#order", invocation="orders"),
         _function("stock", "https://shop/api.json#stock", resource="reader", invocation="stocks")]
    )  # fmt: skip
    assert functions["list"].auth_ref == AuthRef(resource="reader")
    assert functions["order"].auth_ref == AuthRef(resource="reader", invocation="orders")
    assert functions["stock"].auth_ref == AuthRef(resource="reader", invocation="stocks")


def test_what_a_function_says_itself_counts() -> None:
    functions = with_shared_auth(
        [_function("a", "api.json#a", resource="reader"), _function("b", "api.json#b", resource="other")]
    )
    assert functions["b"].auth_ref == AuthRef(resource="other")


def test_other_documents_are_fetched_as_before() -> None:
    functions = with_shared_auth(
        [_function("a", "api.json#a", resource="reader"), _function("b", "other.json#b"),
         _function("c", "rest:GET:https://shop/api.json"),
         Function(name="d", type="expression", operation="api.json#d")]
    )  # fmt: skip
    assert functions["b"].auth_ref is None
    assert functions["c"].auth_ref is None
    assert functions["d"].auth_ref is None


def test_mismatches_that_pass_are_noted() -> None:
    schema = {"schema": {"required": ["id"]}, "failOnValidationErrors": False}
    ended = simulate(defined(dataInputSchema=schema, dataOutputSchema=schema), {})
    noted = [(e.name, e.detail) for e in ended.trace if e.kind is TraceKind.SCHEMA_MISMATCH]
    told = {"violations": ["$: 'id' is a required property"]}
    assert ended.status == "completed"
    assert noted == [("input", told), ("output", told)]


def test_a_schema_is_made_ready_once() -> None:
    made = program(dataInputSchema={"schema": {}}, dataOutputSchema={"schema": {}})
    assert made.input_schema is made.input_schema
    assert made.output_schema is made.output_schema


def test_what_would_be_refused() -> None:
    strict, lenient = ({"schema": {"required": ["id"]}, "failOnValidationErrors": fails} for fails in (True, False))
    told = "the input does not fit the workflow's schema: $: 'id' is a required property"
    assert refusal_of(program(dataInputSchema=strict), {}) == told
    assert refusal_of(program(dataInputSchema=strict), {"id": 1}) is None
    assert refusal_of(program(dataInputSchema=lenient), {}) is None
    assert refusal_of(program(), {}) is None


@pytest.mark.parametrize(("interval", "moment", "active"), [
    (None, "2020-03-20T13:00:00", True),
    ("2020-03-20T13:00:00Z/2021-05-11T15:30:00Z", "2020-03-20T12:59:59", False),
    ("2020-03-20T13:00:00Z/2021-05-11T15:30:00Z", "2020-03-20T13:00:00", True),
    ("2020-03-20T13:00:00Z/2021-05-11T15:30:00Z", "2021-05-11T15:30:00", False),
    ("2020-03-20T13:00:00+02:00/PT1H", "2020-03-20T11:30:00", True),
    ("2020-03-20T13:00:00/PT1H", "2020-03-20T13:30:00", True),
    ("2020-03-20T13:00:00Z/PT1H", "2020-03-20T14:00:00", False),
    ("P1Y2M10DT2H30M/2020-05-11T15:30:00Z", "2020-05-11T15:29:59", True),
    ("P1Y2M10DT2H30M/2020-05-11T15:30:00Z", "2020-05-11T15:30:00", False),
    ("P1Y2M10DT2H30M", "1970-01-01T00:00:00", True),
    ("2020-03-20T13:00:00Z/P9999Y", "2999-01-01T00:00:00", True),
])  # fmt: skip
def test_is_active(interval: str | None, moment: str, *, active: bool) -> None:
    """A start is active from the begin of its interval on, and no more at its end."""
    assert is_active(interval, datetime.fromisoformat(moment).replace(tzinfo=UTC)) is active


@pytest.mark.parametrize(("interval", "why"), [
    ("", "is not a start and an end"),
    ("tomorrow", "cannot be read|is not a start"),
    ("R/PT1H", "cannot be read"),
    ("PT1H/PT2H", "is not a start and an end"),
    ("2020-03-20T13:00:00Z", "is not a start and an end"),
    ("2020-03-20T13:00:00Z/2020-03-20T12:00:00Z", "ends before it starts"),
    ("2020-03-20T13:00:00Z/2020-03-20T13:00:00Z", "ends before it starts"),
    ("a/b/c", "is not a start and an end"),
    ("P1X/2020-03-20T12:00:00Z", "cannot be read"),
])  # fmt: skip
def test_what_is_no_window(interval: str, why: str) -> None:
    with pytest.raises(BadWindow, match=why):
        window_of(interval)


CRON = "0 0 9 ? * MON-FRI"


def _starting(start: Any) -> Workflow:
    state = {"name": "Note", "type": "inject", "data": {"noted": True}, "end": True}
    return load_model({"id": "timed", "specVersion": "0.8", "start": start, "states": [state]})


@pytest.mark.parametrize(("schedule", "texts"), [
    ("R/PT1H", {"interval": "R/PT1H"}),
    ({"cron": CRON}, {"cron": CRON}),
    ({"cron": {"expression": CRON, "validUntil": "2030-12-31"}, "timezone": "Europe/Berlin"},
     {"cron": CRON, "valid_until": "2030-12-31", "timezone": "Europe/Berlin"}),
    ({"interval": "2026-01-10T12:00:00Z/P2D", "cron": "0 12 * * *"},
     {"interval": "2026-01-10T12:00:00Z/P2D", "cron": "0 12 * * *"}),
])  # fmt: skip
def test_everything_that_is_written_counts(schedule: Any, texts: dict[str, str]) -> None:
    assert spec_of(_starting({"stateName": "Note", "schedule": schedule})) == compile_schedule(**texts)


def test_without_schedule() -> None:
    with pytest.raises(UsageError, match="the definition 'timed' has no schedule"):
        spec_of(_starting("Note"))


def test_end_that_is_a_length() -> None:
    """A schedule whose `validUntil` is a duration is refused: it would never end."""
    cron = {"expression": "@daily", "validUntil": "PT10M"}
    with pytest.raises(UsageError, match="the schedule of 'timed': 'PT10M' is not an ISO 8601 date and time"):
        spec_of(_starting({"stateName": "Note", "schedule": {"cron": cron}}))


def test_deadlines_are_forgotten_wherever_they_stand() -> None:
    """Sleeps go on until when they were to, and data may have names like these."""
    given: JSON = {"deadline": "today", "single": 1}
    action = ActionFrame(1.0, before=4.0, done=True, result=Value(given), answer_deadline=6.0)
    frame = StateFrame(deadline=1.0, single=2.0, body=CallbackBody(3.0, actions=SequenceFrame(action=action)))
    forget_deadlines(frame)
    left = ActionFrame(before=4.0, done=True, result=Value(given))
    assert frame == StateFrame(body=CallbackBody(actions=SequenceFrame(action=left)))
    part = PartFrame(deadline=1.0, before=2.0, walk=WalkFrame("A", {}, StateFrame(single=1.0)))
    parallel = StateFrame(body=ParallelBody({"left": part}))
    forget_deadlines(parallel)
    assert parallel.body == ParallelBody({"left": PartFrame(before=2.0, walk=WalkFrame("A", {}, StateFrame()))})
    waits = EventExpressionBody(waits={"0": 1.0})
    forget_deadlines(waits)
    assert waits == EventExpressionBody()


def test_a_frame_is_read_as_it_was_written() -> None:
    """With values that look like frames, iterations by their numbers, and the way in which a state is left."""
    value: JSON = {"front": {"parts": [1]}, "kind": "event", "walk": {}}
    iterations = {7: PartFrame(effects=[ActionResult(["a", 0], value), ActionResult(value=value)], done=True)}
    foreach = ForeachBody(ForeachFront(9, 3, outputs=[value], data=Value(None)), iterations)
    frame = InstanceFrame(walk=WalkFrame("Each", value, StateFrame(body=foreach)), ended=Value(None))
    frame.before = WalkFrame("Tidy", None, StateFrame(left=Step(value, ByError(1))))
    assert InstanceFrame.from_json(frame.to_json()) == frame


def test_every_body_and_every_exit_can_be_stored() -> None:
    for kind in get_args(StateBody):
        frame = StateFrame(body=kind())
        assert StateFrame.from_json(frame.to_json()) == frame
    for kind in get_args(Exit):
        given = {"ByDefault": (), "Nowhere": (), "ToState": ("Next",)}.get(kind.__name__, (1,))
        step = Step(None, kind(*given))
        assert Step.from_json(step.to_json()) == step
    assert Step(1, Nowhere()).to_json() == {"data": 1, "exit": {"kind": "nowhere"}}
