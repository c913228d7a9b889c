"""Does the input that was given on the command line fit the workflow that it is for?"""

from swf_temporal.data import JSON
from swf_temporal.errors import UsageError
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow


def refuse_unfit(workflow: Workflow, data: JSON) -> None:
    """Raise UsageError if a run of *workflow* would fail at once, because *data* does not fit its schema."""
    if workflow.data_input_schema is None:
        return
    from swf_temporal.languages.serverless_workflow.execution.data_schemas import refusal_of
    from swf_temporal.languages.serverless_workflow.execution.program import Program

    refusal = refusal_of(Program(workflow), {} if data is None else data)
    if refusal is not None:
        raise UsageError(refusal, f"dataInputSchema of {workflow.id!r} says what the input has to be")
