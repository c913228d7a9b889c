"""Does any definition at all, however broken, give problems and never a traceback?"""

import json
from copy import deepcopy
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.languages.loading import check, load

DOCUMENT: dict[str, Any] = yaml.safe_load("""
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
ODD: list[Any] = [
    None, True, 0, -1, 1.5, 10**40, "", "x", "${ .a | }", "${ .x }", "fn:big", "PT1S", "P", "true", [], {}, [None],
    [[]], {"@": 1}, {"type": "event"}, {"nextState": {}}, {"schema": {}}, [{"name": "x"}], "classpath:x",
]  # fmt: skip
NAMES = ["@", "where", "source", "languageVersion", "externals", "function_ref", "type", "name", "timeout", "args", "x"]
Path = tuple[str | int, ...]


def paths(value: Any, path: Path = ()) -> list[Path]:
    if isinstance(value, dict):
        return [path, *(deeper for key in value for deeper in paths(value[key], (*path, key)))]
    if isinstance(value, list):
        return [path, *(deeper for index, item in enumerate(value) for deeper in paths(item, (*path, index)))]
    return [path]


def at(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


@st.composite
def mutated(draw: st.DrawFn, original: dict[str, Any]) -> dict[str, Any]:
    """Return *original* with up to four things deleted, replaced, copied elsewhere, or called otherwise."""
    document = deepcopy(original)
    for _ in range(draw(st.integers(1, 4))):
        everywhere = paths(document)[1:]
        if not everywhere:
            break
        path = draw(st.sampled_from(everywhere))
        owner, key = at(document, path[:-1]), path[-1]
        change = draw(st.sampled_from(["delete", "replace", "copy", "rename"]))
        if change == "delete":
            del owner[key]
        elif change == "replace":
            owner[key] = deepcopy(draw(st.sampled_from(ODD)))
        elif change == "copy":
            owner[key] = deepcopy(at(document, draw(st.sampled_from(everywhere))))
        elif isinstance(key, str):
            owner[draw(st.sampled_from([*NAMES, key + "s"]))] = owner.pop(key)
    return document


def test_the_document_is_valid() -> None:
    assert [str(problem) for problem in check(json.dumps(DOCUMENT)).problems] == []


@given(mutated(DOCUMENT), st.sampled_from([json.dumps, yaml.safe_dump]))
def test_mutated_definitions(document: dict[str, Any], write: Any) -> None:
    """A mutated definition loads, or is refused with problems that each have a place in its text."""
    assert_answered(write(document))


def assert_answered(text: str) -> None:
    """Assert that *text* loads, and can be looked at then, or is refused with problems that each have a place in it."""
    try:
        definition = load(text)
    except InvalidDefinition as refused:
        lines = [*text.splitlines(), ""]
        for problem in refused.problems:
            assert 1 <= problem.position.line <= len(lines)
            assert 1 <= problem.position.column <= len(lines[problem.position.line - 1]) + 1
            assert "Input should" not in problem.message
    else:
        assert definition.outline.parts
        assert definition.functions is not None


@given(st.text(), st.integers(0, 10**6), st.integers(0, 40))
def test_mutilated_texts(inserted: str, place: int, removed: int) -> None:
    """A text in which some characters are replaced by any others loads, or is refused."""
    text = yaml.safe_dump(DOCUMENT) if place % 2 else json.dumps(DOCUMENT)
    start = place % len(text)
    checked = check(text[:start] + inserted + text[start + removed :])
    assert checked.definition is not None or checked.errors
    assert all(problem.line or problem.position.column == 1 for problem in checked.problems)
