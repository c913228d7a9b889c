"""Is any definition in DSL 1.0, however broken, refused in an author's words, or run to an end?

`python -m tests.mutated --version 1.0` tries as many as one likes.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from swf_temporal import simulate
from swf_temporal.languages.dsl.definition import DslDefinition
from swf_temporal.languages.dsl.execution.zigflow_tasks import options_of
from swf_temporal.languages.dsl.language import LANGUAGE
from swf_temporal.languages.dsl.model import node, parts, workflow
from swf_temporal.languages.dsl.model.node import Node
from swf_temporal.languages.dsl.model.workflow import TASKS, TaskBase
from swf_temporal.languages.loading import check, load
from tests.languages.dsl.mutations import DOCUMENT, INPUTS, KEYS, ODD, SCHEDULES, mutated, outcome, simulated
from tests.loading.mutations import broken
from tests.sampling import seeds

CORPUS = Path(__file__).parents[2] / "scenarios"
COUNT = 60, 5_000
"""How many are tried: few, or many."""


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_the_document_is_valid(schedule: object) -> None:
    document = {**DOCUMENT, **({} if schedule is None else {"schedule": schedule})}
    assert [str(problem) for problem in check(json.dumps(document)).problems] == []
    assert [error.message for error in Draft202012Validator(LANGUAGE.json_schema()).iter_errors(document)] == []


def test_the_document_has_every_property() -> None:
    """It has each at least once, those of all tasks in some task."""
    written: set[tuple[type[Node], str]] = set()
    for schedule in SCHEDULES:
        definition = load({**DOCUMENT, **({} if schedule is None else {"schedule": schedule})})
        assert isinstance(definition, DslDefinition)
        for part in _parts(definition.workflow):
            kinds = (type(part), TaskBase) if isinstance(part, TaskBase) else (type(part),)
            written |= {(kind, name) for kind in kinds for name in part.model_fields_set}
    models = [one for module in (node, parts, workflow) for one in vars(module).values() if _is_model(one)]
    known = {(model, name) for model in models for name in model.model_fields if name != "where"}
    of_all_tasks = {(model, name) for model in TASKS for name in TaskBase.model_fields}
    missing = {(model.__name__, name) for model, name in known - written - of_all_tasks}
    assert missing == _NOT_THERE


_NOT_THERE = {("Credentials", "use"), ("DataSchema", "resource"), ("NamedValue", "name")}
"""The properties of bases, and of schemas that are included when a definition is loaded."""


def documents_of(folder: str) -> list[Any]:
    """Return the definitions of the scenarios in *folder*."""
    files = sorted((CORPUS / folder).rglob("*.yaml"))
    found = [one for file in files for one in yaml.safe_load_all(file.read_text())]
    written = [one["workflow"] for one in found if isinstance(one.get("workflow"), dict)]
    return json.loads(json.dumps(written, default=str))  # type: ignore[no-any-return]  # it is a list


@pytest.mark.parametrize("folder", ["dsl", "zigflow"])
def test_scenarios_that_are_broken(folder: str) -> None:
    documents = documents_of(folder)
    for seed in seeds(f"broken scenarios of {folder}", 100, 5_000):
        chance = random.Random(f"{folder} {seed}")  # noqa: S311 - the same mutations every time
        text = broken(deepcopy(chance.choice(documents)), chance, ODD, KEYS)
        try:
            outcome(text, chance.choice(INPUTS))
        except Exception as error:
            raise AssertionError(f"{folder}, seed {seed}: {type(error).__name__}: {error}: {text}") from error


def test_a_workflow_without_tasks_that_starts_again_is_given_up() -> None:
    document = {"dsl": "1.0.3", "namespace": "test", "name": "again", "version": "1.0.0"}
    ended = simulate({"document": document, "schedule": {"after": "PT10S"}, "do": []})
    assert ended.error is not None
    assert "'test.again' continues as itself, with no states" in ended.error.message


ZIGFLOW = "document: {dsl: 1.0.0, taskQueue: shop, workflowType: orders, version: 1.0.0}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "do: [{a: {raise: {error: soldOut}}}]",
            "task 'a': raise.error is 'soldOut': zigflow's language has no names of",
        ),
        ("timeout: soon\ndo: [{a: {set: {b: 1}}}]", "the workflow: timeout is 'soon'"),
        ("do: [{a: {set: {b: 1}, timeout: soon}}]", "task 'a': timeout is 'soon'"),
        ("do: [{a: {set: {b: 1}, metadata: {activityOptions: PT1S}}}]", "task 'a': activityOptions must be an object"),
    ],
)
def test_what_zigflow_has_no_names_for_is_refused(text: str, message: str) -> None:
    assert message in str([*check(ZIGFLOW + text).errors])


def test_a_key_of_a_message_that_means_nothing_is_no_bug() -> None:
    listen = '{listen: {to: {one: {with: {id: go, type: signal, "@": x}}}}}'
    checked = check(f"{ZIGFLOW}do: [{{a: {listen}}}]")
    assert checked.errors or checked.definition is not None
    if checked.definition is not None:
        assert [one.name for one in checked.definition.events] == ["go"]


def test_a_key_of_options_that_means_nothing_is_no_bug() -> None:
    options = '{activityOptions: {retryPolicy: {"@": [x], maximumAttempts: 2}}}'
    found = load(f"{ZIGFLOW}do: [{{a: {{call: activity, with: {{name: b, taskQueue: c}}, metadata: {options}}}}}]")
    policy = options_of({}, found.workflow.do[0].task.metadata).retry_policy  # type: ignore[attr-defined]  # its model
    assert policy is not None
    assert policy.maximum_attempts == 2


def _is_model(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Node) and value is not Node


def _parts(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
        value = [inner for name, inner in value if name != "where"]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    for item in items:
        yield from _parts(item)


def test_the_document_runs() -> None:
    text = json.dumps(DOCUMENT)
    assert simulated(text, load(text), {"n": 1}).status == "completed"
    assert simulate({**DOCUMENT, "do": []}, {"n": 1}, definitions=[]).status == "completed"


@pytest.mark.timeout(600)
def test_mutated_definitions() -> None:
    """Each is refused with problems that have a place and an author's words, or it ends: never a traceback."""
    outcomes: Counter[str] = Counter()
    for seed in seeds("mutated definitions in DSL 1.0", *COUNT):
        try:
            outcomes[outcome(*mutated(seed))] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    assert {"refused", "failed"} <= set(outcomes) <= {"not simulated", "waiting", "refused", "completed", "failed"}
