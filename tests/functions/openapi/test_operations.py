"""What is read out of documents of each version: operations, bodies and answers."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from swf_temporal.base.data import JSON
from swf_temporal.functions.documents.parts import Document, DocumentPart
from swf_temporal.functions.http.client import HttpResponse
from swf_temporal.functions.http.media_types import FORM, MULTIPART
from swf_temporal.functions.http.parameters import FormField, Parameter
from swf_temporal.functions.openapi.operations import (
    OpenApiOperation,
    RequestBody,
    Responses,
    find_operation,
    read_body,
    read_swagger_body,
    violations,
)
from tests.failing import failing

FOLDER = Path(__file__).parents[1] / "data"


def operation(version: str, operation_id: str) -> OpenApiOperation:
    file = next(FOLDER.glob(f"shop-{version}.*"))
    text = file.read_text(encoding="utf-8")
    content = json.loads(text) if file.suffix == ".json" else yaml.safe_load(text)
    return find_operation(Document(file.name, str(file), content), operation_id)


def parameter(operation: OpenApiOperation, name: str) -> Parameter:
    return next(parameter for parameter in operation.parameters if parameter.name == name)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_method_path_and_shared_parameters(version: str) -> None:
    found = operation(version, "getOrder")
    assert (found.method, found.path) == ("GET", "/orders/{id}")
    assert parameter(found, "id").required
    assert parameter(found, "X-Trace").where == "header"
    assert parameter(found, "page").default == 1


@pytest.mark.parametrize("version", [{"openapi": "3.0.3"}, {"swagger": "2.0"}])
def test_an_auth_may_stand_for_a_parameter(version: dict[str, Any]) -> None:
    """The header `Authorization` is sent by an auth, so it is no argument that a definition has to give."""
    header = {"name": "authorization", "in": "header", "required": True}
    content = {**version, "paths": {"/a": {"get": {"operationId": "a", "parameters": [header]}}}}
    assert not parameter(find_operation(Document("d", "d", content), "a"), "authorization").required


@pytest.mark.parametrize(("version", "name", "style", "explode"), [
    ("2.0", "csv", "form", False), ("2.0", "bare", "form", False), ("2.0", "ssv", "spaceDelimited", False),
    ("2.0", "tsv", "tabDelimited", False), ("2.0", "pipes", "pipeDelimited", False), ("2.0", "multi", "form", True),
    ("3.0", "fields", "form", True), ("3.0", "sort", "form", False), ("3.0", "filter", "deepObject", True),
    ("3.0", "session", "form", True), ("3.0", "id", "simple", False), ("3.0", "X-Trace", "simple", False),
])  # fmt: skip
def test_styles_and_collection_formats(version: str, name: str, style: str, *, explode: bool) -> None:
    found = parameter(operation(version, "getOrder"), name)
    assert (found.style, found.explode) == (style, explode)


@pytest.mark.parametrize(("version", "operation_id", "media_types", "name", "properties"), [
    ("2.0", "putOrder", ["application/json"], "order", {"id", "lines", "parent"}),
    ("3.0", "putOrder", ["application/xml", "application/json"], "body", {"id", "parent"}),
    ("2.0", "login", [FORM], "body", {"user", "roles"}),
    ("3.0", "login", [MULTIPART, FORM], "body", set()),
    ("2.0", "upload", [MULTIPART], "body", {"picture", "title"}),
    ("3.0", "addNote", ["text/plain"], "body", set()),
    ("3.0", "ping", ["application/vnd.shop+json"], "body", set()),
])  # fmt: skip
def test_bodies(*, version: str, operation_id: str, media_types: list[str], name: str, properties: set[str]) -> None:
    body = operation(version, operation_id).body
    assert body is not None
    assert [content.media_type for content in body.contents] == media_types
    assert (body.name, body.properties) == (name, frozenset(properties))


@pytest.mark.parametrize("in_content", [False, True])
def test_a_default_beside_a_reference(*, in_content: bool) -> None:
    schema = {"$ref": "#/components/schemas/Colour", "default": "red"}
    own = {"content": {"application/json": {"schema": schema}}} if in_content else {"schema": schema}
    content = {
        "openapi": "3.1.0",
        "paths": {"/a": {"get": {"operationId": "a", "parameters": [{"name": "colour", "in": "query", **own}]}}},
        "components": {"schemas": {"Colour": {"default": "blue"}}},
    }
    assert parameter(find_operation(Document("d", "d", content), "a"), "colour").default == "red"


def test_path_items_are_followed() -> None:
    found = operation("3.1", "checkStock")
    assert found.path == "/stock/{item}"
    assert parameter(found, "item").style == "matrix"


def test_an_operations_own_parameter_wins() -> None:
    trace = parameter(operation("3.0", "getOrder"), "X-Trace")
    assert (trace.required, trace.default) == (True, None)


@pytest.mark.parametrize(("reference", "told"), [
    ("other.yaml#/x", "refers to 'other.yaml#/x'"), ("#/components/none", "refers to '#/components/none'"),
])  # fmt: skip
def test_references_that_lead_nowhere(reference: str, told: str) -> None:
    content: dict[str, Any] = {"openapi": "3.0.0", "paths": {"/a": {"$ref": reference}}}
    with failing("BadDocument", told):
        find_operation(Document("d.json", "d.json", content), "a")
    with failing("BadDocument", "circular"):
        operation("3.1", "other")
    with failing("UnknownOperation", "did you mean 'getOrder'", retryable=False):
        operation("3.0", "getOrdr")


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


@pytest.mark.parametrize(("schema", "expected"), [
    ({"type": "string", "format": "binary"}, FormField(is_file=True)),
    ({"type": "array", "items": {"type": "string", "format": "binary"}}, FormField(is_file=True)),
    ({"type": "string", "contentMediaType": "image/png"}, FormField(is_file=True, content_type="image/png")),
    ({"anyOf": [{"type": "array", "items": {"contentMediaType": "image/png"}}, {"type": "null"}]},
     FormField(is_file=True, content_type="image/png")),
    # A text in base64 is no file.
    ({"type": "string", "contentMediaType": "image/png", "contentEncoding": "base64"}, FormField()),
])  # fmt: skip
def test_files_are_known(schema: dict[str, Any], expected: FormField) -> None:
    assert field_of(schema) == expected


def test_what_is_read_only_has_no_default_and_is_not_sent() -> None:
    """A field that the service sets itself does not go into the body only because the path has its name."""
    properties = {"id": {"default": 1, "readOnly": True}, "kind": {"default": 2}}
    body = body_of({"properties": properties, "required": ["id", "kind"]}, "application/json")
    assert body.contents[0].defaults == {"kind": 2}
    assert body.properties == {"kind"}


def test_what_is_required_has_a_default() -> None:
    parts = [
        {"properties": {"a": {"default": 1}, "b": {"default": 2}, "c": {}, "d": {"default": 3}}, "required": ["d"]}
    ]
    body = body_of({"allOf": parts, "required": ["a", "c", "none"]}, "application/json")
    either = body_of({"anyOf": parts}, "application/json")
    assert body.contents[0].defaults == {"a": 1, "d": 3}
    assert either.contents[0].defaults == {}


def test_forms_of_version_2() -> None:
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


TEXT: JSON = {"type": "string"}
NOTHING: JSON = {"not": {}}


def responses(declared: dict[str, Any], produces: tuple[str, ...] | None = None) -> Responses:
    """Return the answers of an operation; *produces* makes it one of version 2.0."""
    document = Document("d", "d", {"openapi": "3.0.0"} if produces is None else {"swagger": "2.0"})
    return Responses(document, DocumentPart(document, {"responses": declared}), produces or ())


def of(schema: JSON, kind: str = "application/json") -> dict[str, Any]:
    return {"content": {kind: {"schema": schema}}}


EITHER = "application/json or application/*+json"
SEVERAL: Any = {"200": {"content": {"application/json": {"schema": TEXT}, "application/*+json": {}}}}
BY_DEFAULT: Any = {"default": of(TEXT), "500": of(NOTHING)}


def told(declared: Responses, body: JSON, status: int = 200, kind: str = "application/json", **facts: Any) -> list[str]:
    return violations(declared.expected(), HttpResponse(status, {"content-type": kind} if kind else {}, body, **facts))


@pytest.mark.parametrize(("declared", "body", "facts", "expected"), [
    (BY_DEFAULT, "a", {"status": 201}, []),
    (BY_DEFAULT, 1, {"status": 201}, ["$: 1 is not of type 'string'"]),
    ({"200": of(TEXT)}, "a", {"status": 201}, ["the status 201 is not declared"]),
    (SEVERAL, "a", {"kind": "application/json; charset=utf-8"}, []),
    (SEVERAL, "a", {"kind": "application/hal+json"}, []),
    (SEVERAL, "a", {"kind": "text/html"}, [f"it is text/html, and not {EITHER}"]),
    (SEVERAL, "a", {"kind": ""}, [f"it is of no content type, and not {EITHER}"]),
    # A schema of XML or of a file says nothing about a text or about bytes.
    ({"200": of({"type": "object"}, "text/xml")}, "<a/>", {"kind": "text/xml"}, []),
    ({"200": of(TEXT)}, None, {"is_empty": True}, ["it is empty, and not application/json"]),
    ({"204": {"description": "done"}}, None, {"status": 204, "kind": "", "is_empty": True}, []),
])  # fmt: skip
def test_what_fits_an_answer(declared: Any, body: JSON, facts: Any, expected: list[str]) -> None:
    assert told(responses(declared), body, **facts) == expected


KINDS = ("application/json", "text/plain")


@pytest.mark.parametrize(("declared", "kinds", "body", "facts", "expected"), [
    ({"schema": TEXT}, KINDS, 1, {}, ["$: 1 is not of type 'string'"]),
    ({"schema": TEXT}, KINDS, "a", {"kind": "text/plain"}, []),
    ({"schema": {"type": "file"}}, (), {}, {"kind": "image/png"}, []),
    ({"schema": TEXT}, (), "a", {}, []),
    ({}, KINDS, None, {"kind": "", "is_empty": True}, []),
])  # fmt: skip
def test_what_fits_an_answer_of_version_2(
    declared: Any, kinds: tuple[str, ...], body: JSON, facts: Any, expected: list[str]
) -> None:
    assert told(responses({"200": declared}, kinds), body, **facts) == expected


@pytest.mark.parametrize(("status", "schema"), [(200, "string"), (201, "integer"), (299, "integer"), (202, "boolean")])
def test_the_status_decides(status: int, schema: str) -> None:
    """A status that is declared goes before its range; `default` is for errors where successes are declared."""
    declared = {
        "200": of(TEXT),
        "2xx": of({"type": "integer"}),
        "202": of({"type": "boolean"}),
        "404": {"$ref": "none.yaml"},
        "default": of(NOTHING),
    }
    good: dict[str, JSON] = {"string": "a", "integer": 1, "boolean": True}
    assert told(responses(declared), good[schema], status) == []
    assert told(responses(declared), None, status) == [f"$: None is not of type '{schema}'"]


def test_a_schema_that_is_none() -> None:
    with failing("BadDocument", "has an invalid schema for an answer", retryable=False):
        responses({"200": of({"type": "text"})}).expected()


@pytest.mark.parametrize(("declared", "produces", "expected"), [
    ({"200": of(TEXT, "image/png"), "201": of(TEXT), "400": of(TEXT, "text/html")}, None,
     "application/json, image/png;q=0.9, */*;q=0.1"),
    ({"default": of(TEXT, "text/plain")}, None, "text/plain, */*;q=0.1"),
    ({"204": {}}, None, None),
    ({}, None, None),
    ({"200": {}}, ("text/plain", "application/json"), "application/json, text/plain;q=0.9, */*;q=0.1"),
])  # fmt: skip
def test_what_is_asked_for(declared: dict[str, Any], produces: tuple[str, ...] | None, expected: str | None) -> None:
    assert responses(declared, produces).accepted() == expected
