"""The examples of the drafts, rewritten: which of them can be, and whether they still come to the same ends."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from swf_temporal import simulate
from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.languages.known import upgrade
from swf_temporal.languages.loading import check
from swf_temporal.text.origin import Source
from tests.spec_examples.test_drafts import DRAFTS, FILES, TABLES, _reason
from tests.spec_examples.test_run_to_the_end import EXAMPLES, _functions, _stand_ins

pytestmark = pytest.mark.spec

BROKEN = ("05-parallel-execution-example.yaml",)
"""What is no YAML."""
INEXPRESSIBLE = {
    "14-handle-car-auction-bids-example": "starts only within '2020-03-20T09:00:00Z/2020-03-20T15:00:00Z'",
    "21-retrying-failed-steps": "is retried if '$.exit_code == 1' holds for its data",
    "32-partial": "its timeout applies between events",
}
"""What cannot be expressed in 0.8, by how the names of the files begin, with what is told of it."""


def test_the_examples_are_there() -> None:
    if not FILES:
        pytest.skip(f"the specification's examples are not at {EXAMPLES}: none of the drafts' was rewritten")
    assert len(FILES) > 90


@pytest.mark.parametrize("file", [pytest.param(file, id=f"{draft}/{file.name}") for draft, file in FILES])
def test_an_example_is_rewritten(file: Path) -> None:
    """Whole, but for those that the table tells of; then there is nothing wrong with it that was not before."""
    source = Source(file.read_text("utf-8"), file.name)
    if file.name in BROKEN:
        with pytest.raises(InvalidDefinition):
            upgrade(source)
        return
    made = upgrade(source)
    told = [change.message for change in made.changes if change.kind == "inexpressible"]
    expected = next((why for name, why in INEXPRESSIBLE.items() if file.name.startswith(name)), None)
    if expected is not None:
        assert any(expected in message for message in told)
        return
    assert told == []
    if _reason(file) is None:
        assert check(made.text).errors == ()
        assert not {problem.code for problem in check(made.text).problems} & {"tolerated-spelling", "unknown-property"}


@pytest.mark.parametrize(
    ("file", "course"),
    [pytest.param(file, course, id=f"{draft}/{file.name}-{number}") for draft,
     file in FILES if not _reason(file) and not any(file.name.startswith(name) for name in INEXPRESSIBLE) for number,
     course in enumerate(next((found for name, found in TABLES[DRAFTS[draft]].items() if name[:2] == file.name[:2]),
                              []))],
)  # fmt: skip
def test_an_example_comes_to_the_same(file: Path, course: Mapping[str, Any], tmp_path: Path) -> None:
    new = tmp_path / file.name
    new.write_text(upgrade(Source(file.read_text("utf-8"), file.name)).text, encoding="utf-8")
    assert _seen(new, course) == _seen(file, course)


def _seen(file: Path, course: Mapping[str, Any]) -> tuple[Any, ...]:
    run = simulate(
        file,
        course.get("input"),
        events=course.get("events", ()),
        functions=_functions(course.get("functions", {})),
        definitions=list(_stand_ins(dict(course))),
    )
    produced = [
        {key: value for key, value in event.items() if key not in ("id", "time")} for event in run.produced_events
    ]
    return run.status, run.error and run.error.name, run.output, run.calls, produced, run.elapsed


@pytest.mark.skipif(not (EXAMPLES / "draft-states").is_dir(), reason="the draft's examples are not beside the checkout")
@pytest.mark.parametrize(("name", "functions"), [
    ("01-partial-hello-world-example.json", {"hello": {"payload": "Hello, Ann"}, "save_resut": "saved"}),
    ("01-partial-hello-world-example.json", {"hello": {"payload": None}, "save_resut": None}),
    ("02-custom-extension-example.json", {"firstFunction": {"n": 2}, "secondFunction": {"n": 3}}),
])  # fmt: skip
def test_an_example_of_2019_comes_to_the_same(name: str, functions: Mapping[str, Any], tmp_path: Path) -> None:
    old = EXAMPLES / "draft-states" / name
    new = tmp_path / name
    made = upgrade(Source(old.read_text("utf-8"), name))
    new.write_text(made.text, encoding="utf-8")
    assert made.is_complete
    assert check(made.text).errors == ()
    runs = [simulate(file, {"name": "Ann"}, functions=functions) for file in (old, new)]
    assert runs[0].calls
    assert (runs[0].status, runs[0].output, runs[0].calls) == (runs[1].status, runs[1].output, runs[1].calls)
