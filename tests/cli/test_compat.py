"""`swf compat`: definitions are compared, and histories replayed."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.temporal.server import find_program
from tests.cli.conftest import WAITER, Dev, Swf

pytestmark = pytest.mark.temporal


@pytest.fixture(scope="module")
def started(dev: Dev, tmp_path_factory: pytest.TempPathFactory) -> Swf:
    """A folder with the history of an instance that waits, exported by the `temporal` program."""
    swf = Swf(tmp_path_factory.mktemp("compat"))
    (swf.folder / "histories").mkdir()
    old = swf.write("waiter.yaml", WAITER)
    swf.write("new.yaml", WAITER.replace('"1.0"', '"1.1"').replace("com.paid", "com.billed"))
    env = {"TEMPORAL_ADDRESS": dev.address}
    assert swf("start", old, "--id", "compat-1", env=env).code == 0
    swf("status", "compat-1", env=env)  # which waits until it has begun
    (swf.folder / "histories" / "one.json").write_text(exported(dev, "compat-1"))
    return swf


def exported(dev: Dev, workflow_id: str) -> str:
    program = find_program()
    assert program is not None
    command = [program, "workflow", "show", "--address", dev.address, "-w", workflow_id, "--output", "json"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_an_exported_history_goes_on(started: Swf) -> None:
    ended = started("compat", "waiter.yaml", "new.yaml", "--histories", "histories", "--output", "json")
    told = json.loads(ended.out)
    assert ended.code == 0, ended.err
    [instance] = told["instances"]
    assert instance.pop("runId")
    assert instance == {
        "id": "compat-1", "definition": "waiter", "version": "1.0", "digest": told["old"]["digest"], "state": "Wait",
        "semantics": instance["semantics"], "format": 1, "builds": ["0.1.0"], "replays": True, "text": "old",
    }  # fmt: skip
    assert [one["path"] for one in told["changes"]] == [["version"], ["events", "Paid up", "type"]]
    assert started("compat", "waiter.yaml", "new.yaml", "--strict").code == 1


def test_instances_on_a_server(started: Swf, dev: Dev) -> None:
    ended = started(
        "compat", "--query", 'WorkflowId = "compat-1"', "--limit", "5", env={"TEMPORAL_ADDRESS": dev.address}
    )
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[-1] == "1 of 1 can continue with this release"
    assert ended.out.splitlines()[1].split()[:3] == ["compat-1", "waiter", "1.0"]


def _other_timer(events: list[dict[str, Any]]) -> None:
    """Make it a history in which something else was done: an activity, which this release does not ask for."""
    done = next(one for one in events if one["eventType"] == "EVENT_TYPE_WORKFLOW_TASK_COMPLETED")
    events[events.index(done) + 1 :] = [
        {"eventId": str(int(done["eventId"]) + 1), "eventTime": done["eventTime"],
         "eventType": "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED",
         "activityTaskScheduledEventAttributes": {"activityId": "Wait/other#1", "activityType": {"name": "other"},
                                                  "workflowTaskCompletedEventId": done["eventId"]}},
    ]  # fmt: skip


def _newer(events: list[dict[str, Any]]) -> None:
    """Make it a history whose record only a newer release goes on with."""
    from base64 import b64decode, b64encode  # noqa: PLC0415 - for this alone

    payload = events[0]["workflowExecutionStartedEventAttributes"]["input"]["payloads"][1]
    pin = json.loads(b64decode(payload["data"]))
    pin["format"] = 99
    payload["data"] = b64encode(json.dumps(pin).encode()).decode()


@pytest.mark.parametrize(("change", "reason"), [(_other_timer, "Nondeterminism error"), (_newer, "is newer than this")])
def test_a_history_that_does_not_replay(started: Swf, tmp_path: Path, change: Any, reason: str) -> None:
    history = json.loads((started.folder / "histories" / "one.json").read_text())
    (tmp_path / "good.json").write_text(json.dumps(history))
    change(history["events"])
    (tmp_path / "worse.json").write_text(json.dumps(history))
    ended = started("compat", "--histories", str(tmp_path))
    assert ended.code == 1, ended.err
    lines = ended.out.splitlines()
    assert lines[-1] == "1 of 2 can continue with this release"
    assert lines[-2].startswith("compat-1 (")
    assert reason in lines[-2]
