"""The progress of an instance: its state, and its data."""

from swf_temporal.data import JSON
from swf_temporal.languages.serverless_workflow.execution.frames import CompensationFrame, InstanceFrame, WalkFrame
from swf_temporal.runtime.progress import Value


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


def set_latest_data(walk: WalkFrame, data: JSON) -> None:
    """Have *data* where `latest_data` finds the data of *walk*."""
    run = walk.run
    if run is None:
        walk.data = data
    elif run.compensation is not None:
        undoing = run.compensation
        if undoing.walk is None:
            undoing.data = Value(data)
        else:
            set_latest_data(undoing.walk, data)
    elif run.left is not None:
        run.left.data = data
    elif run.body is not None and run.body.data is not None:
        run.body.data.value = data
    elif run.input is not None:
        run.input.value = data
    else:
        walk.data = data
