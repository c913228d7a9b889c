"""Replays a history from every length that it had when a worker was given a task of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from tests.sampling import sample


async def failures(
    replayer: Replayer, workflow_id: str, history: Mapping[str, Any], few: int | None = None
) -> dict[int, Exception]:
    """Return what the replays of the whole, and of its beginnings, failed with, by their lengths.

    A run that does not try everything replays *few* of the beginnings, if that is given.
    """
    found, beginnings = {}, list(lengths(history))
    if few is not None:
        beginnings = sample(beginnings, f"beginnings of {workflow_id}", few)
    for count in (*beginnings, len(history["events"])):
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
