"""Are versions told by their keys, and documents of other dialects by name?"""

import importlib
import pkgutil

import pytest

from swf_temporal.base.errors import Position, Severity
from swf_temporal.languages.loading import check
from swf_temporal.languages.serverless_workflow.reading import versions
from swf_temporal.languages.serverless_workflow.reading.versions.detection import detect, version_problem
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.text.origin import Object, Source
from swf_temporal.text.parsing import read_object
from tests.languages.serverless_workflow.models import checked_model, load_model


def root_of(text: str) -> Object:
    return read_object(Source(text))[0]


@pytest.mark.parametrize(("text", "dialect", "key", "place"), [
    ('{"StartAt": "A", "States": {}}', "Amazon States Language", "StartAt", (1, 2)),
    ("apiVersion: sonataflow.org/v1\nkind: SonataFlow\nspec: {flow: {states: []}}\n", "Kubernetes", "kind", (2, 1)),
    ("specVersion: '0.8'\nstates:\n- id: a\n  type: noop\n", "the Direktiv form", "type", (4, 3)),
])  # fmt: skip
def test_other_dialects(text: str, dialect: str, key: str, place: tuple[int, int]) -> None:
    """A document of another dialect gives one problem, which names it and points at what gives it away."""
    (problem,) = check(text).problems
    assert problem.code == "dialect"
    assert (
        problem.message == f"this is written for {dialect}, as {key!r} shows; swf-temporal runs Serverless Workflow 0.8"
    )
    assert problem.position == Position(*place)


@pytest.mark.parametrize(("text", "dialect", "key", "place"), [
    ("id: a\ntasks: []\n", "the May 2020 draft of Serverless Workflow", "tasks", (2, 1)),
    ("states:\n- name: A\n  eventsActions: []\n", "the May 2020 draft of Serverless Workflow", "eventsActions", (3, 3)),
    ("functions:\n- {name: f, resource: r}\nstates:\n- {name: A, start: {kind: default}}\n",
     "the May 2020 draft of Serverless Workflow", "resource", (2, 13)),
    ("states:\n- name: A\n  start: {kind: default}\n  dataConditions: [{path: $.a, operator: exists}]\n",
     "the May 2020 draft of Serverless Workflow", "dataConditions", (4, 3)),
    ("id: a\nstartsAt: A\nstates: []\n", "the November 2019 draft of Serverless Workflow", "startsAt", (2, 1)),
    ("states:\n- {name: A, type: DELAY, nextState: B}\n", "the November 2019 draft of Serverless Workflow",
     "nextState", (2, 26)),
    ("states:\n- {name: A, type: DELAY}\n", "the November 2019 draft of Serverless Workflow", "type", (2, 13)),
    ("expressionLanguage: spel\nfunctions: [{name: f, resource: r}]\nstates: []\n",
     "the May 2020 draft of Serverless Workflow", "expressionLanguage", (1, 1)),
    ("states:\n- name: A\n  retry: []\n  transition: {nextTask: B}\n", "the May 2020 draft of Serverless Workflow",
     "nextTask", (4, 16)),
])  # fmt: skip
def test_drafts(text: str, dialect: str, key: str, place: tuple[int, int]) -> None:
    """A document of a draft that is read is told as such, with what gives it away."""
    detected = detect(root_of(text))
    assert detected.title == dialect
    assert detected.version is not None
    assert detected.evidence is not None
    assert (detected.evidence.key, detected.position) == (key, Position(*place))
    assert all(problem.code != "dialect" for problem in check(text).problems)


LEAN = "states:\n- {name: A, type: inject, data: {}, end: true}\n"
SWITCH = "states:\n- {name: A, type: switch, dataConditions: [], default: {end: true}}\n"
STARTED = "states:\n- name: A\n  start: {kind: default}\n"


@pytest.mark.parametrize(
    "text",
    ["functions: [{name: f, type: custom, resource: r}]\nstates:\n- {name: A, type: inject, onError: []}\n",
     "specVersion: '0.8'\nexpressionLanguage: spel\nstates:\n- {name: A, retry: []}\n",
     "specVersion: '0.8'\nstates:\n- {name: A, type: inject, nextState: B}\n",
     "states:\n- {name: A, nextState: {}}\n- {name: B, type: sleep, transition: C}\n"],
)  # fmt: skip
def test_slips(text: str) -> None:
    """Words of a draft in a document that a later version may run, or that says its version, do not make one of it."""
    assert detect(root_of(text)).version is versions.PRESENT


@pytest.mark.parametrize(("text", "version", "key", "line"), [
    (LEAN, "0.8", None, 1),
    (f'specVersion: "0.8"\n{LEAN}', "0.8", "specVersion", 1),
    (f'specVersion: "0.7"\n{LEAN}', "0.7", "specVersion", 1),
    (f'specVersion: "0.7.1"\n{LEAN}', "0.7", "specVersion", 1),
    (f'specVersion: "0.71"\n{LEAN}', "0.8", None, 1),
    (f'schemaVersion: "0.6"\n{LEAN}', "0.6", "schemaVersion", 1),
    (f"execTimeout: {{duration: PT1S}}\n{LEAN}", "0.6", "execTimeout", 1),
    (SWITCH, "0.6", "default", 2),
    ("states:\n- {name: A, type: delay, timeDelay: PT1S}\n", "0.6", "type", 2),
    ("states:\n- name: A\n  type: operation\n  actions: []\n  onErrors:\n  - {error: '*', end: true}\n", "0.6",
     "error", 6),
    (STARTED, "0.5", "start", 3),
    ("states:\n- name: A\n  end: {kind: default}\n", "0.5", "end", 3),
    (f"start: A\n{SWITCH}", "0.6", "start", 1),
    (f'specVersion: "0.8"\n{SWITCH}', "0.8", "specVersion", 1),
    (f"timeouts: {{}}\n{SWITCH}", "0.8", None, 1),
    (f"dataOutputSchema: {{}}\n{LEAN}", "0.8-next", "dataOutputSchema", 1),
    (f'specVersion: "0.8"\nextensions: []\n{LEAN}', "0.8-next", "extensions", 2),
])  # fmt: skip
def test_a_version_is_shown_by_a_key(text: str, version: str, key: str | None, line: int) -> None:
    found = detect(root_of(text))
    assert found.version is versions.named(version)
    assert (found.evidence and found.evidence.key) == key
    assert found.position.line == line
    assert not found.contradicts


@pytest.mark.parametrize(("text", "version", "told"), [
    (f'specVersion: "0.8"\n{STARTED}', "0.5", "specVersion says '0.8', but 'start' in line 4 exists only up to 0.5"),
    (f'schemaVersion: "0.6"\n{STARTED}', "0.5", "schemaVersion says '0.6', but 'start' in line 4"),
    (f'schemaVersion: "0.5"\nstart: A\n{LEAN}', "0.6", "schemaVersion says '0.5', but 'start' in line 2 exists since"),
    (f'schemaVersion: "0.6"\ntimeouts: {{}}\n{LEAN}', "0.8", "'timeouts' in line 2 exists since 0.7"),
    (f'schemaVersion: "0.6"\ntimeouts: {{}}\n{SWITCH}', "0.6", "'timeouts' in line 2 exists since 0.7"),
    (
        'specVersion: "0.7"\nstates:\n- name: A\n  type: operation\n  actions: [{functionRef: f, condition: .a}]\n',
        "0.8",
        "'condition' in line 5 exists since 0.8",
    ),
    # Of several keys of one version it is the first in the table, wherever they stand.
    (
        f'schemaVersion: "0.6"\nsecrets: []\nconstants: {{}}\nerrors: []\ntimeouts: {{}}\n{SWITCH}',
        "0.6",
        "'timeouts' in line 5 exists since 0.7",
    ),
])  # fmt: skip
def test_a_number_that_the_shape_contradicts(text: str, version: str, told: str) -> None:
    root = root_of(text)
    found = detect(root)
    problem = version_problem(root, found, Source(text))
    assert found.version is versions.named(version)
    assert problem is not None
    assert told in problem.message
    assert problem.message.endswith(f"the definition is read as {version}")
    assert (problem.severity, problem.position.line) == (Severity.WARNING, 1)


def test_a_property_of_its_own_is_no_dialect() -> None:
    states = "states: [{name: A, type: inject, data: {}, end: true}]"
    assert checked_model(check(f'id: a\nspecVersion: "0.8"\ndocument: x\n{states}\n')) is not None


def test_any_shape_may_stand_where_the_dialect_is_looked_for() -> None:
    for states in ("1", "[1, null, []]", "{a: 1}", "[{type: [1], start: 2, id: {}}]"):
        assert all(problem.code != "dialect" for problem in check(f"id: a\nstates: {states}\n").problems)


STATES = [{"name": "A", "type": "inject", "data": {}, "end": True}]
AUTH = [{"name": "a", "scheme": "bearer", "properties": {"token": "t"}}]


def test_every_version_is_in_the_table() -> None:
    """A version that is missing in the table would never be read."""
    names = [one.name for one in pkgutil.iter_modules(versions.__path__, f"{versions.__name__}.")]
    declared = [value for name in names for value in vars(importlib.import_module(name)).values()]
    assert {one.name for one in declared if isinstance(one, Version)} == {one.name for one in versions.VERSIONS}


@pytest.mark.parametrize(("more", "version"), [
    ({}, "0.8"),
    ({"functions": [{"name": "f", "operation": "a.json#b", "authRef": "a"}]}, "0.8"),
    ({"functions": [{"name": "f", "operation": "a.json#b", "authRef": {"resource": "a"}}]}, "0.8-next"),
    ({"extensions": [{"extensionId": "e", "path": "none.json"}]}, "0.8-next"),
])  # fmt: skip
def test_a_version_is_given_away_by_its_keys(more: dict[str, object], version: str) -> None:
    workflow = load_model({"id": "a", "specVersion": "0.8", "version": "1.0.0", "states": STATES, "auth": AUTH, **more})
    assert workflow.language_version.name == version
