"""What a workflow and a person are told when a call over HTTP fails: by OpenAPI, plain, GraphQL and OData.

Each row is run on a real Temporal server, against a real service that misbehaves so: once with onErrors that names the
code, and once without.
"""

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.settings.calls import Options, Settings
from tests.faults.conftest import Attempt, FailedCall, Stage, by_client, grants_tokens
from tests.functions.conftest import Service

TYPES = ("openapi", "http", "graphql", "odata")
PATHS = {
    "openapi": ("GET", "/pets/7"),
    "http": ("GET", "/pets/7"),
    "graphql": ("POST", "/graphql"),
    "odata": ("GET", "/odata/Pets"),
}
"""What each type asks the service."""

_PET = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
_FOUND = {"description": "the pet", "content": {"application/json": {"schema": _PET}}}
_GET = {
    "operationId": "pet",
    "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
    "responses": {"200": _FOUND},
}
DOCUMENT = {"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {"/pets/{id}": {"get": _GET}}}


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
    function = {"type": "custom" if kind == "http" else kind, "operation": operation, **facts.pop("function", {})}
    return Attempt(function, arguments, **facts)


Fails = Callable[..., Awaitable[FailedCall]]


@pytest.fixture
def fails(stage: Stage, service: Service, tmp_path: Path) -> Fails:
    async def fails(
        kind: str, code: str | int, *texts: str, url: str = "", status: Any = None, body: Any = None, **facts: Any
    ) -> FailedCall:
        made = attempt(kind, url or service.url, tmp_path, **facts)
        return await stage.fails(made, code, *texts, status=status, body=body)

    return fails


every_type = pytest.mark.parametrize("kind", TYPES)


@every_type
async def test_refused(fails: Fails, kind: str, closed_port: int) -> None:
    url = f"http://127.0.0.1:{closed_port}"
    await fails(kind, "ConnectionRefused", f"{url}{PATHS[kind][1]}: the connection was refused", url=url)


@every_type
@pytest.mark.parametrize(("answer", "options", "code", "text", "facts"), [
    (None, {"timeout": timedelta(milliseconds=50)}, "Timeout", "there was no answer in time", {}),
    (b'{"name": ', {}, "MalformedAnswer", "but it is not", {"status": 200, "body": '{"name": '}),
    ({"name": "x" * 2000}, {"max_response_bytes": 1000}, "AnswerTooLarge", "larger than 1000 bytes", {"status": 200}),
], ids=["too slow", "malformed", "too large"])  # fmt: skip
async def test_no_answer_of_use(  # noqa: PLR0913 - the facts of a case
    fails: Fails, service: Service, kind: str, answer: Any, options: dict[str, Any], code: str, *, text: str, facts: Any
) -> None:
    if answer is None:
        service.hangs(*PATHS[kind])
    else:
        service.answers_with(*PATHS[kind], answer)
    await fails(kind, code, text, settings=Settings(calls=Options(**options)), **facts)


@every_type
@pytest.mark.parametrize(("status", "phrase"), [
    (404, "Not Found"), (422, "Unprocessable"), (500, "Internal Server Error"), (503, "Service Unavailable"),
])  # fmt: skip
async def test_an_error_of_the_service(fails: Fails, service: Service, kind: str, status: int, phrase: str) -> None:
    body = {"detail": "no such pet"}
    service.answers_with(*PATHS[kind], body, status=status)
    told = await fails(kind, status, f"answered {status} {phrase}", status=status, body=body)
    assert "no such pet" in told.text


CHECKED = {"metadata": {"checkResponse": True}}


@pytest.mark.parametrize("kind", ["openapi", "graphql", "odata"])
async def test_another_content_type(fails: Fails, service: Service, kind: str) -> None:
    """A page for people comes where JSON is meant to; a document says so only if answers are checked."""
    page = "<html>maintenance</html>"
    service.answers_with(*PATHS[kind], page.encode(), content_type="text/html")
    if kind == "openapi":
        await fails(kind, "SchemaMismatch", "text/html", status=200, body=page, function=CHECKED)
    else:
        await fails(kind, "MalformedAnswer", "text/html", status=200, body=page)


async def test_another_content_type_is_an_answer(fails: Fails, service: Service) -> None:
    """Plain HTTP takes what comes; an answer that breaks off is none."""
    service.sends_raw("GET", "/pets/7", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    await fails("http", "ProtocolError", "the answer ended early")


NO_PET = {"errors": [{"message": "no such pet", "extensions": {"code": "PET_NOT_FOUND"}}], "data": None}


@pytest.mark.parametrize(("kind", "answer", "code", "text", "facts"), [
    ("openapi", {"name": 7}, "SchemaMismatch", "name", {"function": CHECKED}),
    ("graphql", {"pet": {}}, "MalformedAnswer", "'data'", {}),
    ("graphql", NO_PET, "PET_NOT_FOUND", "no such pet", {}),
], ids=["another schema", "not what the protocol has", "errors within an answer"])  # fmt: skip
async def test_an_answer_that_is_none(
    fails: Fails, service: Service, kind: str, answer: Any, code: str, text: str, facts: dict[str, Any]
) -> None:
    service.answers_with(*PATHS[kind], answer)
    await fails(kind, code, text, status=200, body=answer, **facts)


@every_type
async def test_not_to_be_trusted(fails: Fails, untrusted_port: int, kind: str) -> None:
    await fails(kind, "TlsFailed", "certificate", url=f"https://localhost:{untrusted_port}")


@every_type
async def test_an_expired_token(fails: Fails, service: Service, kind: str) -> None:
    """The service refuses the token, and the next one as well; none of the two is shown to anybody."""
    grants_tokens(service)
    expired = {"detail": "the token has expired"}
    service.answers_with(*PATHS[kind], expired, status=401)
    facts = {**by_client(service.url, "${ $SECRETS.client }"), "secrets": {"client": "s3cret-of-orders"}}
    told = await fails(kind, 401, "answered 401 Unauthorized", status=401, body=expired, **facts)
    asked = [request.headers["authorization"] for request in service.requests if request.path == PATHS[kind][1]]
    assert asked[0] != asked[-1], "a new token was asked for"
    assert "of-nobody" not in told.text + json.dumps(told.caught)


@every_type
async def test_no_token(fails: Fails, service: Service, kind: str) -> None:
    service.answers_with("POST", "/token", {"error": "invalid_client", "error_description": "who?"}, status=401)
    await fails(kind, "AuthFailed", "invalid_client", status=..., body=..., **by_client(service.url, "wrong"))
