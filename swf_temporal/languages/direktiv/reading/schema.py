"""The JSON Schema of definitions, for editors."""

from typing import Any

from swf_temporal.errors import UsageError
from swf_temporal.languages.direktiv.model.workflow import Workflow


def json_schema(title: str, version: str | None) -> dict[str, Any]:
    """Return the schema. Raises UsageError if one of a version is asked for."""
    if version is not None:
        raise UsageError(f"there is no schema of version {version!r} of direktiv", "there is one, without a version")
    schema = Workflow.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": title}
