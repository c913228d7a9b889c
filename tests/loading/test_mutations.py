"""Is a broken definition of any version answered for? A few of each here; `python -m tests.mutated` makes more."""

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
from tests.loading.documents import MAY_2020, NOVEMBER_2019, PRESENT, as_parent
from tests.loading.mutations import VERSIONS, outcomes
from tests.sampling import seeds

DOCUMENTS = [(PRESENT, "0.8-next"), (MAY_2020, "May 2020"), (as_parent(MAY_2020), "May 2020"),
             (NOVEMBER_2019, "November 2019")]  # fmt: skip


@pytest.mark.parametrize(("document", "version"), DOCUMENTS)
def test_the_document_is_valid(document: dict[str, Any], version: str) -> None:
    checked = check(json.dumps(document))
    assert [str(problem) for problem in checked.problems] == []
    assert checked.definition is not None
    assert checked.definition.language_version == version


@pytest.mark.parametrize("version", VERSIONS)
def test_mutations(version: str) -> None:
    """Every definition loads, or is refused with a way out; none is read as another version without a word."""
    tried = seeds(f"mutations of {version}", 60, 1_000)
    came = outcomes(version, tried)
    assert sum(came[one] for one in came if one.endswith("of its version")) > 0.8 * len(tried)
    assert {one.partition(",")[0] for one in came} == {"loaded", "refused"}


@given(st.text(), st.integers(0, 10**6), st.integers(0, 40))
def test_mutilated_texts(inserted: str, place: int, removed: int) -> None:
    """A text in which some characters are replaced by any others loads, or is refused."""
    text = yaml.safe_dump(PRESENT) if place % 2 else json.dumps(PRESENT)
    start = place % len(text)
    checked = check(text[:start] + inserted + text[start + removed :])
    assert checked.definition is not None or checked.errors
    assert all(problem.line or problem.position.column == 1 for problem in checked.problems)


@pytest.mark.parametrize("document", [MAY_2020, as_parent(MAY_2020)])
def test_the_document_fits_the_schema(document: dict[str, Any]) -> None:
    schema = Draft202012Validator(LANGUAGE.json_schema(version="May 2020"))
    assert [error.message for error in schema.iter_errors(document)] == []
    holder = "tasks" if "tasks" in document else "states"
    task = document[holder][0]
    assert not schema.is_valid({**document, holder: [{**task, "transitoin": {}}]})
    assert not schema.is_valid({**document, holder: [{**task, "type": "callbak"}]})


@pytest.mark.parametrize("data", [
    None, 1, "text", [], {}, {"n": 2}, {"orders": 1}, {"orders": [{"ok": True}, 3]}, {"data": 1}, {"order": {}},
])  # fmt: skip
@pytest.mark.parametrize(("document", "start"), [
    *((MAY_2020, start) for start in ("Choose", "Each", "Both", "Child")), (NOVEMBER_2019, "Choose"),
])  # fmt: skip
def test_any_input_ends_in_an_answer(document: dict[str, Any], start: str, data: Any) -> None:
    functions = {"price": 1, "ship": 2, "do": 1}
    run = simulate(load({**document, "startsAt": start, "id": "any"}), data, functions=functions)
    assert run.status in ("completed", "failed", *(["waiting"] if document is MAY_2020 else []))
    assert run.error is None or run.error.name
