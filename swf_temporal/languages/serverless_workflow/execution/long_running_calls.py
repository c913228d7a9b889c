"""Calls and sub-workflows that may outlast an execution of the run: which ones, and what their frames say of them.

The definition says which: a function by its metadata, and a sub-workflow that is awaited by `onParentComplete:
continue`. While one is under way, its frame says so. A run that goes on after a suspension asks its host for the
same id again, and the host knows that it need only wait.
"""

from collections.abc import Coroutine
from typing import Any

from swf_temporal.base import calls
from swf_temporal.languages.serverless_workflow.execution.action_frames import ActionFrame, CallFrame
from swf_temporal.languages.serverless_workflow.execution.functions import is_long_running
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.model.actions import FunctionRef, SubflowRef
from swf_temporal.runtime.host import FunctionCall, Outlasting, SubflowCall
from swf_temporal.runtime.joining import SuspendRequested


def call_outlasting(ref: FunctionRef, function: calls.Function, lane: Lane) -> Outlasting | None:
    """Return what waits for a call of *function*, if it may outlast an execution."""
    return lane.run.outlast if is_long_running(function) and ref.invoke == "sync" else None


def subflow_outlasting(ref: SubflowRef, lane: Lane) -> Outlasting | None:
    """Return what waits for a sub-workflow, if it may outlast an execution."""
    return lane.run.outlast if ref.on_parent_complete == "continue" and ref.invoke == "sync" else None


async def recorded_in_frame(
    work: Coroutine[Any, Any, Any], call: FunctionCall | SubflowCall, lane: Lane[ActionFrame]
) -> Any:
    """Return what *work* comes to, which makes *call*; the frame tells of one that a suspension leaves alone."""
    if call.outlast is None:
        return await work
    frame = lane.frame
    frame.call = CallFrame()
    is_suspended = False
    try:
        return await work
    except SuspendRequested:
        is_suspended = True
        raise
    finally:
        if not is_suspended:
            frame.call = None
