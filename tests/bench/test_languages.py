"""That the same work has the same output in both languages; not how long it takes."""

import pytest

from bench.languages import PAIRS, measured

pytestmark = pytest.mark.temporal


async def test_both_languages_do_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_DEBUG", "1")  # of the worker: on a busy machine a task may take two seconds
    pairs = [pair for pair in PAIRS if pair[0].name in ("dsl-none", "dsl-parallel")]
    lines = await measured(pairs, rounds=1, seconds=0)
    assert [line.split(" | ")[0] for line in lines] == ["| no activity", "| 10 in parallel"]
    assert all(line.endswith("| 1 |") for line in lines)
