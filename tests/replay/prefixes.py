"""Replays a history from every length that it had when a worker was given a task of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer


async def failures(replayer: Replayer, workflow_id: str, history: Mapping[str, Any]) -> dict[int, Exception]:
    """Return what the replays of the whole, and of its beginnings, failed with, by their lengths."""
    found = {}
    for count in (*lengths(history), len(history["events"])):
        beginning = WorkflowHistory.from_json(workflow_id, {"events": history["events"][:count]})
        outcome = await replayer.replay_workflow(beginning, raise_on_replay_failure=False)
        if outcome.replay_failure is not None:
            found[count] = outcome.replay_failure
    return found


def lengths(history: Mapping[str, Any]) -> Iterator[int]:
    """Yield how many events there were whenever a worker was given a task."""
    for number, event in enumerate(history["events"], 1):
        if event["eventType"] == "EVENT_TYPE_WORKFLOW_TASK_STARTED":
            yield number
