"""Runs that began under this or an earlier version go on under this one: their recorded histories replay."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from swf_temporal.app.scenarios.virtual_time import VirtualTime
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.interpreters import AnsweringAll
from tests.replay import manifest
from tests.replay.features import REQUIRED, features_of
from tests.replay.record import MARK, chosen

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json.gz"))


def recorded(path: Path) -> dict[str, Any]:
    """Return what was recorded."""
    kept: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return kept


def test_nothing_that_was_recorded_is_missing_or_changed() -> None:
    """The manifest has the digest of each file of the corpus: none is removed or written again, and none is unknown."""
    listed = manifest.read()
    assert len(listed) >= 50
    assert manifest.digests() == listed, "`make record` adds what is new to the manifest"


def test_everything_that_takes_a_course_of_its_own_is_recorded() -> None:
    """Each feature has a scenario that is recorded; and a history, once this release has any."""
    names = {name: features_of(scenario) for name, scenario in chosen()}
    assert REQUIRED.difference(*names.values()) == set()
    ours = [path.name for path in HISTORIES if path.name.endswith(f"-{MARK}.json.gz")]
    if ours:
        assert sorted(name for name in names if f"{name}-{MARK}.json.gz" not in ours) == []


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.name.removesuffix(".json.gz"))
async def test_replays(path: Path) -> None:
    """A recorded history replays without a server, command by command as it was."""
    kept = recorded(path)
    runner = VirtualTime() if kept.get("time") == "virtual" else UnsandboxedWorkflowRunner()
    # On a busy machine the two seconds that a step may take are soon over: debugging sets no limit.
    replayer = Replayer(
        workflows=[AnsweringAll], unsandboxed_workflow_runner=runner, data_converter=CONVERTER, debug_mode=True
    )
    history = WorkflowHistory.from_json(kept["workflow_id"], kept["history"])

    outcome = await replayer.replay_workflow(history, raise_on_replay_failure=False)

    assert outcome.replay_failure is None, kept["claim"]
