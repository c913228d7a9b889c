"""Messages checked by the schemas that their document has for them."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.strict_json import read_written, write_json
from swf_temporal.expressions.json_schema import BadSchema, DataSchemaValidator
from swf_temporal.functions.asyncapi.operations import MessageType
from swf_temporal.functions.documents.parts import Document, DocumentPart
from swf_temporal.functions.documents.schemas import is_pattern

_FORMAT = re.compile(r"application/(?:vnd\.aai\.asyncapi|schema)(?:\+(?:json|yaml))?(?:;version=(.*))?")
_DRAFT_7 = "http://json-schema.org/draft-07/schema#"
_DRAFTS = {
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
"""By what schema formats call them. AsyncAPI's own is draft 7 with a few words more."""
_NAMED_SCHEMAS = frozenset({"properties", "patternProperties", "definitions", "$defs", "dependencies"})
_DATA = frozenset({"const", "enum", "default", "examples"})
_MAX_VALIDATORS = 256


def self_contained(document: Document, schema: JSON) -> JSON:
    """Return *schema* with everything that it refers to, so that it can be read without the document."""
    definitions: dict[str, JSON] = {}
    known: dict[int, tuple[str, DocumentPart]] = {}  # the part is held, lest its id becomes another's

    def copied(document: Document, node: JSON, *, by_name: bool = False) -> JSON:
        if isinstance(node, list):
            return [copied(document, item) for item in node]
        if not isinstance(node, dict):
            return node
        copy: dict[str, JSON] = {
            key: copied(document, value, by_name=key in _NAMED_SCHEMAS and not by_name)
            if by_name or key not in _DATA
            else value
            for key, value in node.items()
            # What JavaScript alone understands as a pattern cannot be checked.
            if by_name or key != "pattern" or is_pattern(value)
        }
        is_reference = isinstance(node.get("$ref"), str) and not by_name
        return {**copy, "$ref": f"#/definitions/{named(document, node)}"} if is_reference else copy

    def named(document: Document, node: JSON) -> str:
        target = document.follow(node)
        if id(target.value) not in known:  # a schema may be part of itself
            name = f"schema{len(known)}"
            known[id(target.value)] = name, target
            definitions[name] = copied(target.document, target.value)
        return known[id(target.value)][0]

    try:
        whole = copied(document, schema)
    except RecursionError:
        raise permanent_failure("BadDocument", f"a schema in '{document.name}' is nested too deeply") from None
    if not isinstance(whole, dict) or not definitions:
        return whole
    own = whole.get("definitions")
    return {**whole, "definitions": {**(own if isinstance(own, dict) else {}), **definitions}}


def is_understood(schema_format: str) -> bool:
    """Tell whether schemas of that format are AsyncAPI's own or JSON Schema, as they are where nothing is said."""
    return _format(schema_format) is not None


def check_schemas(kinds: Iterable[MessageType]) -> None:
    """Raise CallFailed if a schema of *kinds* is none, or in a language that is not understood here."""
    for kind in kinds:
        for part, schema in (("payload", kind.payload), ("headers", kind.headers)):
            _ready(kind, part, schema)


def payload_violations(kind: MessageType, payload: JSON) -> list[str]:
    """Return what is wrong with the payload of a message, each with the place. Raises CallFailed for a bad schema."""
    return _violations(kind, "payload", kind.payload, payload)


def header_violations(kind: MessageType, headers: Mapping[str, JSON]) -> list[str]:
    """Return what is wrong with the headers of a message, each with the place. Raises CallFailed for a bad schema."""
    return _violations(kind, "headers", kind.headers, dict(headers))


def named_properties(schema: JSON) -> dict[str, JSON]:
    """Return the fields that a self-contained schema names, and those of its parts, with the schema of each."""
    found: dict[str, JSON] = {}
    seen: set[int] = set()
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen.add(id(node))
        properties = node.get("properties")
        if isinstance(properties, dict):
            found = {**properties, **found}
        for key in ("allOf", "anyOf", "oneOf"):
            parts = node.get(key)
            waiting.extend(parts if isinstance(parts, list) else ())
        reference = node.get("$ref")
        if isinstance(reference, str) and isinstance(schema, dict):
            definitions = schema.get("definitions")
            name = reference.rpartition("/")[2]
            waiting.append(definitions.get(name) if isinstance(definitions, dict) else None)
    return found


def _violations(kind: MessageType, part: str, schema: JSON, value: JSON) -> list[str]:
    validator = _ready(kind, part, schema)
    found = [] if validator is None else validator.violations(value)
    return [f"{part}{violation.removeprefix('$')}" for violation in found]


def _ready(kind: MessageType, part: str, schema: JSON) -> DataSchemaValidator | None:
    if schema is None:
        return None
    try:
        return _validator(write_json(_dated(kind, schema)))
    except BadSchema as error:
        message = f"the schema for the {part} of message '{kind.name}' is not a JSON Schema: {error.message}"
        raise permanent_failure("BadDocument", message) from error


def _dated(kind: MessageType, schema: JSON) -> JSON:
    """Return *schema* saying which draft it is written in."""
    match = _format(kind.schema_format)
    if match is None:
        message = (
            f"the schema of message '{kind.name}' is written in '{kind.schema_format}'; "
            "only AsyncAPI's own schemas and JSON Schema are supported"
        )
        raise permanent_failure("Unsupported", message)
    return {"$schema": _DRAFTS.get(match[1] or "", _DRAFT_7), **schema} if isinstance(schema, dict) else schema


def _format(text: str) -> re.Match[str] | None:
    return _FORMAT.fullmatch(text.replace(" ", "").lower() or "application/schema")


@lru_cache(maxsize=_MAX_VALIDATORS)
def _validator(schema: str) -> DataSchemaValidator:
    return DataSchemaValidator(read_written(schema))
