"""Parts of a document, by their location, with references resolved; schemas of OpenAPI as JSON Schema.

Versions 2.0 and 3.0 of OpenAPI have a dialect of their own; 3.1 is JSON Schema. `format` is an annotation, as it is
there.
"""

import os.path
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.strict_json import show_json
from swf_temporal.functions.urls import join_url, split_url

_MAX_CHAIN = 32
_NOTHING = object()
_ANCHORS = ("$anchor", "$dynamicAnchor")


# `referencing`, which jsonschema uses, resolves references within schemas. In documents of OpenAPI and AsyncAPI, which
# are not schemas, it finds no anchors. Nor can it await fetching, or name a document as the definition does.
@dataclass(frozen=True, slots=True)
class Document:
    """A document that describes a service, and where it was found."""

    name: str
    """The name in the definition, or in the document that refers to it."""
    location: str
    """The URL or path that it was read from."""
    content: dict[str, Any] = field(repr=False)
    others: "dict[str, Document]" = field(default_factory=dict, repr=False, compare=False)
    """Documents that were read because this one refers to them, by location. All of them share this mapping."""
    kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Results of reading it, for further calls; not reused once the document has led to others."""

    @property
    def url(self) -> str | None:
        """The URL that the document was fetched from, or None for a file."""
        return self.location if is_web(self.location) else None

    @property
    def is_swagger(self) -> bool:
        """Whether the document is written in version 2.0."""
        return "swagger" in self.content

    def resolve(self, node: object) -> dict[str, Any]:
        """Return the object *node*, a part of this document, or the target of its `$ref`."""
        return self.follow(node).value

    def follow(self, node: object) -> "DocumentPart":
        """Return the object *node*, or the target of its reference, with its document; an empty one for anything else.

        Raises CallFailed for a reference without a target or to itself, and UnresolvedReference for one into a document
        that was not read yet.
        """
        document: Document = self
        for _ in range(_MAX_CHAIN):
            if not isinstance(node, dict):
                return DocumentPart(document, {})
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return DocumentPart(document, node)
            document, node = document.target(reference)
        raise permanent_failure("BadDocument", f"the document '{self.name}' has circular references")

    def target(self, reference: str) -> "tuple[Document, JSON]":
        """Return the target of a reference in this document, which may be a reference too, and its document."""
        location, _, fragment = reference.partition("#")
        document = self._other(location, reference) if location else self
        node = _at(document.content, unquote(fragment))
        if node is _NOTHING:
            raise permanent_failure("BadDocument", f"'{self.name}' refers to '{reference}', which is not in it")
        return document, node

    def _other(self, name: str, reference: str) -> "Document":
        location = beside(self.location, name)
        if location == normal(self.location):
            return self
        if location not in self.others:
            raise UnresolvedReference(self, reference, location)
        return self.others[location]


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """An object in a document. References in it start from that document."""

    document: Document
    value: dict[str, Any]

    def part(self, key: str) -> "DocumentPart":
        """Return the object under *key*, with its reference resolved; empty if it is missing."""
        return self.document.follow(self.value.get(key))

    def parts(self, key: str) -> "list[DocumentPart]":
        """Return the objects in the list under *key*, with their references resolved."""
        found = self.value.get(key)
        return [self.document.follow(node) for node in found] if isinstance(found, list) else []

    def named(self, key: str, *beginnings: str) -> "Iterator[tuple[str, DocumentPart]]":
        """Yield the objects in the object under *key* with their names, and their references resolved.

        With *beginnings*, only those whose names begin with one of them, in any case.
        """
        holder = self.part(key)
        for name in holder.value:
            if not beginnings or name.lower().startswith(beginnings):
                yield name, holder.part(name)


class UnresolvedReference(CallFailed):
    """A reference leads into a document that was not read yet. The caller may fetch it, and try again."""

    def __init__(self, document: Document, reference: str, location: str) -> None:
        message = f"'{document.name}' refers to '{reference}'; here only references within a document are followed"
        super().__init__(message, code="BadDocument", retryable=False)
        self.document = document
        self.reference = reference
        self.location = location


def is_web(location: str) -> bool:
    """Return whether *location* is fetched over HTTP."""
    return location.lower().startswith(("http://", "https://"))


def as_path(location: str) -> str:
    """Return the path in *location*, which may be a URI."""
    # `classpath:` is what SonataFlow's users write for "beside the definition".
    if location.startswith("classpath:"):
        return location.removeprefix("classpath:").lstrip("/")
    if location.startswith("file:"):
        parts = split_url(location)
        # The specification writes `file://` in front of relative paths, too.
        host = "" if parts.netloc == "localhost" else parts.netloc
        return unquote(host + parts.path)
    return location


def beside(location: str, name: str) -> str:
    """Return the location of the document *name*, in a reference from the one at *location*."""
    if is_web(name):
        return name
    if is_web(location):
        return join_url(location, name)
    path = as_path(name) if name.startswith(("file:", "classpath:")) else unquote(name)
    return normal(str(Path(location).parent / path))


def normal(location: str) -> str:
    """Return *location* in normalized form."""
    return location if is_web(location) else os.path.normpath(location)


def _at(content: dict[str, Any], fragment: str) -> Any:
    """Return the target of a fragment, with its percent-encoding decoded: a JSON pointer or an anchor."""
    if fragment and not fragment.startswith("/"):
        return _anchored(content, fragment)
    node: Any = content
    for step in fragment.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = node.get(key, _NOTHING)
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return _NOTHING
    return node


def _anchored(content: object, name: str) -> object:
    """Return the schema with the anchor *name*."""
    waiting, seen = [content], set[int]()  # YAML aliases may repeat the same object in many places
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, dict):
            if name in [node.get(key) for key in _ANCHORS]:
                return node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    return _NOTHING


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
