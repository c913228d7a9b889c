"""Definitions with all that a version has."""

from typing import Any

import yaml

PRESENT: dict[str, Any] = yaml.safe_load("""
id: orders
name: Orders
version: 1.0.0
specVersion: "0.8"
annotations: [a]
dataInputSchema: {schema: {type: object, properties: {n: {type: number}}}}
constants: {limit: 3}
secrets: [token]
start: {stateName: Wait, schedule: {cron: {expression: "0 0/15 * * * ?", validUntil: "2030-01-01T00:00:00Z"}}}
timeouts: {workflowExecTimeout: {duration: PT1H, runBefore: Late}, stateExecTimeout: PT1M}
errors: [{name: NotFound, code: "404"}]
auth: [{name: login, scheme: bearer, properties: {token: "${ $SECRETS.token }"}}]
events:
- {name: paid, type: t, source: s, correlation: [{contextAttributeName: order}]}
- {name: sent, type: u, kind: produced}
functions:
- {name: pay, operation: "pay.json#pay", authRef: {resource: login, invocation: login}}
- {name: big, type: expression, operation: ".n > 2"}
retries: [{name: slowly, delay: PT1S, maxAttempts: 3, multiplier: 2, jitter: 0.1}]
states:
- name: Wait
  type: event
  exclusive: false
  onEvents: [{eventRefs: [paid], actions: [{functionRef: pay}], eventDataFilter: {toStateData: .paid}}]
  timeouts: {eventTimeout: PT1H}
  onErrors: [{errorRef: NotFound, transition: End}]
  compensatedBy: Undo
  transition: {nextState: Choose, produceEvents: [{eventRef: sent, data: "${ . }"}]}
- name: Choose
  type: switch
  dataConditions: [{name: c, condition: "${ fn:big }", transition: Each}]
  defaultCondition: {end: true}
- name: Each
  type: foreach
  inputCollection: ${ .items }
  iterationParam: item
  actions:
  - name: a
    functionRef: {refName: pay, arguments: {i: "${ $item.id }", token: "${ $SECRETS.token }"}}
    retryRef: slowly
    sleep: {before: PT1S}
    actionDataFilter: {results: "${ .r }", toStateData: .r}
  transition: Both
- name: Both
  type: parallel
  branches: [{name: x, actions: [{subFlowRef: {workflowId: s}}]}, {name: y, actions: [{subFlowRef: t}]}]
  completionType: atLeast
  numCompleted: 1
  transition: Ask
- name: Ask
  type: callback
  action: {eventRef: {produceEventRef: sent, consumeEventRef: paid}}
  eventRef: paid
  transition: Pause
- {name: Pause, type: sleep, duration: PT1S, transition: End}
- {name: End, type: inject, data: {done: true}, end: {compensate: true, continueAs: {workflowId: w}}}
- {name: Undo, type: operation, usedForCompensation: true, actions: [{functionRef: {refName: pay}}]}
- {name: Late, type: operation, actions: [], end: true}
""")
MAY_2020: dict[str, Any] = yaml.safe_load("""
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
NOVEMBER_2019: dict[str, Any] = yaml.safe_load("""
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


def as_parent(value: Any) -> Any:
    """Return a definition of May 2020 in the words of the specification that the draft was made of."""
    words = {"tasks": "states", "nextTask": "nextState", "taskDataFilter": "stateDataFilter"}
    if isinstance(value, dict):
        return {words.get(key, key): as_parent(item) for key, item in value.items()}
    return [as_parent(item) for item in value] if isinstance(value, list) else value
