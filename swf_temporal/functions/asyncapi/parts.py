"""The parts of an AsyncAPI document that versions 2 and 3 have in common.

Versions 2 and 3 are read into one model, with the terms of 3.0. An operation that the document calls `publish` is one
that sends: by the section "Using Functions for Async API Service Invocations", workflows perform the operations as
they are named.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from swf_temporal.base.data import JSON, Path, merge_patch
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.strict_json import read_written, show_json, write_json
from swf_temporal.expressions.json_schema import BadSchema, DataSchemaValidator
from swf_temporal.functions.documents.parts import Document, DocumentPart, beside, is_pattern
from swf_temporal.functions.http.parameters import as_text

Bindings = Mapping[str, Mapping[str, JSON]]
"""The bindings in a document, by protocol."""
Possibilities = Sequence[Mapping[str, tuple[dict[str, Any], list[JSON]]]]
"""Alternative authentications: each has schemes by name, with the required scopes."""


@dataclass(frozen=True, slots=True)
class AddressParameter:
    """A variable part of an address."""

    name: str
    default: str | None = None
    enum: tuple[str, ...] = ()
    location: str | None = None
    """Its location in the message, `$message.payload#/id`."""


@dataclass(frozen=True, slots=True)
class MessageType:
    name: str
    content_type: str
    payload: JSON = None
    """The schema, without references to other documents; None if any payload is valid."""
    headers: JSON = None
    """The schema of all headers together."""
    schema_format: str = ""
    correlation: str | None = None
    """The location of the correlation id, `$message.header#/id`."""
    bindings: Bindings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BrokerServer:
    name: str
    protocol: str
    url: str
    """The URL with `{name}`s for its variables; perhaps without a scheme."""
    variables: Mapping[str, Mapping[str, JSON]] = field(default_factory=dict)
    version: str | None = None
    """The version of the protocol."""
    security: Possibilities = ()
    bindings: Bindings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChannelPlace:
    address: str | None
    """The address with `{name}`s for its parameters; None if it is only known at run time."""
    parameters: tuple[AddressParameter, ...] = ()
    servers: tuple[BrokerServer, ...] = ()
    """The servers that have the channel; the others of the document do not."""
    bindings: Bindings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OperationReply:
    place: ChannelPlace
    location: str | None = None
    """The location of the reply address in the request, `$message.header#/replyTo`."""
    messages: tuple[MessageType, ...] = ()


@dataclass(frozen=True, slots=True)
class AsyncApiOperation:
    id: str
    document: Document
    sends: bool
    place: ChannelPlace
    messages: tuple[MessageType, ...] = ()
    bindings: Bindings = field(default_factory=dict)
    security: Possibilities = ()
    """The authentication required in addition to that of the server."""
    reply: OperationReply | None = None


_EXPRESSION = re.compile(r"\$message\.(header|payload)(?:#(/.*))?")


class Location(NamedTuple):
    """A place in the headers, or in the payload, of a message."""

    in_headers: bool
    path: Path


def read_location(expression: str) -> Location:
    """Return the place that a runtime expression of AsyncAPI points to. Raises CallFailed if it is malformed."""
    match = _EXPRESSION.fullmatch(expression.strip())
    if match is None:
        message = f"the document points to '{expression}'; a place in a message is written $message.header#/name"
        raise permanent_failure("BadDocument", message)
    steps = (match[2] or "").split("/")[1:]
    return Location(match[1] == "header", [step.replace("~1", "/").replace("~0", "~") for step in steps])


def value_at(expression: str, headers: Mapping[str, JSON], payload: JSON) -> str | None:
    """Return the value at a place as a text, or None if it has none. Names of headers match in any case."""
    location = read_location(expression)
    value: JSON = {name.lower(): header for name, header in headers.items()} if location.in_headers else payload
    for depth, step in enumerate(location.path):
        if isinstance(value, dict):
            value = value.get(str(step).lower() if location.in_headers and depth == 0 else str(step))
        elif isinstance(value, list) and str(step).isdecimal():
            value = value[int(step)] if int(step) < len(value) else None
        else:
            return None
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def placed(expression: str, value: JSON, headers: Mapping[str, JSON], payload: JSON) -> tuple[Mapping[str, JSON], JSON]:
    """Return the headers and the payload with *value* at the place that *expression* points to.

    Raises CallFailed if the place cannot exist, such as within a text.
    """
    location = read_location(expression)
    if not location.in_headers:
        return headers, _put({} if payload is None else payload, location.path, value, expression)
    known = {name.lower(): name for name in headers}
    path = [known.get(str(step).lower(), step) if depth == 0 else step for depth, step in enumerate(location.path)]
    return _put(dict(headers), path, value, expression), payload


def _put(target: JSON, path: Path, value: JSON, expression: str) -> dict[str, JSON]:
    if not isinstance(target, dict) or not path:
        message = f"there is no place for {show_json(value)} at {expression}: what is above it is not an object"
        raise permanent_failure("BadArguments", message)
    step, rest = str(path[0]), path[1:]
    return {**target, step: _put(target.get(step, {}), rest, value, expression) if rest else value}


_FORMAT = re.compile(r"application/(?:vnd\.aai\.asyncapi|schema)(?:\+(?:json|yaml))?(?:;version=(.*))?")
_DRAFT_7 = "http://json-schema.org/draft-07/schema#"
_DRAFTS = {
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
"""The URIs of drafts by their names in schema formats. AsyncAPI's own format is draft 7 with a few extensions."""
_NAMED_SCHEMAS = frozenset({"properties", "patternProperties", "definitions", "$defs", "dependencies"})
_DATA = frozenset({"const", "enum", "default", "examples"})
_MAX_VALIDATORS = 256


def self_contained(document: Document, schema: JSON) -> JSON:
    """Return *schema* with everything that it refers to, so that it can be used without the document."""
    definitions: dict[str, JSON] = {}
    known: dict[int, tuple[str, DocumentPart]] = {}  # the part is kept alive, so that its id is not reused

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
            # A pattern that is only valid in JavaScript cannot be checked.
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
    """Return whether a schema format is AsyncAPI's own (the default) or JSON Schema."""
    return _format(schema_format) is not None


def check_schemas(kinds: Iterable[MessageType]) -> None:
    """Raise CallFailed if a schema of *kinds* is invalid, or in an unsupported language."""
    for kind in kinds:
        for part, schema in (("payload", kind.payload), ("headers", kind.headers)):
            _ready(kind, part, schema)


def payload_violations(kind: MessageType, payload: JSON) -> list[str]:
    """Return the errors in the payload of a message, each with its place. Raises CallFailed for a bad schema."""
    return _violations(kind, "payload", kind.payload, payload)


def header_violations(kind: MessageType, headers: Mapping[str, JSON]) -> list[str]:
    """Return the errors in the headers of a message, each with its place. Raises CallFailed for a bad schema."""
    return _violations(kind, "headers", kind.headers, dict(headers))


def named_properties(schema: JSON) -> dict[str, JSON]:
    """Return the fields named in a self-contained schema and its parts, with the schema of each."""
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
    """Return *schema* with the draft that it is written in."""
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


_VARIABLE = re.compile(r"\{([^{}]+)\}")


def is_version_3(document: Document) -> bool:
    """Return whether the document is written in version 3."""
    return str(document.content.get("asyncapi")).startswith("3.")


def with_traits(node: DocumentPart, document: Document) -> DocumentPart:
    """Return an operation or a message with its traits.

    Traits are merged in order. Up to version 2 of *document* they override what they are merged into; since version 3
    it overrides them.
    """
    if "traits" not in node.value:
        return node
    traits = [_for_reading_in(node.document, trait) for trait in node.parts("traits")]
    own: JSON = {key: value for key, value in node.value.items() if key != "traits"}
    whole: JSON = {}
    for part in [*traits, own] if is_version_3(document) else [own, *traits]:
        whole = merge_patch(whole, part)
    return DocumentPart(node.document, whole if isinstance(whole, dict) else {})


def read_bindings(node: DocumentPart) -> Bindings:
    """Return the bindings of each protocol."""
    return {
        protocol.lower(): {
            key: self_contained(binding.document, value) if isinstance(value, dict) else value
            for key, value in binding.value.items()
        }
        for protocol, binding in node.named("bindings")
    }


def read_message(name: str, node: DocumentPart, document: Document) -> MessageType:
    """Return a message type, with its traits merged; *document* has the defaults for all messages."""
    message = with_traits(node, document)
    fields = message.value
    schema_format, payload = _schema(message, "payload", str(fields.get("schemaFormat") or ""))
    _, headers = _schema(message, "headers")
    return MessageType(
        name=str(fields.get("name") or fields.get("messageId") or name),
        content_type=str(fields.get("contentType") or document.content.get("defaultContentType") or ""),
        payload=payload,
        headers=headers,
        schema_format=schema_format,
        correlation=read_location_in(message.part("correlationId")),
        bindings=read_bindings(message),
    )


def read_parameters(channel: DocumentPart, address: str | None) -> tuple[AddressParameter, ...]:
    """Return the parameters of an address, including those that the document does not describe."""
    declared = channel.part("parameters")
    return tuple(_parameter(name, declared.part(name)) for name in dict.fromkeys(names_in(address or "")))


def read_location_in(node: DocumentPart) -> str | None:
    """Return the `location` of an object, which is an expression. Raises CallFailed if it is malformed."""
    location = node.value.get("location")
    if location is None:
        return None
    read_location(str(location))
    return str(location)


def names_in(text: str) -> list[str]:
    """Return the names in braces in an address or a URL."""
    return _VARIABLE.findall(text)


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Return *text* with values in place of the names in braces."""
    return _VARIABLE.sub(lambda match: values[match[1]], text)


def read_variables(server: DocumentPart) -> Mapping[str, Mapping[str, JSON]]:
    """Return the description of a server's variables."""
    return {name: variable.value for name, variable in server.named("variables")}


def last_step(node: object) -> str:
    """Return the last step of a `$ref`, or an empty text if *node* is not a reference."""
    reference = node.get("$ref") if isinstance(node, dict) else None
    name = reference.rpartition("/")[2] if isinstance(reference, str) else ""
    return name.replace("~1", "/").replace("~0", "~")


def _parameter(name: str, parameter: DocumentPart) -> AddressParameter:
    # Version 2 describes the value in a schema.
    about = {**parameter.part("schema").value, **parameter.value}
    default = about.get("default")
    return AddressParameter(
        name=name,
        default=None if default is None else as_text(default),
        enum=tuple(as_text(value) for value in about.get("enum") or ()),
        location=read_location_in(parameter),
    )


def _schema(message: DocumentPart, key: str, schema_format: str = "") -> tuple[str, JSON]:
    """Return the format of a schema, which may be stated beside it, and the schema."""
    if not is_understood(schema_format):
        return schema_format, {}
    node, about = message.value.get(key), message.part(key)
    if "schemaFormat" in about.value and "schema" in about.value:
        own = str(about.value["schemaFormat"])
        return own, self_contained(about.document, about.value["schema"]) if is_understood(own) else {}
    return schema_format, self_contained(message.document, node) if isinstance(node, dict | bool) else None


def _for_reading_in(document: Document, part: DocumentPart) -> JSON:
    """Return *part* with its references rewritten so that they have the same targets from *document*."""

    def rewritten(node: JSON) -> JSON:
        if isinstance(node, list):
            return [rewritten(item) for item in node]
        if not isinstance(node, dict):
            return node
        copy = {key: rewritten(value) for key, value in node.items()}
        if isinstance(copy.get("$ref"), str):
            location, _, fragment = str(copy["$ref"]).partition("#")
            place = beside(part.document.location, location) if location else part.document.location
            copy["$ref"] = f"{place}#{fragment}"
        return copy

    return part.value if part.document is document else rewritten(part.value)
