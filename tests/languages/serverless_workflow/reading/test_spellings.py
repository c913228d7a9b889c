"""Is everything that can be written in several ways read as one?"""

from typing import Any

import pytest

from swf_temporal.base.errors import Severity
from swf_temporal.languages.loading import check
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from tests.languages.serverless_workflow.models import checked_model


def read(text: str) -> tuple[Workflow, list[str]]:
    checked = check(text)
    assert checked.definition is not None, "\n".join(map(str, checked.problems))
    return checked_model(checked), [one.message for one in checked.problems if one.code == "tolerated-spelling"]


def first_state(state: str, says: str = "") -> tuple[Any, list[str]]:
    workflow, messages = read(
        f"id: a\n{says}states:\n- {state}\n- {{name: Z, id: last, type: inject, data: {{}}, end: true}}\n"
    )
    return workflow.states[0], messages


def action(written: str) -> tuple[Any, list[str]]:
    workflow, messages = read(
        "id: a\nfunctions: [{name: f, operation: a.json#f}]\n"
        "events: [{name: e, type: t}, {name: p, type: u, kind: produced}]\n"
        f"errors: [{{name: x}}]\nretries: [{{name: r}}]\n"
        f"states:\n- name: A\n  type: operation\n  actions:\n  - {written}\n  end: true\n"
    )
    return workflow.states[0].actions[0], messages  # type: ignore[union-attr]  # the first state is an operation


def test_transitions() -> None:
    """A transition is a text or an object, and names a state by its name or its id."""
    for written in ("Z", "last", "{nextState: Z}", "{nextState: last}"):
        state, messages = first_state(f"{{name: A, type: inject, data: {{}}, transition: {written}}}")
        assert (state.transition.next_state, state.end, messages) == ("Z", None, [])


@pytest.mark.parametrize(
    ("written", "messages"),
    [
        ("true", []),
        ("{}", []),
        ('"true"', ["end is the text 'true', and is read as true"]),
        ("yes", ["end is the text 'yes', and is read as true"]),
    ],
)
def test_ends(written: str, messages: list[str]) -> None:
    """An end is true or an object; a text that says so is tolerated."""
    state, told = first_state(f"{{name: A, type: inject, data: {{}}, end: {written}}}")
    assert state.end is not None
    assert not state.end.terminate
    assert told == messages


def test_end_false_says_nothing() -> None:
    state, _ = first_state("{name: A, type: inject, data: {}, end: false, transition: Z}")
    assert state.end is None


def test_start_and_schedule() -> None:
    """A start is a state's name or id, or an object; a schedule and a cron are a text or an object."""
    states = "states:\n- {name: A, id: first, type: inject, data: {}, end: true}\n"
    assert read(f"id: a\n{states}")[0].start_state == "A"
    assert read(f"id: a\nstart: first\n{states}")[0].start_state == "A"
    start = read(f"id: a\nstart: {{stateName: A, schedule: R/PT1H}}\n{states}")[0].start
    assert start.schedule is not None
    assert start.schedule.interval == "R/PT1H"
    start = read(f'id: a\nstart: {{schedule: {{cron: "* * * * *"}}}}\n{states}')[0].start
    assert start.schedule is not None
    assert start.schedule.cron is not None
    assert start.schedule.cron.expression == "* * * * *"


@pytest.mark.parametrize(
    ("written", "arguments", "messages"),
    [
        ("functionRef: f", None, []),
        ("functionRef: {refName: f, arguments: {a: 1}}", {"a": 1}, []),
        ("functionRef: {refName: f, parameters: {a: 1}}", {"a": 1}, ["'parameters' is read as 'arguments'"]),
        ("functionRef: {refName: f, args: {a: 1}}", {"a": 1}, ["'args' is read as 'arguments'"]),
        ("{functionRef: f, args: {a: 1}}", {"a": 1}, ["'args' beside functionRef is read as its 'arguments'"]),
        ("{functionRef: {refName: f}, arguments: {a: 1}}", {"a": 1},
         ["'arguments' beside functionRef is read as its 'arguments'"]),
    ],
)  # fmt: skip
def test_function_refs(written: str, arguments: Any, messages: list[str]) -> None:
    """A function is referred to by its name or by an object, and its arguments stand in it under one name."""
    found, told = action(written)
    assert found.function_ref.ref_name == "f"
    assert found.function_ref.arguments == arguments
    assert told == messages


def test_event_refs_of_both_versions() -> None:
    """0.8's trigger and result are the next version's produce and consume."""
    older, _ = action("eventRef: {triggerEventRef: p, resultEventRef: e, resultEventTimeout: PT1H}")
    newer, _ = action("eventRef: {produceEventRef: p, consumeEventRef: e, consumeEventTimeout: PT1H}")
    assert older.event_ref.model_dump() == newer.event_ref.model_dump()


def test_the_dialect_is_kept() -> None:
    """A workflow knows whether it is written with the words of 0.8's next version."""
    states = "states:\n- {name: A, type: inject, data: {}, end: true}\n"
    assert read(f"id: a\n{states}")[0].language_version.name == "0.8"
    assert read(f"id: a\ndataOutputSchema: out.json\n{states}")[0].language_version.name == "0.8-next"


def test_subflow_refs() -> None:
    """A sub-workflow is named by its id or by an object."""
    assert action("subFlowRef: s")[0].sub_flow_ref.workflow_id == "s"
    assert action('subFlowRef: {workflowId: s, version: "2"}')[0].sub_flow_ref.version == "2"


def test_retries_of_function_refs_are_the_actions() -> None:
    found, told = action("functionRef: {refName: f, retryRef: r, nonRetryableErrors: [x]}")
    assert (found.retry_ref, found.non_retryable_errors) == ("r", ("x",))
    assert told == [
        "'retryRef' in functionRef is read as the action's",
        "'nonRetryableErrors' in functionRef is read as the action's",
    ]


def test_action_filter() -> None:
    found, told = action("{functionRef: f, actionFilter: {useResults: false}}")
    assert found.action_data_filter.use_results is False
    assert told == ["'actionFilter' is read as 'actionDataFilter'"]


def test_a_single_text_for_a_list() -> None:
    found, told = action("{functionRef: f, retryableErrors: x}")
    assert found.retryable_errors == ("x",)
    assert told == ["retryableErrors is a list: a single text is read as its only element"]


def test_error_refs() -> None:
    """`errorRef` and `errorRefs` name errors; both together name all of them."""
    head = "{name: A, type: inject, data: {}, end: true, onErrors: ["
    assert first_state(head + '{errorRef: "*", end: true}]}')[0].on_errors[0].error_refs == ("*",)
    state, told = first_state(head + '{errorRef: "*", errorRefs: [DefaultErrorRef], end: true}]}')
    assert state.on_errors[0].error_refs == ("*", "DefaultErrorRef")
    assert told == ["errorRef and errorRefs are both given: all of them are used"]


def test_timeouts() -> None:
    """The workflow's timeout is a duration or an object; a state's total counts; eventTimeout moves into timeouts."""
    states = "states:\n- {name: A, type: inject, data: {}, end: true}\n"
    timeouts = read(f"id: a\ntimeouts: {{workflowExecTimeout: PT1H}}\n{states}")[0].timeouts
    assert timeouts.workflow_exec_timeout is not None
    assert (timeouts.workflow_exec_timeout.duration, timeouts.workflow_exec_timeout.interrupt) == ("PT1H", True)
    timeouts = read(f"id: a\nexecTimeout: {{duration: PT1H}}\n{states}")[0].timeouts
    assert timeouts.workflow_exec_timeout is not None
    assert timeouts.workflow_exec_timeout.interrupt is False
    state, told = first_state(
        "{name: A, type: operation, actions: [], end: true, timeouts: {stateExecTimeout: {single: PT1S, total: PT2S}}}"
    )
    assert (state.timeouts.state_exec_timeout, state.timeouts.single_state_exec_timeout) == ("PT2S", "PT1S")
    assert told == []
    state, told = first_state(
        "{name: A, type: callback, action: {subFlowRef: s}, eventRef: e, eventTimeout: PT1H, end: true}\nevents: "
        "[{name: e, type: t}]\nignored:"
    )
    assert state.timeouts.event_timeout == "PT1H"
    assert told == ["'eventTimeout' belongs into 'timeouts', and is read as its 'eventTimeout'"]


def test_context_attributes() -> None:
    """Context attributes that an official example lists one by one are one object."""
    workflow, told = read(
        "id: a\nevents: [{name: e, type: t, kind: produced}]\nstates:\n- name: A\n  type: inject\n  data: {}\n"
        "  end: {produceEvents: [{eventRef: e, contextAttributes: [{a: x}, {b: y}]}]}\n"
    )
    end = workflow.states[0].end
    assert end is not None
    assert end.produce_events[0].context_attributes == {"a": "x", "b": "y"}
    assert told == ["contextAttributes is an object, not a list of objects"]


def test_iteration_param() -> None:
    """The iteration parameter is a name, also where it is written as an expression."""
    state, told = first_state(
        '{name: A, type: foreach, inputCollection: .xs, iterationParam: "${ .x }", '
        "actions: [{subFlowRef: s}], end: true}"
    )
    assert state.iteration_param == "x"
    assert told == ["iterationParam is a name: read as 'x'"]


def test_auth() -> None:
    """A text authRef is for the invocation; an object says each; a single definition is a list of one."""
    states = "states:\n- {name: A, type: operation, actions: [{functionRef: f}], end: true}\n"
    head = "id: a\nauth: {name: l, properties: s}\nfunctions: [{name: f, operation: a.json#f, authRef: "
    workflow, told = read(f"{head}l}}]\n{states}")
    assert workflow.functions[0].auth_ref is not None
    assert (workflow.functions[0].auth_ref.resource, workflow.functions[0].auth_ref.invocation) == (None, "l")
    assert told == ["auth is a list: a single definition is read as its only element"]
    workflow, _ = read(f"{head}{{resource: l}}}}]\n{states}")
    assert workflow.functions[0].auth_ref is not None
    assert (workflow.functions[0].auth_ref.resource, workflow.functions[0].auth_ref.invocation) == ("l", None)


def test_data_schemas() -> None:
    """A data schema is a URI, an object with one, or the schema itself, with or without an object around it."""
    states = "states:\n- {name: A, type: inject, data: {}, end: true}\n"
    for written, schema in (
        ("in.json", "in.json"),
        ("{schema: in.json, failOnValidationErrors: false}", "in.json"),
        ("{schema: {type: object}}", {"type": "object"}),
        ("{type: object}", {"type": "object"}),
    ):
        found = read(f"id: a\ndataInputSchema: {written}\n{states}")[0].data_input_schema
        assert found is not None
        assert found.schema_ == schema


def test_identity() -> None:
    """A definition without an id is identified by its key, or else by its name."""
    states = "states:\n- {name: A, type: inject, data: {}, end: true}\n"
    assert read(f"key: k\n{states}")[0].id == "k"
    workflow, told = read(f"name: n\n{states}")
    assert workflow.id == "n"
    assert told == ["this definition has no id: its name is used"]


def test_numbers_for_texts() -> None:
    """A number that stands for a text is that text, with every zero."""
    workflow, told = read(
        "id: 7\nversion: 1.10\nspecVersion: 0.8\nstates:\n- {name: 1, type: inject, data: {}, end: true}\n"
    )
    assert (workflow.id, workflow.version, workflow.spec_version, workflow.states[0].name) == ("7", "1.10", "0.8", "1")
    assert told == []


def test_texts_for_truths() -> None:
    """A text that says true or false is read so, with a warning."""
    workflow, told = read('id: a\nkeepActive: "true"\nstates:\n- {name: A, type: inject, data: {}, end: true}\n')
    assert workflow.keep_active is True
    assert told == ["keepActive is the text 'true', and is read as true"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("{name: A, type: delay, timeDelay: PT1S, end: true}", {"type": "sleep", "duration": "PT1S"}),
        ("{name: A, type: subflow, workflowId: w, end: true}", {"type": "operation"}),
        ("{name: A, type: parallel, completionType: xor, branches: [{name: b, workflowId: w}], end: true}",
         {"completion_type": "atLeast", "num_completed": 1}),
        ("{name: A, type: parallel, completionType: n_of_m, n: 1, branches: [{name: b, actions: []}], end: true}",
         {"completion_type": "atLeast", "num_completed": 1}),
        ("{name: A, type: foreach, inputCollection: .x, inputParameter: y, max: 2, workflowId: w, end: true}",
         {"iteration_param": "y", "batch_size": 2}),
        ("{name: A, type: switch, dataConditions: [{condition: .a, end: true}], default: {end: true}}", {}),
    ],
)  # fmt: skip
def test_keys_before_0_7(written: str, expected: dict[str, Any]) -> None:
    """What 0.6 called otherwise is read by its present name, with a warning in a definition that says it is of 0.8."""
    state, told = first_state(written, 'specVersion: "0.8"\n')
    assert {key: getattr(state, key) for key in expected} == expected
    assert told


def test_free_form_values_are_plain_json() -> None:
    """Arguments, data, constants and metadata are plain JSON, whatever their keys; texts keep their places."""
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
