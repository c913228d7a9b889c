"""The parts of an AsyncAPI document that versions 2 and 3 have in common."""

import re
from collections.abc import Mapping

from swf_temporal.base.data import JSON, merge_patch
from swf_temporal.functions.asyncapi.locations import read_location
from swf_temporal.functions.asyncapi.operations import AddressParameter, Bindings, MessageType
from swf_temporal.functions.asyncapi.schemas import is_understood, self_contained
from swf_temporal.functions.documents.parts import Document, DocumentPart, beside
from swf_temporal.functions.http.parameters import as_text

_VARIABLE = re.compile(r"\{([^{}]+)\}")


def is_version_3(document: Document) -> bool:
    """Tell whether the document is written in version 3."""
    return str(document.content.get("asyncapi")).startswith("3.")


def with_traits(node: DocumentPart, document: Document) -> DocumentPart:
    """Return an operation or a message with its traits.

    Traits are merged in order. Up to version 2 of *document* they win over what they are merged into, since version 3
    it wins over them.
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
    """Return what is said about each protocol."""
    return {
        protocol.lower(): {
            key: self_contained(binding.document, value) if isinstance(value, dict) else value
            for key, value in binding.value.items()
        }
        for protocol, binding in node.named("bindings")
    }


def read_message(name: str, node: DocumentPart, document: Document) -> MessageType:
    """Return a kind of message, its traits merged into it; *document* says what holds for all messages."""
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
    """Return the parameters of an address, also those of which nothing is said but that they are in it."""
    declared = channel.part("parameters")
    return tuple(_parameter(name, declared.part(name)) for name in dict.fromkeys(names_in(address or "")))


def read_location_in(node: DocumentPart) -> str | None:
    """Return the `location` that an object has, which is an expression. Raises CallFailed if it is none."""
    location = node.value.get("location")
    if location is None:
        return None
    read_location(str(location))
    return str(location)


def names_in(text: str) -> list[str]:
    """Return the names that stand in braces in an address or a URL."""
    return _VARIABLE.findall(text)


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Return *text* with values in place of the names in braces."""
    return _VARIABLE.sub(lambda match: values[match[1]], text)


def read_variables(server: DocumentPart) -> Mapping[str, Mapping[str, JSON]]:
    """Return what is said about the variables of a server."""
    return {name: variable.value for name, variable in server.named("variables")}


def last_step(node: object) -> str:
    """Return the name of what a `$ref` points to, or nothing if *node* is none."""
    reference = node.get("$ref") if isinstance(node, dict) else None
    name = reference.rpartition("/")[2] if isinstance(reference, str) else ""
    return name.replace("~1", "/").replace("~0", "~")


def _parameter(name: str, parameter: DocumentPart) -> AddressParameter:
    # Version 2 writes what is said about the value into a schema.
    about = {**parameter.part("schema").value, **parameter.value}
    default = about.get("default")
    return AddressParameter(
        name=name,
        default=None if default is None else as_text(default),
        enum=tuple(as_text(value) for value in about.get("enum") or ()),
        location=read_location_in(parameter),
    )


def _schema(message: DocumentPart, key: str, schema_format: str = "") -> tuple[str, JSON]:
    """Return the format that a schema is written in, where it may be said beside it, and the schema."""
    if not is_understood(schema_format):
        return schema_format, {}
    node, about = message.value.get(key), message.part(key)
    if "schemaFormat" in about.value and "schema" in about.value:
        own = str(about.value["schemaFormat"])
        return own, self_contained(about.document, about.value["schema"]) if is_understood(own) else {}
    return schema_format, self_contained(message.document, node) if isinstance(node, dict | bool) else None


def _for_reading_in(document: Document, part: DocumentPart) -> JSON:
    """Return *part* with its references written so that they lead to the same from *document*."""

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
