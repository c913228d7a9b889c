"""The JSON Schema of definitions, as authors write them.

It is generated from the model, so that it has exactly the properties that are read, and then extended by every other
accepted spelling. Editors check and complete definitions by it.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticOmit, core_schema

from swf_temporal.base.strict_json import write_json
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import End
from swf_temporal.languages.serverless_workflow.reading.externals import KINDS
from swf_temporal.languages.serverless_workflow.reading.normalizing import Spelling, every_part
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.languages.serverless_workflow.reading.vocabulary import (
    TEXT,
    TRUTH_PATTERN,
    Accepted,
    Schema,
    Vocabulary,
)
from swf_temporal.text.model_errors import DIALECT, field_docs

_OURS = ("externals", "stateExecTimeout.single")
"""Fields that are not for authors."""
_LIST_OF_TEXTS = {"type": "array", "items": TEXT}


def json_schema(version: Version, title: str | None = None) -> Schema:
    """Return the JSON Schema (2020-12) of definitions of *version*, one of 0.5 and later, called *title*.

    A definition that loads without problems about unknown properties is valid. Below the top level it rejects unknown
    properties, except in free-form data.
    """
    schema = schema_of(version.vocabulary, title or version.title)
    for name in (name for name in KINDS if name in schema["properties"]):
        _also(schema["properties"], name, {"type": "string"})
        schema["properties"][name].setdefault("description", "Written out, or the URI of a document that holds them.")
    return schema


def schema_of(vocabulary: Vocabulary, title: str) -> Schema:
    """Return the JSON Schema of definitions in *vocabulary*, called *title*."""

    class Generator(_Generator):
        state_types = vocabulary.state_types

    schema = vocabulary.model.model_json_schema(schema_generator=Generator)
    kinds = {kind.__name__: kind for kind in _kinds(vocabulary.model)}
    parts: dict[str, Schema] = {name: part for name, part in schema.pop("$defs").items() if name in kinds}
    for part in (schema, *parts.values()):
        properties = part.get("properties", {})
        for name in [name for name in properties if name in _OURS or name.startswith("@")]:
            del properties[name]
    for name, part in parts.items():
        _finish(part, kinds[name], vocabulary)
    _finish(schema, vocabulary.model, vocabulary)
    used = _references(schema, parts)
    return {
        "$schema": DIALECT,
        "title": title,
        **schema,
        "$defs": {name: parts[name] for name in parts if name in used},
    }


def _references(schema: Any, parts: Mapping[str, Schema]) -> set[str]:
    """Return the names of the *parts* that *schema* refers to, at any depth."""
    found: set[str] = set()
    left = [schema]
    while left:
        for name in re.findall(r'"#/\$defs/(\w+)"', write_json(left.pop())):
            if name not in found:
                found.add(name)
                left.append(parts[name])
    return found


class _Generator(GenerateJsonSchema):
    """Generates the schema of what an author may write for the model's types."""

    state_types: Mapping[str, str] = {}

    def is_instance_schema(self, schema: core_schema.IsInstanceSchema) -> JsonSchemaValue:  # noqa: ARG002 - required by the library
        """Omit the position of a node, which is not JSON."""
        raise PydanticOmit

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:  # noqa: ARG002 - required by the library
        """Return the schema of a text: the only type of the model that is read in two ways."""
        return dict(TEXT)

    def bool_schema(self, schema: core_schema.BoolSchema) -> JsonSchemaValue:  # noqa: ARG002 - required by the library
        """Return the schema of true or false, or a text for it."""
        return {"type": ["boolean", "string"], "pattern": TRUTH_PATTERN}

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        """Return a schema that decides by the `type` first, so that only errors of that type are reported."""
        cases = []
        for word, choice in schema["choices"].items():
            words = [word, *(old for old, new in self.state_types.items() if new == word)]
            condition = {"properties": {"type": {"enum": words}}, "required": ["type"]}
            cases.append({"if": condition, "then": self.generate_inner(choice)})
        words = [*schema["choices"], *self.state_types]
        return {"type": "object", "properties": {"type": {"enum": words}}, "required": ["type"], "allOf": cases}


def _finish(part: Schema, kind: type[Node], vocabulary: Vocabulary) -> None:
    """Extend *part*, the schema of *kind*, by its other spellings, and disallow other properties."""
    spelling, accepted = vocabulary.spellings.get(kind, Spelling()), vocabulary.accepted.get(kind, Accepted())
    part.pop("title", None)
    properties: dict[str, Schema] = part["properties"]
    required = [name for name in part.pop("required", []) if name in properties]
    _describe(properties, kind)
    for name, schema in list(properties.items()):
        properties[name] = _tidied(schema, is_optional=name not in required)
    if "type" in properties and "const" in properties["type"]:
        word = properties["type"]["const"]
        properties["type"] = {"enum": [word, *(old for old, new in vocabulary.state_types.items() if new == word)]}
    for name, shape in accepted.widened.items():
        _also(properties, name, shape)
    later = vocabulary.later.get(kind, ())
    for name, schema in accepted.more.items():
        properties[name] = {**schema, "deprecated": True} if not later else dict(schema)
    renamed = {old: new for old, new in {**spelling.renamed, **spelling.tolerated}.items() if new in properties}
    for old, new in renamed.items():
        note = {} if new in later else {"description": f"Read as `{new}`.", "deprecated": True}
        properties.setdefault(old, {**properties[new], **note})
    instead = {
        name: [*accepted.instead.get(name, ()), *(old for old, new in renamed.items() if new == name)]
        for name in required
    }
    for name in later:
        properties.pop(name, None)
        others = [one for one in instead.pop(name, ()) if one not in later]
        if others:
            instead[others[0]] = others[1:]
    _require(part, instead, optional=[name for name, others in accepted.instead.items() if not others])
    part["type"] = _types(kind, spelling)
    if kind is End:
        part["pattern"] = TRUTH_PATTERN
    if not accepted.is_open:
        part["additionalProperties"] = False


def _types(kind: type[Node], spelling: Spelling) -> str | list[str]:
    if kind is End:
        return ["object", "boolean", "string"]
    return "object" if spelling.short is None else ["object", "string"]


def _require(part: Schema, instead: dict[str, list[str]], optional: list[str]) -> None:
    """Require each property, or one of its alternatives, except those in *optional*."""
    sure = [name for name, others in instead.items() if not others and name not in optional]
    choices = [[name, *others] for name, others in instead.items() if others]
    if sure:
        part["required"] = sure
    if choices:
        part["allOf"] = [{"anyOf": [{"required": [name]} for name in names]} for names in choices]


def _tidied(schema: Schema, *, is_optional: bool) -> Schema:
    """Return *schema* without what is irrelevant for authors, and with other accepted values."""
    tidy = {key: value for key, value in schema.items() if key != "title"}
    if "default" in tidy and not isinstance(tidy["default"], str | int | float | bool):
        del tidy["default"]
    for choice in tidy.get("anyOf", [tidy]):
        if {key: choice.get(key) for key in _LIST_OF_TEXTS} == _LIST_OF_TEXTS:
            choice["type"] = ["array", "string"]  # a single text is read as the only element
    if is_optional:
        holder = {"of": tidy}
        _also(holder, "of", {"type": "null"})  # a key without a value is like a missing key
        tidy = holder["of"]
    return tidy


def _also(properties: dict[str, Schema], name: str, shape: Schema) -> None:
    """Allow *shape* for the property *name*, unless it is allowed already."""
    schema = properties[name]
    described: Schema = {key: schema[key] for key in ("description", "default") if key in schema}
    plain = {key: value for key, value in schema.items() if key not in described}
    if not plain or shape in plain.get("anyOf", ()):
        return
    if shape.keys() == {"type"} and "type" in plain and "enum" not in plain:
        # With a single `type`, validators report errors at their position, not for the whole.
        types = [plain["type"]] if isinstance(plain["type"], str) else plain["type"]
        properties[name] = {**schema, "type": list(dict.fromkeys([*types, shape["type"]]))}
        return
    properties[name] = {**described, "anyOf": [*plain.get("anyOf", [plain]), shape]}


def _describe(properties: dict[str, Schema], kind: type[Node]) -> None:
    """Use the docstrings of the model's fields as descriptions of properties."""
    for attribute, text in field_docs(kind):
        name = kind.model_fields[attribute].alias or attribute
        if name in properties:
            properties[name]["description"] = text


def _kinds(kind: type[Node], known: dict[type[Node], None] | None = None) -> Iterable[type[Node]]:
    found: dict[type[Node], None] = {} if known is None else known
    if kind not in found:
        found[kind] = None
        for part in every_part(kind).values():
            for inner in part.kinds.values():
                _kinds(inner, found)
    return found
