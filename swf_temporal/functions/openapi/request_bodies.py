"""The body of a request, and the fields of a form, as a document describes them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.functions.documents.parts import Document, DocumentPart
from swf_temporal.functions.http.media_types import FORM, MULTIPART, is_form
from swf_temporal.functions.http.parameters import FormField
from swf_temporal.text.bodies import split_content_type

_COMBINING = ("oneOf", "anyOf", "allOf")
_STYLES = {"csv": "form", "ssv": "spaceDelimited", "tsv": "tabDelimited", "pipes": "pipeDelimited", "multi": "form"}


@dataclass(frozen=True, slots=True)
class Content:
    """One of the media types in which a body can be sent."""

    media_type: str = "application/json"
    fields: Mapping[str, FormField] = field(default_factory=dict)
    defaults: Mapping[str, JSON] = field(default_factory=dict)
    """The values of required properties that are not given."""


@dataclass(frozen=True, slots=True)
class RequestBody:
    """The arguments that are not parameters."""

    contents: tuple[Content, ...] = (Content(),)
    required: bool = False
    name: str = "body"
    """The argument that may hold the whole body."""
    properties: frozenset[str] = frozenset()
    """The fields that the schemas name and that may be sent; all others are possible too."""


def read_body(operation: DocumentPart, root: Document) -> RequestBody | None:
    """Return the body that an operation of *root*, a document of version 3, declares, or None."""
    node = operation.part("requestBody")
    if not node.value:
        return None
    contents = dict(node.named("content")) or {"application/json": DocumentPart(node.document, {})}
    schemas = [properties_of(content.part("schema")) for content in contents.values()]
    return RequestBody(
        contents=tuple(
            Content(
                media_type,
                _fields(media_type, content, properties, root),
                _defaults(content.part("schema"), properties),
            )
            for (media_type, content), properties in zip(contents.items(), schemas, strict=True)
        ),
        required=node.value.get("required") is True,
        properties=frozenset().union(*(_sendable(properties) for properties in schemas)),
    )


def read_swagger_body(declared: list[DocumentPart], consumes: list[str]) -> RequestBody | None:
    """Return the body that the parameters of an operation of version 2.0 come to, or None."""
    fields = {str(part.value.get("name")): part for part in declared if part.value.get("in") == "formData"}
    if fields:
        has_files = any(part.value.get("type") == "file" for part in fields.values())
        content = Content(
            MULTIPART if has_files or consumes[:1] == [MULTIPART] else FORM,
            {name: _swagger_field(part.value) for name, part in fields.items()},
            {name: part.value["default"] for name, part in fields.items() if _is_filled(part.value)},
        )
        required = any(part.value.get("required") is True for part in fields.values())
        return RequestBody((content,), required, properties=frozenset(fields))
    for part in declared:
        if part.value.get("in") == "body":
            properties = properties_of(part.part("schema"))
            content = Content(defaults=_defaults(part.part("schema"), properties))
            return RequestBody(
                contents=tuple(replace(content, media_type=kind) for kind in consumes or ["application/json"]),
                required=part.value.get("required") is True,
                name=str(part.value.get("name", "body")),
                properties=_sendable(properties),
            )
    return None


def properties_of(schema: DocumentPart) -> dict[str, DocumentPart]:
    """Return the properties that a schema names, and those of the schemas that it is made of."""
    found: dict[str, DocumentPart] = {}
    for part in _made_of(schema):
        for name, property_schema in part.named("properties"):
            found.setdefault(name, property_schema)
    return found


def collection_style(node: Mapping[str, Any]) -> tuple[str, bool]:
    """Return style and explode of what version 2.0 calls a collection format."""
    name = str(node.get("collectionFormat", "csv"))
    return _STYLES.get(name, "form"), name == "multi"


def _made_of(schema: DocumentPart, *keys: str) -> Iterator[DocumentPart]:
    """Yield a schema and those that it is made of by *keys*, each once: a schema may be part of itself."""
    waiting, seen = [schema], set[int]()
    while waiting:
        part = waiting.pop()
        if id(part.value) not in seen:
            seen.add(id(part.value))
            yield part
            waiting.extend(each for key in keys or _COMBINING for each in reversed(part.parts(key)))


def _sendable(properties: Mapping[str, DocumentPart]) -> frozenset[str]:
    return frozenset(name for name, schema in properties.items() if schema.value.get("readOnly") is not True)


def _defaults(schema: DocumentPart, properties: Mapping[str, DocumentPart]) -> dict[str, JSON]:
    parts = (part.value.get("required") for part in _made_of(schema, "allOf"))
    required = [name for names in parts for name in names or () if isinstance(name, str)]
    sendable = _sendable(properties)
    return {
        name: properties[name].value["default"]
        for name in required
        if name in sendable and properties[name].value.get("default") is not None
    }


def _fields(
    media_type: str, content: DocumentPart, properties: Mapping[str, DocumentPart], root: Document
) -> dict[str, FormField]:
    """Return how the fields of a form are written; in other media types none has a way of its own."""
    kind = split_content_type(media_type)[0]
    if not is_form(kind):
        return {}
    # In parts, version 3.0 ignores styles.
    has_styles = kind == FORM or (kind == MULTIPART and not str(root.content.get("openapi")).startswith("3.0"))
    encoding = content.part("encoding")
    return {name: _field(schema, encoding.part(name), has_styles=has_styles) for name, schema in properties.items()}


def _field(schema: DocumentPart, encoding: DocumentPart, *, has_styles: bool) -> FormField:
    fields = encoding.value
    # A field that may be null, or an array, is so in some part of its schema.
    possible = [each.value for part in _made_of(schema) for each in (part, part.part("items"))]
    is_styled = has_styles and bool({"style", "explode", "allowReserved"} & fields.keys())
    style = str(fields.get("style", "form")) if is_styled else None
    return FormField(
        style,
        explode=bool(fields.get("explode", style in {"form", "deepObject"})) if is_styled else True,
        allow_reserved=is_styled and fields.get("allowReserved") is True,
        content_type=fields.get("contentType") or next(filter(None, map(_content_type, possible)), None),
        headers={name: str(value) for name, part in encoding.named("headers") if (value := _fixed(part)) is not None},
        is_file=any(map(_is_binary, possible)),
    )


def _is_binary(schema: dict[str, Any]) -> bool:
    # Version 3.1 says it by a media type without an encoding.
    return schema.get("format") == "binary" or _content_type(schema) is not None


def _content_type(schema: dict[str, Any]) -> str | None:
    kind = schema.get("contentMediaType")
    return str(kind) if isinstance(kind, str) and "contentEncoding" not in schema else None


def _fixed(header: DocumentPart) -> JSON:
    """Return the value that a header of a part always has, or None if it may have several."""
    schema = header.part("schema").value
    possible = schema.get("enum")
    only = possible[0] if isinstance(possible, list) and len(possible) == 1 else None
    return schema.get("const", schema.get("default", only))


def _swagger_field(node: Mapping[str, Any]) -> FormField:
    if node.get("type") == "file":
        return FormField(is_file=True)
    if node.get("type") != "array":
        return FormField()
    style, explode = collection_style(node)
    return FormField(style, explode=explode)


def _is_filled(node: Mapping[str, Any]) -> bool:
    return node.get("required") is True and node.get("default") is not None
