"""The JSON Schema that scenarios fit, made from the models that read them. Editors check and complete files by it."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from swf_temporal.simulation.model.part import ScenarioPart
from swf_temporal.simulation.model.scenario import Scenario
from swf_temporal.text.model_errors import DIALECT, field_docs


def scenario_schema(title: str = "Scenario of Serverless Workflow") -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one scenario, called *title*: a document of a file."""
    schema = Scenario.model_json_schema(schema_generator=_Generator)
    return {"$schema": DIALECT, **schema, "title": title}


class _Generator(GenerateJsonSchema):
    """Writes the models' types as what an author may write for them."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model, with the texts under its fields."""
        written = super().model_schema(schema)
        for kind in (one for one in schema["cls"].__mro__ if issubclass(one, ScenarioPart)):
            for field, text in field_docs(kind):
                name = kind.model_fields[field].alias or field if field in kind.model_fields else field
                if name in written.get("properties", {}):
                    written["properties"][name].setdefault("description", text)
        return written

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Return the schema of what may be left out: a key that is written has a value."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Return the schema of what has a default, and the default if that says something."""
        written = super().default_schema(schema)
        if not written.get("default") or not isinstance(written["default"], str | int):
            written.pop("default", None)
        return written

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - asked for by the library
        """Return no: a title that repeats the name of its key tells nothing."""
        return False
