"""Does every complete example of the drafts come to the end that it is meant to come to?

The examples stand beside a development checkout, not in it: without them these tests are skipped. What each is given,
and which end it is to come to, stands in a table for each draft. A draft's parent has the same examples by other names.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from swf_temporal import simulate
from swf_temporal.languages.loading import check_file
from swf_temporal.languages.serverless_workflow.drafts.may_2020.reader import json_schema
from tests.spec_examples.test_run_to_the_end import COMPARED, COURSES, EXAMPLES, GIVEN, _actual, _functions, _stand_ins

DRAFTS = {"draft-tasks": "ends_may_2020.yaml", "draft-tasks-parent": "ends_may_2020.yaml"}
REFUSED = {
    "05-parallel-execution-example.yaml": "a key is expected here",
    "21-retrying-failed-steps": "refers to the function 'flip-coin-function', which is not defined",
    "29-action-results": "refers to the function 'greetingAction', which is not defined",
    "32-partial": "the workflow has no id",
    "33-partial": "the workflow has no id",
    "34-partial": "the workflow has no id",
}
"""What is not complete, by how the names of the files begin, with what is told of it."""

SCHEMA = Draft202012Validator(json_schema())

pytestmark = pytest.mark.spec


def _table(name: str) -> dict[str, list[dict[str, Any]]]:
    table: dict[str, list[dict[str, Any]]] = yaml.safe_load(Path(__file__).with_name(name).read_text("utf-8"))
    return table


TABLES = {name: _table(name) for name in set(DRAFTS.values())}


def _files() -> Iterator[tuple[str, Path]]:
    for draft in DRAFTS:
        for file in sorted((EXAMPLES / draft).glob("*.*")):
            if "custom-extension" not in file.name:  # an ellipsis, which is no JSON, stands for an extension there
                yield draft, file


FILES = list(_files())


def _reason(file: Path) -> str | None:
    return next((why for name, why in REFUSED.items() if file.name.startswith(name)), None)


def _courses() -> Iterator[Any]:
    for draft, file in FILES:
        courses = next(
            (found for name, found in TABLES[DRAFTS[draft]].items() if name[:2] == file.name[:2]), []
        )  # the parent calls some files otherwise
        for number, course in enumerate([] if _reason(file) else courses):
            yield pytest.param(file, course, id=f"{draft}/{file.name}-{number}")


def test_the_examples_are_there() -> None:
    """The examples stand beside the checkout; where they do not, this says that none was run."""
    if not FILES:
        pytest.skip(f"the specification's examples are not at {EXAMPLES}: none of the drafts' was run")
    assert len(FILES) > 90


def test_the_tables_are_complete() -> None:
    """Every complete example has an end to come to, and every course claims something that is compared."""
    if not FILES:
        pytest.skip(f"the specification's examples are not at {EXAMPLES}: the tables were not compared with them")
    for draft, file in FILES:
        numbers = {name[:2] for name in TABLES[DRAFTS[draft]]}
        assert _reason(file) or file.name[:2] in numbers, file
    for table in TABLES.values():
        for name, courses in table.items():
            for course in courses:
                assert course.keys() & COURSES, name
                assert course.keys() <= COURSES | GIVEN | {"edited"}, name


@pytest.mark.parametrize(("file", "course"), list(_courses()))
def test_comes_to_its_end(file: Path, course: dict[str, Any], tmp_path: Path) -> None:
    """An example of a draft, given what the table says, ends as the table says."""
    run = simulate(
        _edited(file, course.get("edited", {}), tmp_path),
        course.get("input"),
        events=course.get("events", ()),
        functions=_functions(course.get("functions", {})),
        definitions=list(_stand_ins(course)),
    )
    assert (run.status, run.error and run.error.name) == (course.get("status", "completed"), course.get("error"))
    actual = _actual(course, run)
    if "states" in actual:
        # States that are held by others are told by their paths. The parent says State for Task in names, too.
        actual["states"] = [
            path.rpartition("/")[2].replace("state", "task").replace("State", "Task") for path in actual["states"]
        ]
    assert actual == {key: course[key] for key in COMPARED if key in course}
    for name, times in course.get("called", {}).items():
        assert len([called for called, _ in run.calls if called == name]) == times


def _edited(file: Path, replaced: Mapping[str, str], folder: Path) -> Path:
    """Return *file*, or a copy of it in *folder* in which some texts are others: times that are long past."""
    if not replaced:
        return file
    text = file.read_text("utf-8")
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    copy = folder / file.name
    copy.write_text(text, encoding="utf-8")
    return copy


@pytest.mark.parametrize(
    "file", [pytest.param(file, id=f"{draft}/{file.name}") for draft, file in FILES if _reason(file)]
)
def test_what_is_refused(file: Path) -> None:
    """An example that is not complete is refused with what it lacks, at a place."""
    problems = check_file(file).errors
    reason = _reason(file)
    assert any(reason in problem.message for problem in problems if reason)


@pytest.mark.parametrize(
    "file", [pytest.param(file, id=f"{draft}/{file.name}") for draft, file in FILES if not _reason(file)]
)
def test_fits_the_schema(file: Path) -> None:
    """A complete example fits the JSON Schema that editors are given for its draft."""
    assert [error.message for error in SCHEMA.iter_errors(yaml.safe_load(file.read_text("utf-8")))] == []
