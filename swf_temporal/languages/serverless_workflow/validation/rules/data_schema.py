"""Rule: data schemas are usable JSON Schemas (section "Workflow Definition Structure")."""

from collections.abc import Iterator
from typing import Final

from swf_temporal.base.errors import Problem
from swf_temporal.expressions.json_schema import BadSchema, DataSchemaValidator
from swf_temporal.languages.serverless_workflow.model.workflow import DataSchema
from swf_temporal.languages.serverless_workflow.validation.context import Context

_REFERENCE: Final = "https://json-schema.org/understanding-json-schema/keywords"
_FORMS: Final = {
    "type": "write one of string, number, integer, boolean, object, array and null, or a list of them",
    "properties": "write an object, with a schema for each key: 'properties: {amount: {type: number}}'",
    "required": "write a list of the required keys: 'required: [amount]'",
    "items": "write the schema of each element: 'items: {type: string}'",
    "$ref": "define it under $defs of this schema, or correct the reference",
    "$schema": "leave it out, or write https://json-schema.org/draft/2020-12/schema",
    "pattern": "write a regular expression, such as '^[A-Z]{3}-[0-9]+$'",
    "enum": "write a list of the allowed values: 'enum: [new, paid]'",
}
"""Hints for the most common keywords of schemas."""


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each invalid schema; one that was not found is reported elsewhere."""
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
        message = f"{key} is not a usable JSON Schema: {f'{inside}: ' if inside else ''}{bad.message}"
        yield context.error("data-schema", message, declared.where.at("schema", *bad.path), _hint(bad))


def _hint(bad: BadSchema) -> str:
    """Return a hint for the part of the schema that *bad* is about."""
    keyword = next((step for step in reversed(bad.path) if step in _FORMS), None)
    if keyword is not None:
        return _FORMS[keyword]
    return f"what {bad.path[-1]!r} may hold: {_REFERENCE}" if bad.path else "write one, such as '{type: object}'"
