"""Checking a workflow's input and output against their schemas (section "Workflow Definition Structure")."""

from typing import TYPE_CHECKING

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionLimitExceeded, SchemaMismatch
from swf_temporal.expressions.json_schema import DataSchemaValidator
from swf_temporal.expressions.patterns import PatternTooSlow
from swf_temporal.languages.serverless_workflow.execution.program import Program
from swf_temporal.languages.serverless_workflow.model.workflow import DataSchema
from swf_temporal.runtime.host import TraceKind

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.execution.execution import Execution


def refusal_of(program: Program, data: JSON) -> str | None:
    """Return why a run of *program* cannot start with *data*, or None if it can."""
    schema, declared = program.input_schema, program.workflow.data_input_schema
    if schema is None or declared is None or not declared.fail_on_validation_errors:
        return None
    violations = schema.violations(data)
    return _mismatch_text("input", violations) if violations else None


async def check_input(execution: "Execution") -> None:
    """Check a run's input against the schema, once. Raises SchemaMismatch unless the definition allows a mismatch."""
    program = execution.program
    if program.input_schema is None or execution.frame.begun:
        return
    execution.frame.begun = True
    await _check("input", execution.run.input, program.input_schema, program.workflow.data_input_schema, execution)


async def check_output(execution: "Execution", output: JSON) -> None:
    """Check a run's output against the schema. Raises SchemaMismatch unless the definition allows a mismatch."""
    program = execution.program
    await _check("output", output, program.output_schema, program.workflow.data_output_schema, execution)


async def _check(
    what: str,
    data: JSON,
    schema: DataSchemaValidator | None,
    declared: DataSchema | None,
    execution: "Execution",
) -> None:
    violations = await _violations(schema, data, execution)
    if not violations:
        return
    if declared is None or declared.fail_on_validation_errors:
        raise SchemaMismatch(_mismatch_text(what, violations), retryable=what == "output")
    execution.run.emit(TraceKind.SCHEMA_MISMATCH, what, violations=violations)


async def _violations(schema: DataSchemaValidator | None, data: JSON, execution: "Execution") -> list[str]:
    if schema is None:
        return []
    try:
        return await execution.run.evaluated(lambda: schema.violations(data, slow_is_fatal=True))
    except PatternTooSlow as slow:
        raise ExpressionLimitExceeded(f"whether data fits the workflow's schema: {slow}") from None


def _mismatch_text(what: str, violations: list[str]) -> str:
    return f"the {what} does not fit the workflow's schema: {'; '.join(violations)}"
