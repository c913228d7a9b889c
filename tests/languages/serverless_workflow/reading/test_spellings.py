"""Is everything that can be written in several ways read as one?"""

from operator import attrgetter
from typing import Any

import pytest

from swf_temporal.base.errors import Severity
from swf_temporal.languages.loading import check
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from tests.languages.serverless_workflow.models import checked_model

STATES = "states:\n- {name: A, id: first, type: inject, data: {}, end: true}\n"


def read(text: str) -> tuple[Workflow, list[str]]:
    checked = check(text)
    assert checked.definition is not None, "\n".join(map(str, checked.problems))
    return checked_model(checked), [one.message for one in checked.problems if one.code == "tolerated-spelling"]


def first_state(state: str, says: str = "") -> tuple[Any, list[str]]:
    text = f"id: a\n{says}states:\n- {state}\n- {{name: Z, id: last, type: inject, data: {{}}, end: true}}\n"
    workflow, messages = read(f"{text}events: [{{name: e, type: t}}, {{name: p, type: u, kind: produced}}]\n")
    return workflow.states[0], messages


def action(written: str) -> tuple[Any, list[str]]:
    workflow, messages = read(
        "id: a\nfunctions: [{name: f, operation: a.json#f}]\n"
        "events: [{name: e, type: t}, {name: p, type: u, kind: produced}]\n"
        f"errors: [{{name: x}}]\nretries: [{{name: r}}]\n"
        f"states:\n- name: A\n  type: operation\n  actions:\n  - {written}\n  end: true\n"
    )
    return workflow.states[0].actions[0], messages  # type: ignore[union-attr]  # the first state is an operation


def facts(found: object, wanted: dict[str, Any]) -> dict[str, Any]:
    return {path: attrgetter(path)(found) for path in wanted}


@pytest.mark.parametrize(("written", "expected", "messages"), [
    ("functionRef: f", {"function_ref.ref_name": "f", "function_ref.arguments": None}, []),
    ("functionRef: {refName: f, arguments: {a: 1}}", {"function_ref.arguments": {"a": 1}}, []),
    ("functionRef: {refName: f, parameters: {a: 1}}", {"function_ref.arguments": {"a": 1}},
     ["'parameters' is read as 'arguments'"]),
    ("functionRef: {refName: f, args: {a: 1}}", {"function_ref.arguments": {"a": 1}},
     ["'args' is read as 'arguments'"]),
    ("{functionRef: f, args: {a: 1}}", {"function_ref.arguments": {"a": 1}, "function_ref.ref_name": "f"},
     ["'args' beside functionRef is read as its 'arguments'"]),
    ("{functionRef: {refName: f}, arguments: {a: 1}}", {"function_ref.arguments": {"a": 1}},
     ["'arguments' beside functionRef is read as its 'arguments'"]),
    ("subFlowRef: s", {"sub_flow_ref.workflow_id": "s"}, []),
    ('subFlowRef: {workflowId: s, version: "2"}', {"sub_flow_ref.version": "2"}, []),
    ("functionRef: {refName: f, retryRef: r, nonRetryableErrors: [x]}",
     {"retry_ref": "r", "non_retryable_errors": ("x",)},
     ["'retryRef' in functionRef is read as the action's",
      "'nonRetryableErrors' in functionRef is read as the action's"]),
    ("{functionRef: f, actionFilter: {useResults: false}}", {"action_data_filter.use_results": False},
     ["'actionFilter' is read as 'actionDataFilter'"]),
    ("{functionRef: f, retryableErrors: x}", {"retryable_errors": ("x",)},
     ["retryableErrors is a list: a single text is read as its only element"]),
])  # fmt: skip
def test_actions(written: str, expected: dict[str, Any], messages: list[str]) -> None:
    found, told = action(written)
    assert (facts(found, expected), told) == (expected, messages)


def test_event_refs_of_both_versions() -> None:
    older, _ = action("eventRef: {triggerEventRef: p, resultEventRef: e, resultEventTimeout: PT1H}")
    newer, _ = action("eventRef: {produceEventRef: p, consumeEventRef: e, consumeEventTimeout: PT1H}")
    assert older.event_ref.model_dump() == newer.event_ref.model_dump()


@pytest.mark.parametrize(("written", "expected", "messages"), [
    *((f"transition: {to}", {"transition.next_state": "Z", "end": None}, [])
      for to in ("Z", "last", "{nextState: Z}", "{nextState: last}", "Z, end: false")),
    *((f"end: {end}", {"end.terminate": False}, []) for end in ("true", "{}")),
    ('end: "true"', {"end.terminate": False}, ["end is the text 'true', and is read as true"]),
    ("end: yes", {"end.terminate": False}, ["end is the text 'yes', and is read as true"]),
    ("end: {produceEvents: [{eventRef: p, contextAttributes: [{a: x}, {b: y}]}]}", {"end.terminate": False},
     ["contextAttributes is an object, not a list of objects"]),
])  # fmt: skip
def test_transitions_and_ends(written: str, expected: dict[str, Any], messages: list[str]) -> None:
    state, told = first_state(f"{{name: A, type: inject, data: {{}}, {written}}}")
    assert (facts(state, expected), told) == (expected, messages)
    if "contextAttributes" in written:
        assert state.end.produce_events[0].context_attributes == {"a": "x", "b": "y"}


@pytest.mark.parametrize(("written", "expected", "messages"), [
    ("type: operation, actions: [], timeouts: {stateExecTimeout: {single: PT1S, total: PT2S}}",
     {"timeouts.state_exec_timeout": "PT2S", "timeouts.single_state_exec_timeout": "PT1S"}, []),
    ("type: callback, action: {subFlowRef: s}, eventRef: e, eventTimeout: PT1H", {"timeouts.event_timeout": "PT1H"},
     ["'eventTimeout' belongs in 'timeouts', and is read as its 'eventTimeout'"]),
    ('type: foreach, inputCollection: .xs, iterationParam: "${ .x }", actions: [{subFlowRef: s}]',
     {"iteration_param": "x"}, ["iterationParam is a name: read as 'x'"]),
])  # fmt: skip
def test_states(written: str, expected: dict[str, Any], messages: list[str]) -> None:
    state, told = first_state(f"{{name: A, {written}, end: true}}")
    assert (facts(state, expected), told) == (expected, messages)


def test_error_refs() -> None:
    """`errorRef` and `errorRefs` name errors; both together name all of them."""
    head = "{name: A, type: inject, data: {}, end: true, onErrors: ["
    assert first_state(head + '{errorRef: "*", end: true}]}')[0].on_errors[0].error_refs == ("*",)
    state, told = first_state(head + '{errorRef: "*", errorRefs: [DefaultErrorRef], end: true}]}')
    assert state.on_errors[0].error_refs == ("*", "DefaultErrorRef")
    assert told == ["errorRef and errorRefs are both given: all of them are used"]


SCHEMA, TIMEOUT = "data_input_schema.schema_", "timeouts.workflow_exec_timeout"
AUTHORIZED = "id: a\nauth: {{name: l, properties: s}}\nfunctions: [{{name: f, operation: a.json#f, authRef: {}}}]\n"


@pytest.mark.parametrize(("text", "expected", "messages"), [
    ("id: a\n", {"start_state": "A", "language_version.name": "0.8"}, []),
    ("id: a\nstart: first\n", {"start_state": "A"}, []),
    ("id: a\nstart: {stateName: A, schedule: R/PT1H}\n", {"start.schedule.interval": "R/PT1H"}, []),
    ('id: a\nstart: {schedule: {cron: "* * * * *"}}\n', {"start.schedule.cron.expression": "* * * * *"}, []),
    ("id: a\ndataOutputSchema: out.json\n", {"language_version.name": "0.8-next"}, []),
    ("id: a\ntimeouts: {workflowExecTimeout: PT1H}\n", {f"{TIMEOUT}.duration": "PT1H", f"{TIMEOUT}.interrupt": True},
     []),
    ("id: a\nexecTimeout: {duration: PT1H}\n", {f"{TIMEOUT}.interrupt": False}, []),
    ("id: a\ndataInputSchema: in.json\n", {SCHEMA: "in.json"}, []),
    ("id: a\ndataInputSchema: {schema: in.json, failOnValidationErrors: false}\n", {SCHEMA: "in.json"}, []),
    ("id: a\ndataInputSchema: {schema: {type: object}}\n", {SCHEMA: {"type": "object"}}, []),
    ("id: a\ndataInputSchema: {type: object}\n", {SCHEMA: {"type": "object"}}, []),
    ("key: k\n", {"id": "k"}, []),
    ("name: n\n", {"id": "n"}, ["this definition has no id: its name is used"]),
    ("id: 7\nversion: 1.10\nspecVersion: 0.8\n", {"id": "7", "version": "1.10", "spec_version": "0.8"}, []),
    ('id: a\nkeepActive: "true"\n', {"keep_active": True}, ["keepActive is the text 'true', and is read as true"]),
])  # fmt: skip
def test_workflows(text: str, expected: dict[str, Any], messages: list[str]) -> None:
    workflow, told = read(text + STATES)
    assert (facts(workflow, expected), told) == (expected, messages)


def test_a_number_for_the_name_of_a_state() -> None:
    assert read("id: a\nstates: [{name: 1, type: inject, data: {}, end: true}]")[0].states[0].name == "1"


@pytest.mark.parametrize(("written", "resource", "invocation"), [("l", None, "l"), ("{resource: l}", "l", None)])
def test_auth(written: str, resource: str | None, invocation: str | None) -> None:
    """A text is for the invocation; an object says each; a single definition is a list of one."""
    called = "states: [{name: A, type: operation, actions: [{functionRef: f}], end: true}]\n"
    workflow, told = read(AUTHORIZED.format(written) + called)
    auth = workflow.functions[0].auth_ref
    assert auth is not None
    assert (auth.resource, auth.invocation) == (resource, invocation)
    assert told == ["auth is a list: a single definition is read as its only element"]


@pytest.mark.parametrize(("written", "expected"), [
    ("{name: A, type: delay, timeDelay: PT1S, end: true}", {"type": "sleep", "duration": "PT1S"}),
    ("{name: A, type: subflow, workflowId: w, end: true}", {"type": "operation"}),
    ("{name: A, type: parallel, completionType: xor, branches: [{name: b, workflowId: w}], end: true}",
     {"completion_type": "atLeast", "num_completed": 1}),
    ("{name: A, type: parallel, completionType: n_of_m, n: 1, branches: [{name: b, actions: []}], end: true}",
     {"completion_type": "atLeast", "num_completed": 1}),
    ("{name: A, type: foreach, inputCollection: .x, inputParameter: y, max: 2, workflowId: w, end: true}",
     {"iteration_param": "y", "batch_size": 2}),
    ("{name: A, type: switch, dataConditions: [{condition: .a, end: true}], default: {end: true}}", {}),
])  # fmt: skip
def test_keys_before_0_7(written: str, expected: dict[str, Any]) -> None:
    """What 0.6 called otherwise is read by its present name, with a warning in a definition that says it is of 0.8."""
    state, told = first_state(written, 'specVersion: "0.8"\n')
    assert {key: getattr(state, key) for key in expected} == expected
    assert told


def test_free_form_values_are_plain_json() -> None:
    workflow, _ = read(
        'id: a\nconstants: {"@": {"where": [1]}}\nmetadata: {x: {y: [1]}}\nstates:\n'
        "- {name: A, type: inject, data: {deep: [{x: hello}]}, end: true}\n"
    )
    assert workflow.constants == {"@": {"where": [1]}}
    assert type(workflow.constants["@"]) is dict
    assert type(workflow.metadata["x"]["y"]) is list
    place = workflow.states[0].where.at("data", "deep", 0, "x")
    assert (place.line, place.column) == (5, 45)


def test_python_names_are_not_properties() -> None:
    checked = check("id: a\nkeep_active: true\nstates:\n- {name: A, type: inject, data: {}, end: true}\n")
    assert checked.definition is not None
    assert checked_model(checked).keep_active is False
    assert all(problem.severity is Severity.WARNING for problem in checked.problems)
