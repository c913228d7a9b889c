"""Does any definition of the May 2020 draft, however broken, give problems and never a traceback?"""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from swf_temporal import simulate
from swf_temporal.languages.loading import check, load
from swf_temporal.languages.serverless_workflow.language import LANGUAGE
from tests.loading.test_robustness import assert_answered, mutated

DOCUMENT: dict[str, Any] = yaml.safe_load("""
id: orders
name: Orders
description: All of it
version: "1.0"
schemaVersion: "0.1"
expressionLanguage: spel
functions:
- {name: ship, type: custom, resource: temporal:Ship@store, metadata: {team: store}}
- {name: price, resource: "https://prices.example/api.json#price"}
events:
- {name: paid, source: bank, type: paid, correlationToken: order}
- {name: sent, source: store, type: sent}
tasks:
- name: Wait
  id: wait
  type: event
  start: {kind: scheduled, schedule: {interval: P1Y/2030-01-01T00:00:00Z}}
  exclusive: false
  timeout: PT1H
  eventsActions:
  - eventRefs: [paid]
    actionMode: parallel
    eventDataFilter: {dataOutputPath: $.order}
    actions:
    - name: ship
      functionRef: {refName: ship, parameters: {order: $.order, text: "Of $.order"}}
      timeout: PT1M
      actionDataFilter: {dataInputPath: $, dataResultsPath: $.shipped}
  retry:
  - {expression: {language: spel, body: "$.error.name eq 'Busy'"}, interval: R3/PT1M, multiplier: PT2M, maxAttempts: 3}
  onError:
  - {expression: "name ne 'X'", errorDataFilter: {dataOutputPath: $.exception}, transition: {nextTask: Choose}}
  taskDataFilter: {dataInputPath: $, dataOutputPath: $.shipped}
  transition:
    nextTask: Choose
    expression: {body: "#jsonPath(taskOutputData, '$..n') gt 2 and not (n eq 3)"}
    produceEvent: {eventRef: sent, data: $.shipped}
- name: Choose
  type: switch
  dataConditions:
  - {path: $.n, value: "1", operator: greaterthan, transition: {nextTask: Each}}
  - {path: $.n, value: "^x", operator: matches, transition: {nextTask: Each}, metadata: {a: b}}
  - {path: $.n, value: "1", operator: custom, transition: {nextTask: Each}, metadata: {expression: n eq 1}}
  default: {nextTask: Listen}
- name: Listen
  type: switch
  eventConditions: [{eventRef: paid, eventDataFilter: {dataOutputPath: $.a}, transition: {nextTask: Pause}}]
  eventTimeout: PT1H
  default: {nextTask: Each}
- {name: Pause, type: delay, timeDelay: PT1S, transition: {nextTask: Both}}
- name: Each
  type: foreach
  inputCollection: $.orders[?(@.ok == true)]
  inputParameter: $.order
  outputCollection: $.results
  max: 2
  timeDelay: PT1S
  tasks:
  - name: Do
    type: operation
    start: {kind: default}
    actionMode: sequential
    actions: [{functionRef: {refName: price}}]
    end: {kind: default}
  transition: {nextTask: Both}
- name: Both
  type: parallel
  completionType: n_of_m
  n: 1
  branches:
  - name: left
    tasks: [{name: Do, type: inject, start: {kind: default}, data: {left: 1}, end: {kind: terminate}}]
  - name: right
    tasks: [{name: Do, type: delay, start: {kind: default}, timeDelay: PT1S, end: {kind: default}}]
  transition: {nextTask: Child}
- {name: Child, type: subflow, workflowId: child, waitForCompletion: true, transition: {nextTask: Ask}}
- name: Ask
  type: callback
  action: {functionRef: {refName: ship}}
  eventRef: paid
  timeout: PT15M
  eventDataFilter: {dataOutputPath: $.answer}
  end: {kind: event, produceEvent: {eventRef: sent, data: {n: $.n}}}
extensions: [{extensionid: simextension}]
metadata: {a: b}
""")


def _as_parent(value: Any) -> Any:
    names = {"tasks": "states", "nextTask": "nextState", "taskDataFilter": "stateDataFilter"}
    if isinstance(value, dict):
        return {names.get(key, key): _as_parent(item) for key, item in value.items()}
    return [_as_parent(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("document", [DOCUMENT, _as_parent(DOCUMENT)])
def test_the_document_is_valid(document: dict[str, Any]) -> None:
    checked = check(json.dumps(document))
    assert [str(problem) for problem in checked.problems] == []
    assert checked.definition is not None
    assert checked.definition.language_version == "May 2020"


@pytest.mark.parametrize("document", [DOCUMENT, _as_parent(DOCUMENT)])
def test_the_document_fits_the_schema(document: dict[str, Any]) -> None:
    schema = Draft202012Validator(LANGUAGE.json_schema(version="May 2020"))
    assert [error.message for error in schema.iter_errors(document)] == []
    tasks = document.get("tasks") or document["states"]
    holder = "tasks" if "tasks" in document else "states"
    assert not schema.is_valid({**document, holder: [{**tasks[0], "transitoin": {}}]})
    assert not schema.is_valid({**document, holder: [{**tasks[0], "type": "callbak"}]})


@given(mutated(DOCUMENT), st.sampled_from([json.dumps, yaml.safe_dump]))
def test_mutated_definitions(document: dict[str, Any], write: Any) -> None:
    """A mutated definition loads, and can be looked at, or is refused with problems that have a place in its text."""
    assert_answered(write(document))


@given(mutated(_as_parent(DOCUMENT)), st.sampled_from([json.dumps, yaml.safe_dump]))
def test_mutated_definitions_in_the_spelling_of_the_parent(document: dict[str, Any], write: Any) -> None:
    """A mutated definition of the parent is answered for in the same way."""
    assert_answered(write(document))


@pytest.mark.parametrize("data", [None, 1, "text", [], {}, {"n": 2}, {"orders": 1}, {"orders": [{"ok": True}, 3]}])
@pytest.mark.parametrize("start", ["Choose", "Each", "Both", "Child"])
def test_any_input_ends_in_an_answer(start: str, data: Any) -> None:
    run = simulate(load(json.dumps({**DOCUMENT, "startsAt": start})), data, functions={"price": 1, "ship": 2})
    assert run.status in ("completed", "failed", "waiting")
    assert run.error is None or run.error.name
