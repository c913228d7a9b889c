"""Inject: puts literal data into the workflow's data (section "Inject State")."""

from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import InjectState


async def run(state: InjectState, data: JSON, lane: Lane) -> Step:
    return Step(await lane.program.data_flow.with_injected(state, data, lane))
