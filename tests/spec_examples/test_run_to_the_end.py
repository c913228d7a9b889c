"""Does every complete official example come to the end that it is meant to come to?

The examples stand beside a development checkout, not in it: without them these tests are skipped. What each is given,
and which end it is to come to, stands in ends.yaml.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from swf_temporal import Simulation, simulate
from swf_temporal.runtime.host import TraceKind
from swf_temporal.simulation.model.part import StubAnswer
from swf_temporal.simulation.script import scripted

EXAMPLES = Path(__file__).parents[2].parent / "shared" / "spec" / "examples"
DIALECTS = ("0.8", "0.8-next")
ENDS: dict[str, list[dict[str, Any]]] = yaml.safe_load(Path(__file__).with_name("ends.yaml").read_text("utf-8"))
COMPARED = ("output", "states", "calls", "produced", "elapsed")
COURSES = {*COMPARED, "called", "status", "error"}
GIVEN = {"in", "ending", "input", "events", "functions", "subflows", "versions", "documents"}

pytestmark = pytest.mark.spec


def _clean() -> Iterator[Path]:
    """Yield the examples that are complete and valid, by what the index beside them says."""
    index = EXAMPLES / "INDEX.md"
    dialect = ""
    for line in index.read_text("utf-8").splitlines() if index.is_file() else ():
        heading, entry = re.match(r"## (\S+)", line), re.match(r"- `([^`]+)`.*\| valid CLEAN", line)
        dialect = heading[1] if heading else dialect
        if entry and dialect in DIALECTS:
            yield EXAMPLES / dialect / entry[1]


CLEAN = list(_clean())


def _courses() -> Iterator[Any]:
    """Yield every way that an example may go, for each of its spellings."""
    for file in CLEAN:
        for number, course in enumerate(_courses_of(file)):
            yield pytest.param(file, course, id=f"{file.parent.name}/{file.name}-{number}")


def _courses_of(file: Path) -> list[dict[str, Any]]:
    courses = [course for course in ENDS.get(file.stem, []) if file.parent.name in course.get("in", DIALECTS)]
    return [course for course in courses if file.suffix == course.get("ending", file.suffix)]


def test_the_examples_are_there() -> None:
    """The examples stand beside the checkout; where they do not, this says that none was run."""
    if not CLEAN:
        pytest.skip(f"the specification's examples are not at {EXAMPLES}: none of them was run")
    assert len(CLEAN) > 100


def test_the_table_is_complete() -> None:
    """Every complete and valid example has an end to come to in each text, and the table names no other example."""
    if not CLEAN:
        pytest.skip(f"the specification's examples are not at {EXAMPLES}: the table was not compared with them")
    assert [str(file.relative_to(EXAMPLES)) for file in CLEAN if not _courses_of(file)] == []
    assert ENDS.keys() - {file.stem for file in CLEAN} == set()


def test_the_table_is_read() -> None:
    """Every course in the table claims something of its end, and says nothing that nobody reads."""
    for name, courses in ENDS.items():
        for course in courses:
            assert course.keys() & COURSES, name
            assert course.keys() <= COURSES | GIVEN, name


@pytest.mark.parametrize(("file", "course"), list(_courses()))
def test_comes_to_its_end(file: Path, course: dict[str, Any], tmp_path: Path) -> None:
    """An official example, given what the table says, ends as the table says."""
    run = simulate(
        _beside_its_documents(file, course.get("documents", {}), tmp_path),
        course.get("input"),
        events=course.get("events", ()),
        functions=_functions(course.get("functions", {})),
        definitions=list(_stand_ins(course)),
    )
    assert (run.status, run.error and run.error.name) == (course.get("status", "completed"), course.get("error"))
    assert _actual(course, run) == {key: course[key] for key in COMPARED if key in course}
    for name, times in course.get("called", {}).items():
        assert len([called for called, _ in run.calls if called == name]) == times


def _actual(course: Mapping[str, Any], run: Simulation) -> dict[str, Any]:
    """Return of a run what its course speaks of, in the form in which it speaks."""
    fields = course.get("produced", [])
    facts = {
        "output": run.output,
        "states": [entry.name for entry in run.trace if entry.kind is TraceKind.STATE_ENTERED],
        "calls": {name: [given for called, given in run.calls if called == name] for name in course.get("calls", ())},
        "produced": [
            {key: event.get(key) for key in fields[number]} if number < len(fields) else event
            for number, event in enumerate(run.produced_events)
        ],
        "elapsed": run.elapsed / timedelta(seconds=1),
    }
    return {key: facts[key] for key in COMPARED if key in course}


def _beside_its_documents(file: Path, documents: Mapping[str, Any], folder: Path) -> Path:
    """Return *file*, or a copy of it in *folder* beside the documents that it names."""
    if not documents:
        return file
    for name, content in documents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    copy = folder / file.name
    copy.write_bytes(file.read_bytes())
    return copy


def _functions(answers: Mapping[str, list[dict[str, Any]]]) -> Mapping[str, Any]:
    def answer(facts: dict[str, Any]) -> StubAnswer:
        return StubAnswer(**{**facts, "takes": timedelta(seconds=facts.get("takes", 0))})

    async def sleep(duration: timedelta) -> None:
        await asyncio.sleep(duration.total_seconds())

    return scripted({name: [answer(facts) for facts in given] for name, given in answers.items()}, sleep)


def _stand_ins(course: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a definition for each sub-workflow of the course: it yields what the course says, added to its data."""
    for name, result in course.get("subflows", {}).items():
        state = {"name": "Stand In", "type": "inject", "data": {}, "end": True}
        shown = {"data": result} if isinstance(result, dict) else {"stateDataFilter": {"output": result}}
        version = course.get("versions", {}).get(name, "1")
        yield {"id": name, "version": version, "specVersion": "0.8", "states": [{**state, **shown}]}
