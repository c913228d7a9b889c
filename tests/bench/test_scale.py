"""That runs without a limit come to what they should, interpreted and written by hand; not how long they take."""

from dataclasses import replace

import pytest

from bench.scale.__main__ import measure, table
from bench.scale.work import WORK
from tests.sampling import sample

pytestmark = pytest.mark.temporal


async def test_both_do_all_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few items of a kind of run are done by both, on one server; what is measured makes a table."""
    monkeypatch.setenv("TEMPORAL_DEBUG", "1")  # of the workers: on a busy machine a task may take two seconds
    works = [replace(work, rounds=1) for work in sample(WORK, "what is measured", 1)]
    measured = await measure(works, 10)

    assert measured.keys() == {work.name for work in works}
    rows = table(works, measured).splitlines()
    assert len(rows) == 2 + len(works)
    assert {row.count("|") for row in rows} == {13}


async def test_the_interpreter_can_be_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compared is missing then."""
    monkeypatch.setenv("TEMPORAL_DEBUG", "1")  # as above
    works = [work for work in WORK if work.name == "loop"]
    row = table(works, await measure(works, 10, None), None).splitlines()[-1]
    assert row.startswith("| loop of two transitions | 10 |")
    assert row.count(" - |") == 5
