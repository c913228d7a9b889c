"""Does the JSON Schema accept what is read, and refuse what is not?"""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from swf_temporal.languages.loading import check
from swf_temporal.languages.serverless_workflow.definition import ServerlessWorkflowDefinition
from swf_temporal.languages.serverless_workflow.language import LANGUAGE
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_source
from tests.languages.serverless_workflow.models import model_of
from tests.languages.serverless_workflow.outlining.described import describe

ROOT = Path(__file__).parents[4]
EXAMPLES = ROOT.parent / "shared" / "spec" / "examples"
DIALECTS = ("0.8", "0.8-next")
STATES: list[dict[str, Any]] = [
    {"name": "E", "type": "event", "onEvents": [{"eventRefs": ["e"]}]},
    {"name": "O", "type": "operation", "actions": [{"functionRef": "f"}]},
    {"name": "S", "type": "switch", "dataConditions": [{"condition": ".a"}], "defaultCondition": "O"},
    {"name": "Z", "type": "sleep", "duration": "PT1S"},
    {"name": "P", "type": "parallel", "branches": [{"name": "b", "actions": [{"subFlowRef": "w"}]}]},
    {"name": "I", "type": "inject", "data": {"any": [{"thing": 1}]}},
    {"name": "F", "type": "foreach", "inputCollection": ".l", "actions": [{"functionRef": "f"}]},
    {"name": "C", "type": "callback", "action": {"functionRef": "f"}, "eventRef": "e"},
]


def _clean() -> list[str]:
    index, found, dialect = EXAMPLES / "INDEX.md", [], ""
    for line in index.read_text().splitlines() if index.is_file() else ():
        heading, entry = re.match(r"## (\S+)", line), re.match(r"- `([^`]+)`", line)
        dialect = heading[1] if heading else dialect
        if entry and dialect in DIALECTS and "| valid CLEAN" in line:
            found.append(f"{dialect}/{entry[1]}")
    return found


CLEAN = _clean()


def refusals(definition: Any, version: str = "0.8") -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in _validator(version).iter_errors(definition)]


@cache
def _validator(version: str) -> Draft202012Validator:
    return Draft202012Validator(LANGUAGE.json_schema(version=version))


@pytest.mark.parametrize(("version", "state"), [
    ("0.5", {"name": "A", "type": "inject", "data": {}, "end": True, "stateDataFilter": {"input": "$.a"}}),
    ("0.5", {"name": "A", "type": "subflow", "workflowId": "w", "repeat": {"max": 1}, "end": True}),
    ("0.6", {"name": "A", "type": "switch", "dataConditions": [], "defaultCondition": {"end": True}}),
    ("0.6", {"name": "A", "type": "sleep", "duration": "PT1S", "end": True}),
    ("0.6", {"name": "A", "type": "operation", "actions": [{"functionRef": "f", "condition": ".a"}], "end": True}),
    ("0.6", {"name": "A", "type": "inject", "data": {}, "start": {"kind": "default"}, "end": True}),
    ("0.8", {"name": "A", "type": "subflow", "workflowId": "w", "repeat": {"max": 1}, "end": True}),
])  # fmt: skip
def test_a_version_has_its_own_words(version: str, state: dict[str, Any]) -> None:
    assert refusals({"id": "a", "states": [state]}, version)


def with_state(state: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "a", "states": [state], **more}


def test_is_a_schema() -> None:
    """It is a schema of the draft that it names, and bears the title that is asked for."""
    schema = LANGUAGE.json_schema("Orders")
    Draft202012Validator.check_schema(schema)
    assert (schema["$schema"], schema["title"]) == ("https://json-schema.org/draft/2020-12/schema", "Orders")


def test_describes() -> None:
    parts = LANGUAGE.json_schema()["$defs"]
    assert all(part["description"] for part in parts.values())
    assert parts["Retry"]["properties"]["jitter"]["description"] == "A fraction of the delay, or a duration."


def test_nothing_of_ours() -> None:
    text = json.dumps(LANGUAGE.json_schema())
    assert [
        word for word in ('"@"', '"where"', '"source": {"$ref', '"externals"', '"languageVersion"') if word in text
    ] == []


@pytest.mark.parametrize("state", STATES, ids=[state["type"] for state in STATES])
def test_every_state_type(state: dict[str, Any]) -> None:
    """A state of any type fits; without its name, or with a property that is not known, it does not."""
    assert refusals(with_state(state)) == []
    assert refusals(with_state({key: value for key, value in state.items() if key != "name"}))
    assert refusals(with_state({**state, "stateDataFliter": {}}))


@pytest.mark.parametrize(
    "written",
    ["{$schema: swf.schema.json, id: a, start: S, states: [{name: S, type: inject, data: {}, end: true}]}",
     "{id: a, start: {stateName: S, schedule: R/PT1H}, states: [{name: S, type: inject, data: 1, end: {}}]}",
     "{id: a, start: {schedule: {cron: '0 9 * * *'}}, states: [{name: S, type: inject, data: 1, end: true}]}",
     "{id: a, states: [{name: S, type: inject, data: {}, end: 'yes'}]}",
     "{id: a, states: [{name: S, type: inject, data: {}, end: false, transition: {nextState: S}}]}",
     "{key: a, functions: f.json, timeouts: t.json, secrets: s.json, states: [{name: S, type: inject, data: 1}]}",
     "{name: a, version: 1.0, execTimeout: PT1M, states: [{name: S, type: delay, timeDelay: PT1S}]}",
     "{id: a, dataInputSchema: s, dataOutputSchema: {type: object}, states: [{name: 1, type: inject, data: 1}]}",
     "{id: a, auth: {name: x, properties: {}}, states: [{name: S, type: subflow, workflowId: w}]}",
     "{id: a, retries: [{name: r, multiplier: PT1S, maxAttempts: '3'}], states: [{name: S, type: inject, data: 1}]}",
     ("{id: a, functions: [{name: f, authRef: x}, {name: g, authRef: {resource: y}}], states: [{name: S, "
      "type: operation, actions: [{functionRef: {refName: f, args: {}, retryRef: r}}, {functionRef: f, "
      "arguments: {}}, {publish: {event: e}}, {actionFilter: {useResults: no}, subFlowRef: w}]}]}"),
     ("{id: a, states: [{name: S, type: event, timeout: PT1S, onEvents: [{eventRefs: e, eventFilter: {}}], "
      "onErrors: [{error: x, end: true}, {errorRef: y, end: true}, {errorRefs: [z], transition: S}]}]}"),
     "{id: a, states: [{name: S, type: parallel, completionType: xor, n: 1, branches: [{name: b, workflowId: w}]}]}",
     "{id: a, states: [{name: S, type: foreach, inputCollection: .l, inputParameter: i, max: 2, workflowId: w}]}",
     ("{id: a, states: [{name: S, type: inject, data: 1, timeouts: {stateExecTimeout: {total: PT1S}}, end: "
      "{produceEvents: [{eventRef: e, contextAttributes: [{a: b}]}], continueAs: w}}]}"),
     "{id: a, states: [{name: S, type: inject, data: 1, stateDataFilter: {dataInputPath: .a, dataOutputPath: .b}}]}",
     "{id: a, annotations: one, anything: {of: mine}, functions: null, states: [{name: S, type: inject, data: 1}]}"],
)  # fmt: skip
def test_every_spelling(written: str) -> None:
    codes = {problem.code for problem in check(written).problems}
    assert not codes & {"type", "enum", "missing", "unknown-property", "syntax"}
    assert refusals(yaml.safe_load(written)) == []


@pytest.mark.parametrize(("definition", "told"), [
    ({"id": "a"}, "$: 'states' is a required property"),
    ({"id": "a", "states": {}}, "$.states: {} is not of type 'array'"),
    (with_state({"name": "S", "type": "sleeep"}), "$.states[0].type: 'sleeep' is not one of"),
    (with_state({"name": "S"}), "$.states[0]: 'type' is a required property"),
    (with_state({"name": "S", "type": "sleep"}), "$.states[0]: {'name': 'S', 'type': 'sleep'} is not valid under"),
    (with_state({"name": "S", "type": "sleep", "duration": 5}), "$.states[0].duration: 5 is not of type 'string'"),
    (with_state({"name": "S", "type": "inject", "data": 1, "end": "maybe"}), "$.states[0].end: 'maybe' is not"),
    (with_state({"name": "S", "type": "inject", "data": 1, "transition": ["S"]}), "$.states[0].transition: ['S']"),
    (with_state(STATES[1], functions=[{"name": "f", "opration": "a#b"}]),
     "$.functions[0]: Additional properties are not"),
    (with_state(STATES[1], events=[{"name": "e", "kind": "both"}]), "$.events[0].kind: 'both' is not"),
    (with_state({**STATES[1], "actionMode": "serial"}), "$.states[0].actionMode: 'serial' is not valid"),
    (with_state(STATES[1], keepActive=7), "$.keepActive: 7 is not of type 'boolean'"),
])  # fmt: skip
def test_the_usual_mistakes(definition: dict[str, Any], told: str) -> None:
    assert any(refusal.startswith(told) for refusal in refusals(definition)), refusals(definition)


FILES = sorted(file for folder in ("examples", "tests/scenarios") for file in (ROOT / folder).rglob("*.yaml"))
WITHOUT_SCHEMA = {"direktiv", "early_2020"}
"""Folders or files of another language, and of texts that are made those of May 2020 before they are read."""


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(ROOT)) for file in FILES])
def test_what_loads_fits_and_can_be_described(file: Path) -> None:
    has_schema = not WITHOUT_SCHEMA & {file.stem, *file.relative_to(ROOT).parts}
    for document in yaml.safe_load_all(file.read_text()):
        definition = document.get("workflow", document)
        if not isinstance(definition, dict) or not definition.keys() & {"states", "tasks"}:
            continue
        checked = check(json.dumps(definition, default=str))
        version = checked.written_in.version if checked.written_in else "0.8"
        codes = {problem.code for problem in checked.problems}
        if has_schema and "states" in definition and not codes & {"type", "enum", "missing", "unknown-property"}:
            assert refusals(definition, version) == []
        if isinstance(checked.definition, ServerlessWorkflowDefinition):
            description = describe(checked.definition)
            text = description.text()
            assert json.loads(json.dumps(description.facts)) == description.facts
            states = model_of(checked.definition).states
            assert [one for one in states if f"\n  {one.name}: {one.written_type or one.type}" not in text] == []
            assert description.mermaid().count(" as s") >= len(states)


@pytest.mark.spec
def test_the_examples_are_there() -> None:
    if not CLEAN:
        pytest.skip(f"the specification's examples are not at {EXAMPLES}: none of them was tried")
    assert len(CLEAN) > 100


@pytest.mark.spec
@pytest.mark.parametrize("name", CLEAN)
def test_clean_examples(name: str) -> None:
    definition, _ = read_source(Source((EXAMPLES / name).read_text(), name))
    assert refusals(definition) == []


_SCHEMA_FIRST = """
from swf_temporal.languages.serverless_workflow.language import LANGUAGE
from swf_temporal.languages.loading import load
LANGUAGE.json_schema(version="0.8")
load('''
id: nested
name: nested
version: "1.0"
schemaVersion: "0.1"
startsAt: Both
states:
  - name: Both
    type: PARALLEL
    end: true
    branches:
      - name: one
        startsAt: Rest
        states: [{name: Rest, type: DELAY, timeDelay: PT1S, end: true}]
''')
"""


def test_what_is_read_after_a_schema_was_made() -> None:
    assert subprocess.run([sys.executable, "-c", _SCHEMA_FIRST], check=False, stderr=PIPE).stderr == b""
