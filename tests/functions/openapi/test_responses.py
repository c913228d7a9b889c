"""Which answers are declared, and what fits them."""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.functions.documents.parts import Document, DocumentPart
from swf_temporal.functions.http.answers import HttpResponse
from swf_temporal.functions.openapi.operations import Responses, violations
from tests.failing import failing

TEXT: JSON = {"type": "string"}
NOTHING: JSON = {"not": {}}


def responses(declared: dict[str, Any], produces: tuple[str, ...] | None = None) -> Responses:
    """Return the answers of an operation; *produces* makes it one of version 2.0."""
    document = Document("d", "d", {"openapi": "3.0.0"} if produces is None else {"swagger": "2.0"})
    return Responses(document, DocumentPart(document, {"responses": declared}), produces or ())


def of(schema: JSON, kind: str = "application/json") -> dict[str, Any]:
    return {"content": {kind: {"schema": schema}}}


def told(declared: Responses, body: JSON, status: int = 200, kind: str = "application/json", **facts: Any) -> list[str]:
    return violations(declared.expected(), HttpResponse(status, {"content-type": kind} if kind else {}, body, **facts))


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


def test_default_is_for_everything_where_nothing_else_is_said() -> None:
    declared = responses({"default": of(TEXT), "500": of(NOTHING)})
    assert told(declared, "a", 201) == []
    assert told(declared, 1, 201) == ["$: 1 is not of type 'string'"]


def test_a_status_that_is_not_declared() -> None:
    assert told(responses({"200": of(TEXT)}), "a", 201) == ["the status 201 is not declared"]


@pytest.mark.parametrize(("kind", "expected"), [
    ("application/json; charset=utf-8", []),
    ("application/hal+json", []),
    ("text/html", ["it is text/html, and not application/json or application/*+json"]),
    ("", ["it is of no content type, and not application/json or application/*+json"]),
])  # fmt: skip
def test_the_content_type(kind: str, expected: list[str]) -> None:
    declared = {"200": {"content": {"application/json": {"schema": TEXT}, "application/*+json": {}}}}
    assert told(responses(declared), "a", kind=kind) == expected


def test_other_kinds_than_json_are_not_looked_into() -> None:
    """A schema of XML or of a file says nothing about a text or about bytes."""
    assert told(responses({"200": of({"type": "object"}, "text/xml")}), "<a/>", kind="text/xml") == []


def test_an_empty_answer() -> None:
    assert told(responses({"200": of(TEXT)}), None, is_empty=True) == ["it is empty, and not application/json"]
    assert told(responses({"204": {"description": "done"}}), None, 204, "", is_empty=True) == []


def test_version_2() -> None:
    kinds = ("application/json", "text/plain")
    assert told(responses({"200": {"schema": TEXT}}, kinds), 1) == ["$: 1 is not of type 'string'"]
    assert told(responses({"200": {"schema": TEXT}}, kinds), "a", kind="text/plain") == []
    assert told(responses({"200": {"schema": {"type": "file"}}}, ()), {}, kind="image/png") == []
    assert told(responses({"200": {"schema": TEXT}}, ()), "a") == []
    assert told(responses({"200": {}}, kinds), None, kind="", is_empty=True) == []


def test_a_schema_that_is_none() -> None:
    """It is the document's mistake, told before anything is sent."""
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
