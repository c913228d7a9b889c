"""Is every definition that is broken at random done with? A few of each here; `python -m tests.mutated` tries more."""

import itertools
import os
import time
from collections import Counter

import pytest

from tests import mutated
from tests.mutated import VERSIONS, Task, Tried, tried
from tests.sampling import seeds


def test_broken_definitions_are_done_with_in_time() -> None:
    all_ = [Task(version, seed) for version in VERSIONS for seed in seeds(f"broken {version}", 12, 1_000)]
    came = list(tried(iter(all_), 2))
    assert len(came) == len(all_)
    assert [one for one in came if one.outcome == "defect"] == []
    late = tried((one.task for one in came if one.outcome == "late"), 1)
    assert [one for one in late if one.defect] == []
    assert {"refused", "completed", "failed"} <= Counter(one.outcome for one in came).keys()


def _hangs(task: Task) -> Tried:
    if task.seed == 1:
        os._exit(3)
    while task.seed == 2:
        time.sleep(1)
    return Tried(task, "refused", 0.0)


def test_what_ends_its_process_or_never_ends_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutated, "_PATIENCE", 1.0)
    tasks = [Task("0.8", seed) for seed in range(5)]
    came = {one.task.seed: one for one in itertools.islice(tried(iter(tasks), 2, _hangs), 5)}
    assert "ended with 3" in came[1].defect
    assert "ended with -9" in came[2].defect
    assert [came[seed].outcome for seed in (0, 3, 4)] == ["refused"] * 3
