"""What is written: comments and order stay, JSON stays JSON, and the report says what happened."""

import json

import pytest
import yaml

from swf_temporal.base.errors import InvalidDefinition, UsageError
from swf_temporal.languages.known import upgrade
from swf_temporal.languages.loading import check
from swf_temporal.text.origin import Source

OLD = """\
# Orders are shipped.
id: orders            # the id
version: "1.0"
# What is called
functions:
  - name: ship        # by OpenAPI
    operation: shop.json#ship
retries:
  - {name: thrice, delay: PT1M, maxAttempts: 3}
execTimeout:
  duration: PT1H
states:
  # First we wait.
  - name: Wait
    start: {kind: default}
    type: delay
    timeDelay: PT1M   # long enough
    transition: {nextState: Ship}
  - name: Ship
    type: operation
    actions:
      - functionRef:
          refName: ship
          parameters:
            id: "{{ $.order.id }}"
    # In case it fails
    onErrors:
      - error: unavailable
        code: "503"
        retryRef: thrice
        transition: {nextState: Wait}
    end: {kind: default}
"""
NEW = """\
# Orders are shipped.
id: orders            # the id
version: "1.0"
specVersion: '0.8'
start: Wait
timeouts:
  workflowExecTimeout:
    duration: PT1H
    interrupt: false
errors:
  - name: unavailable
    code: "503"
# What is called
functions:
  - name: ship        # by OpenAPI
    operation: shop.json#ship
retries:
  - {name: thrice, delay: PT1M, maxAttempts: 4}
states:
  # First we wait.
  - name: Wait
    type: sleep
    duration: PT1M    # long enough
    transition: Ship
  - name: Ship
    type: operation
    actions:
      - retryRef: thrice
        retryableErrors:
          - unavailable
        functionRef:
          refName: ship
          arguments:
            id: "${ .order.id }"
    # In case it fails
    onErrors:
      - errorRef: unavailable
        transition: Wait
    end: true
"""
TWO_ERRORS = """{name: A, type: operation, actions: [{functionRef: f}], end: true, onErrors: [
    {error: Lost, code: lost, retryRef: R, end: true}, {error: Busy, code: busy, retryRef: R, end: true}]}"""
TWO_ACTIONS = """\
{name: A, type: operation, actions: [{functionRef: f}, {functionRef: f}],
  onErrors: [{error: '*', retryRef: r, end: true}], end: true}"""


def made(text: str, to: str = "0.8") -> str:
    return upgrade(Source(text, "a.yaml"), to).text


def test_comments_and_order_are_kept() -> None:
    """Only what is written otherwise in 0.8 is changed, and comments stay beside what they are about."""
    assert made(OLD) == NEW


SHARED = """\
id: orders
schemaVersion: "0.6"
start: A
functions: [{name: ship, operation: shop.json#ship}]
retries:
- &once {name: once, delay: PT1S, maxAttempts: 1}
- {<<: *once, name: slowly, delay: PT9S}
states:
- name: A
  type: operation
  actions: &ship
  - functionRef: ship
  onErrors: [{error: Busy, retryRef: once, end: true}]
  transition: B
- name: B
  type: operation
  actions: *ship
  transition: C
- name: C
  type: parallel
  branches:
  - {name: left, actions: &both [{functionRef: ship}]}
  - {name: right, actions: *both}
  onErrors: &failed [{error: Busy, end: true}]
  transition: D
- {name: D, type: operation, actions: [], onErrors: *failed, end: true}
"""


def test_a_change_of_what_is_shared_is_one_of_its_place_alone() -> None:
    written = made(SHARED)
    first, second, third, fourth = yaml.safe_load(written)["states"]
    assert first["actions"][0]["retryRef"] == "once"
    assert second["actions"] == [{"functionRef": "ship"}]
    assert third["branches"][0]["actions"] == third["branches"][1]["actions"]
    assert third["onErrors"] == fourth["onErrors"] == [{"errorRef": "Busy", "end": True}]
    marks = [word.strip(",}") for word in written.split() if word.startswith(("&", "*", "<<"))]
    assert marks == ["&both", "*both", "&failed", "*failed"]
    assert yaml.safe_load(written)["retries"] == [
        {"name": "once", "delay": "PT1S", "maxAttempts": 2},
        {"name": "slowly", "delay": "PT9S", "maxAttempts": 2},
    ]


def test_what_was_written_has_no_problems() -> None:
    assert [problem.code for problem in check(made(OLD)).problems] == []


def test_nothing_more_is_changed_the_second_time() -> None:
    again = upgrade(Source(NEW))
    assert (again.text, again.changes) == (NEW, ())


@pytest.mark.parametrize(("indent", "end"), [(4, "\n"), (2, ""), (None, "\n")])
def test_json_stays_json(indent: int | None, end: str) -> None:
    state = {"name": "A", "type": "delay", "timeDelay": "PT1S", "end": True}
    text = json.dumps({"id": "ä", "schemaVersion": "0.6", "states": [state]}, indent=indent, ensure_ascii=False) + end
    expected = {
        "id": "ä", "specVersion": "0.8", "states": [{"name": "A", "type": "sleep", "duration": "PT1S", "end": True}],
    }  # fmt: skip
    assert made(text) == json.dumps(expected, indent=indent, ensure_ascii=False) + end


def test_a_sub_workflow_that_is_not_waited_for() -> None:
    state = "{name: A, type: subflow, workflowId: w, waitForCompletion: false, onErrors: [{error: '*', retryRef: r}]}"
    [written] = yaml.safe_load(made(f"id: a\nstates:\n- {state}\n"))["states"]
    invoked = {"workflowId": "w", "invoke": "async", "onParentComplete": "continue"}
    assert written == {"name": "A", "type": "operation", "actions": [{"retryRef": "r", "subFlowRef": invoked}]}


RETRIED = (
    "{name: A, type: operation, actions: [{functionRef: f, timeout: PT1S}], onErrors: [{error: '*', retryRef: r}],"
    " end: true}"
)


@pytest.mark.parametrize(("state", "told"), [
    ("{name: A, type: subflow, workflowId: w, repeat: {max: 3}, end: true}", "the repeat of state 'A', which has max"),
    (
        "{name: A, type: operation, actions: [{functionRef: f, timeout: PT1S}, {functionRef: f}], end: true}",
        "actions of state 'A' have different timeouts: since 0.7 they share one",
    ),
    (
        RETRIED,
        "an action of state 'A' is retried, and its timeout is for each attempt: since 0.7 it is for all of them",
    ),
    (TWO_ACTIONS, "state 'A' is retried as a whole on an error: since 0.7 actions are retried"),
    (TWO_ERRORS, "state 'A': each of several errors has its own attempts: since 0.7 an action counts them together"),
    (
        "{name: A, type: inject, start: {kind: default}, data: {x: '{{ $..a }}'}, end: {kind: default}}",
        "state 'A': data: the path '$..a' is not translated to jq",
    ),
])  # fmt: skip
def test_what_cannot_be_said_is_told(state: str, told: str) -> None:
    result = upgrade(Source(f"id: a\nstates:\n- {state}\n"))
    assert not result.is_complete
    assert [change.message for change in result.changes if change.kind == "inexpressible"] == [told]


def test_an_entry_of_errors_that_leads_nowhere_has_an_end() -> None:
    """It handles the error, and its path ends; one with a retry fails the run when the retries are used up."""
    entries = "[{error: '*', transition: B}, {error: sold out, code: '409'%s}]"
    text = (
        "id: a\nfunctions: [{name: ship, operation: s#s}]\nretries: [{name: often, delay: PT1S}]\nstates:\n"
        "  - {name: A, type: operation, actions: [{functionRef: ship}], end: true, onErrors: %s}\n"
        "  - {name: B, type: inject, data: {}, end: true}\n"
    )
    made = yaml.safe_load(upgrade(Source(text % entries % "")).text)
    assert made["states"][0]["onErrors"][0] == {"errorRef": "sold out", "end": True}
    retried = upgrade(Source(text % entries % ", retryRef: often"))
    told = [one.message for one in retried.changes if one.kind == "inexpressible"]
    assert told == [
        "state 'A': 'sold out' fails the run once it is retried: since 0.7 the entry for all others handles it"
    ]


def test_the_report_tells_names_from_forms() -> None:
    """What is only called otherwise is no change of form."""
    kinds = {change.message: change.kind for change in upgrade(Source(OLD)).changes}
    assert kinds["timeDelay is duration"] == "respelled"
    assert kinds["retries belong to the action that failed"] == "changed"


def test_filters_of_0_5_in_a_newer_definition_have_their_present_names() -> None:
    text = (
        'id: a\nspecVersion: "0.8"\nstates:\n- name: A\n  type: event\n'
        "  stateDataFilter: {dataInputPath: .a, dataOutputPath: .b}\n  onEvents:\n"
        "  - eventRefs: [paid]\n    eventFilter: {dataOutputPath: .c}\n"
        "    actions: [{functionRef: f, actionFilter: {dataInputPath: .d, dataResultsPath: .e}}]\n  end: true\n"
    )
    names = {
        "stateDataFilter: {dataInputPath: .a, dataOutputPath: .b}": "stateDataFilter: {input: .a, output: .b}",
        "eventFilter: {dataOutputPath: .c}": "eventDataFilter: {data: .c}",
        "actionFilter: {dataInputPath: .d, dataResultsPath: .e}": "actionDataFilter: {fromStateData: .d, results: .e}",
    }
    expected = text
    for old, new in names.items():
        expected = expected.replace(old, new)
    assert made(text) == expected


def test_texts_for_truths_and_lists_are_those() -> None:
    """A text under secrets is where they stand; the definition that is written is read without a warning."""
    text = (
        'id: a\nversion: 1.0.0\nspecVersion: "0.8"\nkeepActive: "no"\nannotations: one\nsecrets: secrets.json\n'
        "events: [{name: paid, type: paid, source: bank, dataOnly: 'false'}]\nstates:\n- name: A\n  type: event\n"
        "  exclusive: 'true'\n  onEvents: [{eventRefs: paid, eventDataFilter: {useData: 'yes'}}]\n"
        "  end: {terminate: 'true'}\n"
    )
    expected = (
        text.replace('"no"', "false")
        .replace("annotations: one", "annotations:\n  - one")
        .replace("'false'", "false")
        .replace("'true'", "true")
        .replace("eventRefs: paid", "eventRefs: [paid]")
        .replace("'yes'", "true")
    )
    assert yaml.safe_load(made(text)) == yaml.safe_load(expected)
    assert {problem.code for problem in check(made(text)).problems} == {"external-missing"}


def test_the_successor_has_other_names() -> None:
    """The events of actions are called otherwise in the text after 0.8."""
    text = (
        'id: a\nspecVersion: "0.8"\nstates:\n- name: A\n  id: one\n  type: operation\n'
        "  actions: [{eventRef: {triggerEventRef: ask, resultEventRef: answer}}]\n  end: true\n"
    )
    assert made(text, "0.8-next") == text.replace("triggerEventRef", "produceEventRef").replace(
        "resultEventRef", "consumeEventRef"
    ).replace("  id: one\n", "")


def test_other_languages_are_not_rewritten() -> None:
    with pytest.raises(UsageError, match="is written for Amazon States Language"):
        made('{"StartAt": "A", "States": {}}')
    with pytest.raises(UsageError, match="cannot be upgraded to version"):
        made(NEW, "2.0")
    with pytest.raises(InvalidDefinition):
        made("id: [")


@pytest.mark.parametrize("state", ["7", "{name: A, type: {a: 1}}", "{name: [], onErrors: 1, actions: {}, type: event}"])
def test_what_has_the_wrong_form_is_left(state: str) -> None:
    assert state in made(f"id: a\nexecTimeout: PT1S\nstates:\n- {state}\n")
