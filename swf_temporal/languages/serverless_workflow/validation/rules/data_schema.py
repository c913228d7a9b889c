"""Data schemas are JSON Schemas that can be compared with data (section "Workflow Definition Structure")."""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.json_schema import BadSchema, DataSchemaValidator
from swf_temporal.languages.serverless_workflow.model.workflow import DataSchema
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each schema that is none; one that was not found is told elsewhere."""
    workflow = context.workflow
    for key, declared in (
        ("dataInputSchema", workflow.data_input_schema),
        ("dataOutputSchema", workflow.data_output_schema),
    ):
        if declared is not None and not isinstance(declared.schema_, str):
            yield from _check(context, key, declared)


def _check(context: Context, key: str, declared: DataSchema) -> Iterator[Problem]:
    try:
        DataSchemaValidator(declared.schema_)
    except BadSchema as bad:
        inside = "".join(f"/{step}" for step in bad.path)
        message = f"{key} is not a JSON Schema that can be used: {f'{inside}: ' if inside else ''}{bad.message}"
        yield context.error("data-schema", message, declared.where.at("schema", *bad.path))
