"""The progress of an instance: its state, and its data."""

from swf_temporal.data import JSON
from swf_temporal.languages.serverless_workflow.execution.frames import CompensationFrame, InstanceFrame, WalkFrame


def walk_under_way(frame: InstanceFrame) -> WalkFrame | None:
    """Return the progress of the instance's own walk, or of the one before its end; None before it begins."""
    return frame.before or frame.walk


def compensation_under_way(walk: WalkFrame | None) -> CompensationFrame | None:
    """Return the compensation that the running state of *walk* asks for as it is left."""
    return None if walk is None or walk.run is None else walk.run.compensation


def innermost_walk(frame: InstanceFrame) -> WalkFrame | None:
    """Return the progress of the walk whose state is running: of what is being undone, if anything is."""
    walk = walk_under_way(frame)
    undoing = frame.cancelled or compensation_under_way(walk)
    return walk if undoing is None else undoing.walk or walk


def latest_data(walk: WalkFrame | None, data: JSON) -> JSON:
    """Return the data of a walk as it was left: by actions, by a state that is being left, or by undoing."""
    if walk is None:
        return data
    run, data = walk.run, walk.data
    if run is None:
        return data
    data = run.latest_data(data) if run.left is None else run.left.data
    undoing = run.compensation
    if undoing is None:
        return data
    return latest_data(undoing.walk, data if undoing.data is None else undoing.data.value)
