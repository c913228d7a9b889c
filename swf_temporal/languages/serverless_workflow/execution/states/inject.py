"""Inject: puts literal data into the workflow's data (section "Inject State")."""

from swf_temporal.data import JSON, merge
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import InjectState


def run(state: InjectState, data: JSON, lane: Lane) -> Step:
    """Merge the state's data, with the expressions in it filled, into *data*."""
    return Step(merge(data, lane.fill(state.data, data)))
