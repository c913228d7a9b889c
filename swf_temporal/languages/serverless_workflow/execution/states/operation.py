"""Operation: runs actions, one after the other or all at once (section "Operation State")."""

from swf_temporal.data import JSON
from swf_temporal.languages.serverless_workflow.execution.actions import run_actions
from swf_temporal.languages.serverless_workflow.execution.frames import OperationBody
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.repeating import run_repeatedly
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import OperationState


async def run(state: OperationState, data: JSON, lane: Lane[OperationBody]) -> Step:
    """Run the state's actions on *data*."""
    timeout = lane.program.timeouts(state).action_exec_timeout
    if state.repeat is not None:
        return Step(await run_repeatedly(state, state.repeat, data, lane, timeout))
    return Step(await run_actions(state.actions, state.action_mode, data, lane, timeout))
