"""The JSON Schema of scenarios, generated from their models. Editors check and complete files by it.

Imported only by `swf schema`: generating schemas is a large part of pydantic.
"""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from swf_temporal.simulation.model.part import ScenarioPart
from swf_temporal.simulation.model.scenario import Scenario
from swf_temporal.text.model_errors import DIALECT, field_docs


def scenario_schema(title: str = "Scenario of Serverless Workflow") -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one scenario, a document of a file, with that *title*."""
    schema = Scenario.model_json_schema(schema_generator=_Generator)
    return {"$schema": DIALECT, **schema, "title": title}


class _Generator(GenerateJsonSchema):
    """Generates the schemas of what authors may write for the models' types."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model, with the docstrings of its fields."""
        written = super().model_schema(schema)
        for kind in (one for one in schema["cls"].__mro__ if issubclass(one, ScenarioPart)):
            for field, text in field_docs(kind):
                name = kind.model_fields[field].alias or field if field in kind.model_fields else field
                if name in written.get("properties", {}):
                    written["properties"][name].setdefault("description", text)
        return written

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Return the schema of an optional key: null is not allowed."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Return the schema of a value with a default, including that if it is meaningful."""
        written = super().default_schema(schema)
        if not written.get("default") or not isinstance(written["default"], str | int):
            written.pop("default", None)
        return written

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - asked for by the library
        """Return False: a title that repeats the name of its key is useless."""
        return False
