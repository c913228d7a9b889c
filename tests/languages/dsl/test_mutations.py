"""Is any definition in DSL 1.0, however broken, refused in an author's words, or run to an end?

`python -m tests.mutated --version 1.0` tries as many as one likes.
"""

import json
from collections import Counter

import pytest
from jsonschema import Draft202012Validator

from swf_temporal import simulate
from swf_temporal.languages.dsl.language import LANGUAGE
from swf_temporal.languages.loading import check, load
from tests.languages.dsl.mutations import DOCUMENT, SCHEDULES, mutated, outcome, simulated
from tests.sampling import seeds

COUNT = 60, 5_000
"""How many are tried: few, or many."""


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_the_document_is_valid(schedule: object) -> None:
    document = {**DOCUMENT, **({} if schedule is None else {"schedule": schedule})}
    assert [str(problem) for problem in check(json.dumps(document)).problems] == []
    assert [error.message for error in Draft202012Validator(LANGUAGE.json_schema()).iter_errors(document)] == []


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
