"""A service as a web framework makes it, called by the document that the framework wrote."""

import base64
import socket
import threading
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

import pytest
import uvicorn
from fastapi import Body, Cookie, FastAPI, File, Form, Header, HTTPException, Query, Response, UploadFile
from pydantic import BaseModel, Field

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.calling import Call, Functions
from tests.failing import failing
from tests.functions.conftest import Calling

app = FastAPI(title="Pets", generate_unique_id_function=lambda route: route.name)


class Kind(StrEnum):
    DOG = "dog"
    CAT = "cat"


class Pet(BaseModel):
    name: str = Field(min_length=1)
    kind: Kind
    age: int | None = None
    tags: list[str] = []
    friends: list["Pet"] = []


@app.get("/pets/{kind}")
def find_pets(
    kind: Kind,
    page: int = 1,
    tag: Annotated[list[str] | None, Query()] = None,
    older_than: Annotated[int | None, Query(alias="olderThan")] = None,
    x_trace: Annotated[str | None, Header()] = None,
    session: Annotated[str | None, Cookie()] = None,
) -> dict[str, object]:
    return {"kind": kind, "page": page, "tag": tag, "olderThan": older_than, "trace": x_trace, "session": session}


@app.put("/pets/{name}")
def put_pet(name: str, pet: Pet) -> Pet:
    return pet.model_copy(update={"tags": [*pet.tags, name]})


@app.post("/lists")
def sum_up(numbers: Annotated[list[int], Body()]) -> int:
    return sum(numbers)


@app.post("/logins")
def log_in(user: Annotated[str, Form()], roles: Annotated[list[str], Form()]) -> dict[str, object]:
    return {"user": user, "roles": roles}


@app.post("/pictures")
async def upload(
    picture: UploadFile, title: Annotated[str, Form()], more: Annotated[list[UploadFile] | None, File()] = None
) -> dict[str, object]:
    files = [picture, *(more or [])]
    return {
        "title": title,
        "files": [[each.filename, each.content_type, (await each.read()).decode("latin-1")] for each in files],
    }


@app.get("/pictures/{name}", response_class=Response, responses={200: {"content": {"image/png": {}}}})
def download(name: str, accept: Annotated[str, Header()]) -> Response:
    return Response(f"{name}|{accept}".encode(), media_type="image/png")


@app.get("/broken", response_model=Pet)
def broken() -> Response:
    return Response('{"name": "Rex", "kind": "bird"}', media_type="application/json")


@app.get("/busy")
def busy() -> None:
    raise HTTPException(503, {"why": "moving"}, {"Retry-After": "17"})


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", ws="none"))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def functions(calling: Calling) -> Functions:
    return calling()


def ask(url: str, operation: str, arguments: JSON = None, **metadata: JSON) -> Call:
    return Call(Function(name="pets", operation=f"{url}/openapi.json#{operation}", metadata=metadata), arguments)


FOUND = {"page": 1, "tag": None, "olderThan": None, "trace": None, "session": None}


@pytest.mark.parametrize(("operation", "arguments", "expected"), [
    ("find_pets", {"kind": "cat", "tag": ["a b", "c&d"], "olderThan": 3, "x-trace": "t", "session": "s 1"},
     {"kind": "cat", "page": 1, "tag": ["a b", "c&d"], "olderThan": 3, "trace": "t", "session": "s%201"}),
    # What may be null may be left out.
    ("find_pets", {"kind": "dog", "olderThan": None}, {**FOUND, "kind": "dog"}),
    ("put_pet", {"name": "Rex", "kind": "dog", "age": None},
     {"name": "Rex", "kind": "dog", "age": None, "tags": ["Rex"], "friends": []}),
    ("log_in", {"user": "ada lovelace", "roles": ["a", "b,c"]}, {"user": "ada lovelace", "roles": ["a", "b,c"]}),
    ("sum_up", [1, 2, 3], 6),
])  # fmt: skip
async def test_every_kind_of_parameter(
    functions: Functions, url: str, operation: str, arguments: JSON, expected: JSON
) -> None:
    assert await functions.call(ask(url, operation, arguments, checkResponse=True)) == expected


async def test_a_body_within_itself(functions: Functions, url: str) -> None:
    pet: JSON = {"name": "Rex", "kind": "dog", "friends": [{"name": "Tom", "kind": "cat"}]}
    result: Any = await functions.call(ask(url, "put_pet", pet, checkResponse=True))
    assert result["friends"][0]["name"] == "Tom"


async def test_what_the_service_refuses(functions: Functions, url: str) -> None:
    with failing("422") as caught:
        await functions.call(ask(url, "put_pet", {"name": "Rex", "kind": "bird"}))
    assert caught.value.body["detail"][0]["loc"] == ["body", "kind"]


async def test_files_go_up(functions: Functions, url: str) -> None:
    png: JSON = {"mediaType": "image/png", "base64": base64.b64encode(b"\x89P").decode(), "fileName": "sun.png"}
    result: Any = await functions.call(ask(url, "upload", {"picture": png, "title": "Sun", "more": ["notes", png]}))
    sun, notes, again = result["files"]
    assert result["title"] == "Sun"
    assert sun == again == ["sun.png", "image/png", "\x89P"]
    assert (notes[0], notes[2]) == ("more", "notes")


async def test_a_file_comes_down(functions: Functions, url: str) -> None:
    result: Any = await functions.call(ask(url, "download", {"name": "sun"}))
    assert result["mediaType"] == "image/png"
    assert base64.b64decode(result["base64"]) == b"sun|image/png, */*;q=0.1"


async def test_an_answer_that_does_not_fit(functions: Functions, url: str) -> None:
    result: Any = await functions.call(ask(url, "broken"))
    assert result["kind"] == "bird"
    with pytest.raises(CallFailed, match=r"\$\.kind: 'bird' is not one of \['dog', 'cat'\]") as caught:
        await functions.call(ask(url, "broken", checkResponse=True))
    fault = caught.value
    assert (fault.code, fault.status, fault.retryable) == ("SchemaMismatch", 200, False)
    assert fault.body == {"name": "Rex", "kind": "bird"}


async def test_a_service_that_asks_for_time(functions: Functions, url: str) -> None:
    with failing("503") as caught:
        await functions.call(ask(url, "busy"))
    assert caught.value.retry_after == 17
    result: Any = await functions.call(ask(url, "busy", failOnStatusCode=False))
    assert (result["status"], result["body"]) == (503, {"detail": {"why": "moving"}})
    assert result["headers"]["retry-after"] == "17"
