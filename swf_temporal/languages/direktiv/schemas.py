"""The JSON Schemas of `validate` states."""

from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.expressions.json_schema import BadSchema, DataSchemaValidator

_DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"
_DRAFT_4: Final = "http://json-schema.org/draft-04/schema#"


def validator_of(schema: JSON) -> DataSchemaValidator:
    """Return a validator for *schema*. Raises BadSchema.

    Without `$schema`, it is read as the latest draft that Direktiv supported or, if it is invalid there, the earliest.
    """
    if not isinstance(schema, dict) or "$schema" in schema:
        return DataSchemaValidator(schema, checks_formats=True)
    try:
        return DataSchemaValidator({**schema, "$schema": _DRAFT_7}, checks_formats=True)
    except BadSchema as refused:
        try:
            return DataSchemaValidator({**schema, "$schema": _DRAFT_4}, checks_formats=True)
        except BadSchema:
            raise refused from None
