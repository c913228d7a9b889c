"""What is read out of documents of each version."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.documents.documents import Document
from swf_temporal.functions.http.media_types import FORM, MULTIPART
from swf_temporal.functions.http.parameters import Parameter
from swf_temporal.functions.openapi.operations import OpenApiOperation, find_operation
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


def test_an_operations_own_parameter_wins() -> None:
    trace = parameter(operation("3.0", "getOrder"), "X-Trace")
    assert (trace.required, trace.default) == (True, None)


@pytest.mark.parametrize("version", [{"openapi": "3.0.3"}, {"swagger": "2.0"}])
def test_an_auth_may_stand_for_a_parameter(version: dict[str, Any]) -> None:
    """The header `Authorization` is sent by an auth, so it is no argument that a definition has to give."""
    header = {"name": "authorization", "in": "header", "required": True}
    content = {**version, "paths": {"/a": {"get": {"operationId": "a", "parameters": [header]}}}}
    assert not parameter(find_operation(Document("d", "d", content), "a"), "authorization").required


@pytest.mark.parametrize(("name", "style", "explode"), [
    ("csv", "form", False), ("bare", "form", False), ("ssv", "spaceDelimited", False), ("tsv", "tabDelimited", False),
    ("pipes", "pipeDelimited", False), ("multi", "form", True),
])  # fmt: skip
def test_collection_formats_are_styles(*, name: str, style: str, explode: bool) -> None:
    found = parameter(operation("2.0", "getOrder"), name)
    assert (found.style, found.explode) == (style, explode)


@pytest.mark.parametrize(("name", "style", "explode"), [
    ("fields", "form", True), ("sort", "form", False), ("filter", "deepObject", True), ("session", "form", True),
    ("id", "simple", False), ("X-Trace", "simple", False),
])  # fmt: skip
def test_styles_have_defaults(*, name: str, style: str, explode: bool) -> None:
    found = parameter(operation("3.0", "getOrder"), name)
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
    """Version 3.1 lets a default stand beside a reference, where it counts before that of the schema."""
    schema = {"$ref": "#/components/schemas/Colour", "default": "red"}
    own = {"content": {"application/json": {"schema": schema}}} if in_content else {"schema": schema}
    content = {
        "openapi": "3.1.0",
        "paths": {"/a": {"get": {"operationId": "a", "parameters": [{"name": "colour", "in": "query", **own}]}}},
        "components": {"schemas": {"Colour": {"default": "blue"}}},
    }
    assert parameter(find_operation(Document("d", "d", content), "a"), "colour").default == "red"


def test_path_items_are_followed() -> None:
    """Version 3.1 may keep whole paths among its components, under names with a slash."""
    found = operation("3.1", "checkStock")
    assert found.path == "/stock/{item}"
    assert parameter(found, "item").style == "matrix"


def test_references_that_lead_round() -> None:
    with failing("BadDocument", "circular"):
        operation("3.1", "other")


def test_an_operation_that_is_not_there() -> None:
    with failing("UnknownOperation", "did you mean 'getOrder'", retryable=False):
        operation("3.0", "getOrdr")


@pytest.mark.parametrize("reference", ["other.yaml#/x", "#/components/none"])
def test_references_that_lead_nowhere(reference: str) -> None:
    content: dict[str, Any] = {"openapi": "3.0.0", "paths": {"/a": {"$ref": reference}}}
    with pytest.raises(CallFailed, match="refers to") as caught:
        find_operation(Document("d.json", "d.json", content), "a")
    assert reference in caught.value.message
