"""The progress of an instance: its state, and its data."""

from swf_temporal.data import JSON
from swf_temporal.languages.serverless_workflow.execution.frames import InstanceFrame, WalkFrame


def walk_under_way(frame: InstanceFrame) -> WalkFrame:
    """Return the progress of the instance's own walk, or of the one before its end."""
    return frame.get("before") or frame.get("walk", {})


def innermost_walk(frame: InstanceFrame) -> WalkFrame:
    """Return the progress of the walk whose state is running: of what is being undone, if anything is."""
    walk = walk_under_way(frame)
    undoing = frame.get("cancelled") or walk.get("run")
    if not undoing or "compensation" not in undoing:
        return walk
    return undoing["compensation"].get("walk") or walk


def latest_data(walk: WalkFrame, data: JSON) -> JSON:
    """Return the data of a walk as it was left: by actions, by a state that is being left, or by undoing."""
    run = walk.get("run", {})
    data = run.get("body", {}).get("data", walk.get("data", data))
    if "left" in run:
        data = run["left"][1]
    undoing = run.get("compensation", {})
    data = undoing.get("data", data)
    return latest_data(undoing["walk"], data) if "walk" in undoing else data
