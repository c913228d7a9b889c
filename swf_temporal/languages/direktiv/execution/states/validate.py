"""The `validate` state: compares data with a JSON Schema."""

from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.expressions.json_schema import BadSchema
from swf_temporal.expressions.patterns import PatternTooSlow
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.model.states import ValidateState


async def run(state: ValidateState, lane: Lane) -> StateExit:
    """Go on if the subject fits the schema."""
    subject = await lane.evaluate(state.subject, lane.data)
    try:
        schema = lane.execution.program.schema(state.id, state.schema_)
        violations = await lane.run.evaluated(lambda: schema.violations(subject, slow_is_fatal=True))
    except BadSchema as error:
        raise codes.internal(f"the schema is not a JSON Schema: {error.message}") from None
    except PatternTooSlow as error:
        raise ExpressionLimitExceeded(str(error)) from None
    if violations:
        raise codes.fault(codes.SCHEMA_FAILED, f"subject does not fit its schema: {'; '.join(violations)}")
    return StateExit(lane.data, state.transform, state.transition)
