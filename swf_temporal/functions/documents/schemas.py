"""Conversion of schemas in OpenAPI documents to JSON Schema, with everything that they refer to.

Versions 2.0 and 3.0 have their own dialect; 3.1 is JSON Schema. `format` is an annotation, as it is there.
"""

import re
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.strict_json import show_json
from swf_temporal.functions.documents.parts import Document

# openapi-schema-validator has no dialect for 2.0, treats `format` as an assertion, and matches patterns without a time
# limit: `^(a+)+$` kept it busy for eight seconds with 27 letters. We convert to JSON Schema, whose validator has such
# limits.
_PLAIN = frozenset({
    "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
    "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties",
    "minProperties", "required", "dependentRequired",
})  # fmt: skip
_SCHEMA = frozenset({
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
    "unevaluatedProperties",
})  # fmt: skip
_SCHEMAS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas"})
_REFERENCES = ("$ref", "$dynamicRef")
_NULLABLE = ("nullable", "x-nullable")
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def self_contained(root: Document, document: Document, schema: JSON) -> JSON:
    """Return what the *schema* in *document* requires of an answer, as self-contained JSON Schema.

    The *root* determines the version of OpenAPI. Raises CallFailed if a schema is missing or not one.
    """
    writer = _Writer(root)
    try:
        written = writer.written(document, schema)
    except RecursionError:
        raise permanent_failure("BadDocument", f"a schema in '{document.name}' is nested too deeply") from None
    whole: dict[str, JSON] = written if isinstance(written, dict) else {"allOf": [written]}
    definitions: JSON = writer.definitions
    return {"$schema": _DRAFT, **whole, "$defs": definitions}


class _Writer:
    """Writes schemas, with those that they refer to under generated names."""

    def __init__(self, root: Document) -> None:
        self.definitions: dict[str, JSON] = {}
        self._is_dialect = not str(root.content.get("openapi", "")).startswith("3.1")
        self._names: dict[int, str] = {}

    def written(self, document: Document, schema: JSON) -> JSON:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            raise permanent_failure("BadDocument", f"'{document.name}' has {show_json(schema)} in place of a schema")
        reference = next((schema[key] for key in _REFERENCES if key in schema), None)
        referred = self._referred(document, reference) if isinstance(reference, str) else {}
        # Keywords beside a reference count since version 3.1.
        found = referred if referred and self._is_dialect else {**referred, **self._keywords(document, schema)}
        is_nullable = self._is_dialect and any(schema.get(key) is True for key in _NULLABLE)
        return {"anyOf": [{"type": "null"}, found]} if is_nullable else found

    def _referred(self, document: Document, reference: str) -> dict[str, JSON]:
        holder, target = document.target(reference)
        if id(target) not in self._names:  # a schema may be part of itself
            name = self._names[id(target)] = f"{len(self._names)}"
            self.definitions[name] = self.written(holder, target)
        return {"$ref": f"#/$defs/{self._names[id(target)]}"}

    def _keywords(self, document: Document, schema: dict[str, Any]) -> dict[str, JSON]:
        if self._is_dialect:
            schema = _translated(schema)
        found: dict[str, JSON] = {}
        for key, value in schema.items():
            if key == "required":
                found[key] = _required(document, schema)
            elif (key == "pattern" and not is_pattern(value)) or (key == "type" and value == "file"):
                continue
            elif key in _PLAIN:
                found[key] = value
            elif key in _SCHEMA:
                found[key] = self.written(document, value)
            elif key in _SCHEMAS and isinstance(value, list):
                found[key] = [self.written(document, item) for item in value]
            elif key in _BY_NAME and isinstance(value, dict):
                found[key] = {
                    name: self.written(document, item)
                    for name, item in value.items()
                    if key != "patternProperties" or is_pattern(name)
                }
        return found


def _translated(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of version 2.0 or 3.0 with exclusive limits as numbers, as in JSON Schema."""
    changed = dict(schema)
    for limit, exclusive in (("maximum", "exclusiveMaximum"), ("minimum", "exclusiveMinimum")):
        if isinstance(changed.get(exclusive), bool) and changed.pop(exclusive) and limit in changed:
            changed[exclusive] = changed.pop(limit)
    return changed


def _required(document: Document, schema: dict[str, Any]) -> list[JSON]:
    """Return the required properties of an answer, which does not contain write-only ones."""
    required, properties = schema["required"], document.resolve(schema.get("properties"))
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return [name for name in names if document.resolve(properties.get(name)).get("writeOnly") is not True]


def is_pattern(text: object) -> bool:
    """Return whether a pattern is also valid in Python; one that is only valid in JavaScript cannot be checked."""
    try:
        re.compile(str(text))
    except re.error:
        return False
    return True
