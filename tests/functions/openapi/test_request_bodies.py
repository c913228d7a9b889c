"""What documents say about bodies and the fields of forms."""

from typing import Any

import pytest

from swf_temporal.functions.documents.parts import Document, DocumentPart
from swf_temporal.functions.http.media_types import FORM, MULTIPART
from swf_temporal.functions.http.parameters import FormField
from swf_temporal.functions.openapi.operations import RequestBody, read_body, read_swagger_body


def body_of(schema: dict[str, Any], kind: str = MULTIPART, *, version: str = "3.1.0", **content: Any) -> RequestBody:
    document = Document("d", "d", {"openapi": version})
    operation = DocumentPart(document, {"requestBody": {"content": {kind: {"schema": schema, **content}}}})
    body = read_body(operation, document)
    assert body is not None
    return body


def field_of(schema: dict[str, Any], **encoding: Any) -> FormField:
    body = body_of({"properties": {"f": schema}}, encoding={"f": encoding})
    return body.contents[0].fields["f"]


@pytest.mark.parametrize(("encoding", "expected"), [
    ({}, FormField()),
    ({"style": "deepObject"}, FormField("deepObject")),
    ({"explode": False}, FormField("form", explode=False)),
    ({"style": "pipeDelimited"}, FormField("pipeDelimited", explode=False)),
    ({"allowReserved": True}, FormField("form", allow_reserved=True)),
    ({"contentType": "image/png, image/*"}, FormField(content_type="image/png, image/*")),
    ({"headers": {"X-A": {"schema": {"default": 1}}, "X-B": {"schema": {"enum": ["b"]}}, "X-C": {}}},
     FormField(headers={"X-A": "1", "X-B": "b"})),
])  # fmt: skip
def test_the_encoding_of_a_field(encoding: dict[str, Any], expected: FormField) -> None:
    assert field_of({"type": "string"}, **encoding) == expected


@pytest.mark.parametrize(("version", "kind", "is_styled"), [
    ("3.0.3", FORM, True), ("3.0.3", MULTIPART, False), ("3.1.0", MULTIPART, True), ("3.1.0", "multipart/mixed", False),
])  # fmt: skip
def test_where_a_field_has_a_style(version: str, kind: str, *, is_styled: bool) -> None:
    """Styles are for forms in a query's encoding, and since version 3.1 for forms in parts."""
    encoding = {"f": {"style": "form", "explode": False, "allowReserved": True}}
    body = body_of({"properties": {"f": {"type": "array"}}}, kind, version=version, encoding=encoding)
    styled = FormField("form", explode=False, allow_reserved=True)
    assert body.contents[0].fields["f"] == (styled if is_styled else FormField())


@pytest.mark.parametrize(("schema", "content_type"), [
    ({"type": "string", "format": "binary"}, None),
    ({"type": "array", "items": {"type": "string", "format": "binary"}}, None),
    ({"type": "string", "contentMediaType": "image/png"}, "image/png"),
    ({"anyOf": [{"type": "array", "items": {"contentMediaType": "image/png"}}, {"type": "null"}]}, "image/png"),
])  # fmt: skip
def test_files_are_known(schema: dict[str, Any], content_type: str | None) -> None:
    assert field_of(schema) == FormField(is_file=True, content_type=content_type)


def test_a_text_in_base64_is_no_file() -> None:
    assert field_of({"type": "string", "contentMediaType": "image/png", "contentEncoding": "base64"}) == FormField()


def test_what_is_read_only_has_no_default() -> None:
    properties = {"id": {"default": 1, "readOnly": True}, "kind": {"default": 2}}
    body = body_of({"properties": properties, "required": ["id", "kind"]}, "application/json")
    assert body.contents[0].defaults == {"kind": 2}


def test_what_is_required_has_a_default() -> None:
    """Required properties are filled; those that may be absent are left to the service."""
    parts = [
        {"properties": {"a": {"default": 1}, "b": {"default": 2}, "c": {}, "d": {"default": 3}}, "required": ["d"]}
    ]
    body = body_of({"allOf": parts, "required": ["a", "c", "none"]}, "application/json")
    either = body_of({"anyOf": parts}, "application/json")
    assert body.contents[0].defaults == {"a": 1, "d": 3}
    assert either.contents[0].defaults == {}


def test_what_is_only_read_is_not_sent() -> None:
    """A field that the service sets itself does not go into the body only because the path has its name."""
    assert body_of({"properties": {"id": {"readOnly": True}, "a": {}}}).properties == {"a"}


def test_forms_of_version_2() -> None:
    """Fields have collection formats, files, and defaults if they are required."""
    document = Document("d", "d", {"swagger": "2.0"})
    nodes: list[dict[str, Any]] = [
        {"name": "a", "type": "array"},
        {"name": "b", "type": "array", "collectionFormat": "multi"},
        {"name": "c", "type": "file"},
        {"name": "d", "type": "string", "required": True, "default": "x"},
        {"name": "e", "type": "string", "default": "y"},
    ]

    body = read_swagger_body([DocumentPart(document, {**node, "in": "formData"}) for node in nodes], [FORM])

    assert body is not None
    assert body.required
    assert body.contents[0].media_type == MULTIPART
    assert body.contents[0].fields == {
        "a": FormField("form", explode=False),
        "b": FormField("form", explode=True),
        "c": FormField(is_file=True),
        "d": FormField(),
        "e": FormField(),
    }
    assert body.contents[0].defaults == {"d": "x"}
