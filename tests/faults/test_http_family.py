"""What a workflow and a person are told when a call over HTTP fails: by OpenAPI, plain, GraphQL and OData.

Each row is run on a real Temporal server, against a real service that misbehaves so: once with onErrors that names the
code, and once without.
"""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.settings.calls import Options, Settings
from tests.faults.conftest import Attempt, Stage, Told
from tests.functions.conftest import Service

TYPES = ("openapi", "http", "graphql", "odata")
PATHS = {
    "openapi": ("GET", "/pets/7"),
    "http": ("GET", "/pets/7"),
    "graphql": ("POST", "/graphql"),
    "odata": ("GET", "/odata/Pets"),
}
"""What each type asks the service."""

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "paths": {
        "/pets/{id}": {
            "get": {
                "operationId": "pet",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
                "responses": {
                    "200": {
                        "description": "the pet",
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "properties": {"name": {"type": "string"}},
                                    "required": ["name"],
                                }
                            }
                        },
                    }
                },
            }
        }
    },
}


def attempt(kind: str, url: str, folder: Path, **facts: Any) -> Attempt:
    if kind == "openapi":
        document = folder / "pets.json"
        document.write_text(json.dumps({**DOCUMENT, "servers": [{"url": url}]}), encoding="utf-8")
        return Attempt({"operation": f"{document}#pet", **facts.pop("function", {})}, {"id": 7}, **facts)
    operation, arguments = {
        "http": (f"rest:GET:{url}/pets/7", None),
        "graphql": (f"{url}/graphql#query#pet", {"id": 7}),
        "odata": (f"{url}/odata#Pets", None),
    }[kind]
    reference = facts.pop("function", {})
    return Attempt(
        {"type": "custom" if kind == "http" else kind, "operation": operation, **reference}, arguments, **facts
    )


def check(told: Told, code: str | int, text: str, *, status: int | None = None, body: Any = None) -> None:
    assert (told.caught["code"], told.caught["status"], told.caught["body"]) == (str(code), status, body)
    assert told.caught["state"] == "Ask"
    for seen in (text, "'Ask'"):
        assert seen in told.text, told.text
    assert text in str(told.caught["message"])


@pytest.mark.parametrize("kind", TYPES)
async def test_refused(stage: Stage, kind: str, closed_port: int, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{closed_port}"
    told = await stage.play(attempt(kind, url, tmp_path), "ConnectionRefused")
    check(told, "ConnectionRefused", f"{url}{PATHS[kind][1]}: the connection was refused")


@pytest.mark.parametrize("kind", TYPES)
async def test_too_slow(stage: Stage, service: Service, kind: str, tmp_path: Path) -> None:
    service.hangs(*PATHS[kind])
    settings = Settings(calls=Options(timeout=timedelta(milliseconds=200)))
    told = await stage.play(attempt(kind, service.url, tmp_path, settings=settings), "Timeout")
    check(told, "Timeout", "there was no answer in time")


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    ("status", "phrase"),
    [(404, "Not Found"), (422, "Unprocessable"), (500, "Internal Server Error"), (503, "Service Unavailable")],
)
async def test_an_error_of_the_service(
    stage: Stage, service: Service, kind: str, status: int, phrase: str, tmp_path: Path
) -> None:
    service.answers_with(*PATHS[kind], {"detail": "no such pet"}, status=status)
    told = await stage.play(attempt(kind, service.url, tmp_path), status)
    check(told, status, f"answered {status} {phrase}", status=status, body={"detail": "no such pet"})
    assert "no such pet" in told.text


@pytest.mark.parametrize("kind", TYPES)
async def test_malformed(stage: Stage, service: Service, kind: str, tmp_path: Path) -> None:
    service.answers_with(*PATHS[kind], b'{"name": ')
    told = await stage.play(attempt(kind, service.url, tmp_path), "MalformedAnswer")
    check(told, "MalformedAnswer", "but it is not", status=200, body='{"name": ')


@pytest.mark.parametrize("kind", ["openapi", "graphql", "odata"])
async def test_another_content_type(stage: Stage, service: Service, kind: str, tmp_path: Path) -> None:
    """A page for people comes where JSON is meant to; a document says so only if answers are checked."""
    service.answers_with(*PATHS[kind], b"<html>maintenance</html>", content_type="text/html")
    checked = {"function": {"metadata": {"checkResponse": True}}} if kind == "openapi" else {}
    code = "SchemaMismatch" if kind == "openapi" else "MalformedAnswer"
    told = await stage.play(attempt(kind, service.url, tmp_path, **checked), code)
    check(told, code, "text/html", status=200, body="<html>maintenance</html>")


async def test_another_content_type_is_an_answer(stage: Stage, service: Service, tmp_path: Path) -> None:
    """Plain HTTP takes what comes; an answer that breaks off is none."""
    service.sends_raw("GET", "/pets/7", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    told = await stage.play(attempt("http", service.url, tmp_path), "ProtocolError")
    check(told, "ProtocolError", "the answer ended early")


async def test_another_schema(stage: Stage, service: Service, tmp_path: Path) -> None:
    service.answers_with("GET", "/pets/7", {"name": 7})
    checked = {"metadata": {"checkResponse": True}}
    told = await stage.play(attempt("openapi", service.url, tmp_path, function=checked), "SchemaMismatch")
    check(told, "SchemaMismatch", "name", status=200, body={"name": 7})


async def test_an_answer_that_lacks_what_the_protocol_has(stage: Stage, service: Service, tmp_path: Path) -> None:
    service.answers_with("POST", "/graphql", {"pet": {}})
    told = await stage.play(attempt("graphql", service.url, tmp_path), "MalformedAnswer")
    check(told, "MalformedAnswer", "'data'", status=200, body={"pet": {}})


async def test_errors_within_an_answer(stage: Stage, service: Service, tmp_path: Path) -> None:
    answer = {"errors": [{"message": "no such pet", "extensions": {"code": "PET_NOT_FOUND"}}], "data": None}
    service.answers_with("POST", "/graphql", answer)
    told = await stage.play(attempt("graphql", service.url, tmp_path), "PET_NOT_FOUND")
    check(told, "PET_NOT_FOUND", "no such pet", status=200, body=answer)


@pytest.mark.parametrize("kind", TYPES)
async def test_too_large(stage: Stage, service: Service, kind: str, tmp_path: Path) -> None:
    service.answers_with(*PATHS[kind], {"name": "x" * 2000})
    told = await stage.play(
        attempt(kind, service.url, tmp_path, settings=Settings(calls=Options(max_response_bytes=1000))),
        "AnswerTooLarge",
    )
    check(told, "AnswerTooLarge", "larger than 1000 bytes", status=200)


@pytest.mark.parametrize("kind", TYPES)
async def test_not_to_be_trusted(stage: Stage, untrusted_port: int, kind: str, tmp_path: Path) -> None:
    url = f"https://localhost:{untrusted_port}"
    told = await stage.play(attempt(kind, url, tmp_path), "TlsFailed")
    check(told, "TlsFailed", "certificate")


@pytest.mark.parametrize("kind", TYPES)
async def test_an_expired_token(stage: Stage, service: Service, kind: str, tmp_path: Path) -> None:
    """The service refuses the token, and the next one as well; none of the two is shown to anybody."""
    tokens = iter(f"token-{number}-of-nobody" for number in range(100))
    service.answers_by(
        "POST", "/token", lambda: {"access_token": next(tokens), "token_type": "Bearer", "expires_in": 3600}
    )
    service.answers_with(*PATHS[kind], {"detail": "the token has expired"}, status=401)
    auth = {
        "name": "by client",
        "scheme": "oauth2",
        "properties": {
            "authority": f"{service.url}/token",
            "grantType": "clientCredentials",
            "clientId": "orders",
            "clientSecret": "${ $SECRETS.client }",
        },
    }
    function = {"authRef": {"invocation": "by client"}}
    told = await stage.play(
        attempt(kind, service.url, tmp_path, function=function, auth=[auth], secrets={"client": "s3cret-of-orders"}),
        401,
    )
    check(told, 401, "answered 401 Unauthorized", status=401, body={"detail": "the token has expired"})
    asked = [request.headers["authorization"] for request in service.requests if request.path == PATHS[kind][1]]
    assert asked[0] != asked[-1], "a new token was asked for"
    assert "of-nobody" not in told.text + json.dumps(told.caught)


@pytest.mark.parametrize("kind", TYPES)
async def test_no_token(stage: Stage, service: Service, kind: str, tmp_path: Path) -> None:
    service.answers_with("POST", "/token", {"error": "invalid_client", "error_description": "who?"}, status=401)
    auth = {
        "name": "by client",
        "scheme": "oauth2",
        "properties": {
            "authority": f"{service.url}/token",
            "grantType": "clientCredentials",
            "clientId": "orders",
            "clientSecret": "wrong",
        },
    }
    function = {"authRef": {"invocation": "by client"}}
    told = await stage.play(attempt(kind, service.url, tmp_path, function=function, auth=[auth]), "AuthFailed")
    check(told, "AuthFailed", "invalid_client", status=told.caught["status"], body=told.caught["body"])
