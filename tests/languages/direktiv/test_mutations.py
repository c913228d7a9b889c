"""Is any workflow, however broken, refused in an author's words, or run to an end?

`python -m tests.mutated --version Direktiv` tries as many as one likes.
"""

import json
from collections import Counter

import pytest
from jsonschema import Draft202012Validator

from swf_temporal import simulate
from swf_temporal.languages.direktiv.language import LANGUAGE
from swf_temporal.languages.loading import check
from tests.languages.direktiv.mutations import DOCUMENT, STARTS, mutated, outcome
from tests.sampling import seeds

COUNT = 200, 5_000
"""How many are tried: few, or many."""


@pytest.mark.parametrize("start", STARTS, ids=lambda one: str(one["type"]))
def test_the_document_is_valid(start: object) -> None:
    document = {"start": start, **DOCUMENT}
    assert [str(problem) for problem in check(json.dumps(document)).problems] == []
    assert [error.message for error in Draft202012Validator(LANGUAGE.json_schema()).iter_errors(document)] == []
    run = simulate(document, {"n": 1, "list": [{"n": 1}]}, functions=dict.fromkeys("fgh", 1), secrets={"token": "s"})
    assert run.error is not None


@pytest.mark.timeout(600)
def test_mutated_workflows() -> None:
    """Each is refused with problems that have a place and an author's words, or it ends: never a traceback."""
    outcomes: Counter[str] = Counter()
    for seed in seeds("mutated workflows of Direktiv", *COUNT):
        try:
            outcomes[outcome(*mutated(seed))] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    assert set(outcomes) - {"not simulated", "waiting"} == {"refused", "completed", "failed"}


@pytest.mark.parametrize(("text", "message", "hint"), [
    ("states: [3, {id: a, type: noop}]", "state number 1 must be an object", None),
    ("states: [{id: {}, type: noop}]", "state number 1: id must be a text", None),
    ("states: [{id: a, type: noop, catch: {}}]", "state 'a': catch must be a list", None),
    ("states: [{id: a, type: noop, Transition: []}]", "state 'a': Transition must be a text", None),
    (
        "states: [{id: a, type: delay, duration: PT1S, until: x}]",
        "state 'a' has an unknown key 'until'",
        "it may have catch, duration, id, log, metadata, transform, transition, type",
    ),
    (
        "name: a\nversion: '1'\nstates: [{id: a, type: noop}]",
        "the workflow has an unknown key 'name'",
        "it may have compat, description, direktiv_api, functions, id, start, states, timeouts, url",
    ),
    (
        "states: [{id: a, type: action, action: {function: f, secrets: [true]}}]",
        "secret number 1 of action of state 'a' must be a text",
        None,
    ),
])  # fmt: skip
def test_what_is_wrong_is_named(text: str, message: str, hint: str | None) -> None:
    """What is wrong is called by its key, or by what it is in its list; an unknown key is told which there are."""
    first = check(text).problems[0]
    assert (first.message, first.hint) == (message, hint)


def test_a_multiplier_is_one_problem() -> None:
    text = """
functions: [{type: knative-workflow, id: f, image: x}]
states: [{id: a, type: action, action: {function: f, retries: [{codes: [x], max_attempts: 1, multiplier: many}]}}]
"""
    assert [problem.message.partition(": ")[2] for problem in check(text).problems] == ["multiplier must be a number"]
