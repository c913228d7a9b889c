"""Does any definition of the November 2019 draft, however broken, give problems and never a traceback?"""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal import simulate
from swf_temporal.languages.loading import check, load
from tests.loading.test_robustness import assert_answered, mutated

DOCUMENT: dict[str, Any] = yaml.safe_load("""
id: orders
name: Orders
description: All of it
version: "1.0"
schemaVersion: "0.1"
startsAt: Wait
execStatus: Success
triggerDefs:
- {name: paid, source: bank, type: paid, correlationToken: $.data.order}
- {name: packed, source: store, type: packed, correlationToken: $.data.order}
states:
- name: Wait
  type: EVENT
  events:
  - eventExpression: (paid or packed) and paid
    timeout: PT1H
    actionMode: PARALLEL
    actions:
    - name: ship
      function:
        name: ship
        type: custom
        resource: temporal:Ship@store
        parameters: {order: $.order, text: "Of $.order"}
      timeout: PT1M
      retry: [{match: SYS.Timeout, retryInterval: R5/PT15M, maxRetry: 3, nextState: Choose}]
      filter: {inputPath: $.data, resultPath: $.shipped, outputPath: $}
    filter: {inputPath: $.data}
    nextState: Choose
  filter: {inputPath: $}
- name: Choose
  type: SWITCH
  choices:
  - {single: [{path: $.n, value: "1", operator: EQ}], nextState: Pause}
  - {and: [{path: $.n, value: "1", operator: GT}, {path: $.m, value: a, operator: StrLT}], nextState: Pause}
  - {or: [{path: $.n, value: "1", operator: LTEQ}], nextState: both}
  - {not: {path: $.n, value: "1", operator: GTEQ}, nextState: both}
  default: Child
- {name: Pause, type: DELAY, timeDelay: PT1S, nextState: Child}
- name: Both
  id: both
  type: PARALLEL
  branches:
  - name: left
    startsAt: Do
    waitForCompletion: true
    states: [{name: Do, type: OPERATION, actionMode: SEQUENTIAL, actions: [{function: do}], end: true}]
  - {name: right, startsAt: Do, waitForCompletion: false, states: [{name: Do, type: DELAY, timeDelay: PT1S, end: true}]}
  nextState: Child
- {name: Child, type: SUBFLOW, workflowId: child, waitForCompletion: true, nextState: Say}
- {name: Say, type: RELAY, inject: {said: true}, end: true}
extensions: [{extensionid: simextension}]
metadata: {a: b}
""")


def test_the_document_is_valid() -> None:
    assert [str(problem) for problem in check(json.dumps(DOCUMENT)).problems] == []


@given(mutated(DOCUMENT), st.sampled_from([json.dumps, yaml.safe_dump]))
def test_mutated_definitions(document: dict[str, Any], write: Any) -> None:
    """A mutated definition loads, and can be looked at, or is refused with problems that have a place in its text."""
    assert_answered(write(document))


@pytest.mark.parametrize("data", [None, 1, "text", [], {}, {"data": 1}, {"order": {}}])
def test_any_input_ends_in_an_answer(data: Any) -> None:
    document = {**DOCUMENT, "startsAt": "Choose", "id": "any"}
    run = simulate(load(json.dumps(document)), data, functions={"do": 1, "ship": 2})
    assert run.status in ("completed", "failed")
    assert run.error is None or run.error.name
