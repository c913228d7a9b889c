"""Where documents are looked for, how they are read, and what stands where in them."""

import json
from contextlib import aclosing, suppress
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.function_types import Callee
from swf_temporal.functions.documents.documents import Documents, check_openapi, locate
from swf_temporal.functions.documents.parts import Document, DocumentPart, UnresolvedReference, beside
from swf_temporal.functions.http.client import Http
from swf_temporal.functions.openapi.openapi import build_request
from swf_temporal.functions.openapi.operations import find_operation, server_url
from swf_temporal.settings.calls import Settings
from swf_temporal.text.parsing import read_data
from tests.failing import failing
from tests.functions.conftest import Service

OPENAPI = {"openapi": "3.0.0", "paths": {}}
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(("name", "base", "expected"), [
    ("specs/a.json", "/defs", "/defs/specs/a.json"),
    ("specs/a.json", None, "specs/a.json"),
    ("/abs/a.json", "/defs", "/abs/a.json"),
    ("file:///abs/a%20b.json", "/defs", "/abs/a b.json"),
    ("file:a.json", "/defs", "/defs/a.json"),
    ("a.json", "file:///defs", "/defs/a.json"),
    ("classpath:/specs/a.json", "/defs", "/defs/specs/a.json"),
    ("http://h/a.json", "/defs", "http://h/a.json"),
    ("a.json", "https://h/defs/orders.yaml", "https://h/defs/a.json"),
    ("a.json", "https://h/defs/", "https://h/defs/a.json"),
    ("/a.json", "https://h/defs/", "/a.json"),
])  # fmt: skip
def test_documents_are_found_beside_the_definition(name: str, base: str | None, expected: str) -> None:
    assert locate(name, base) == expected


@pytest.mark.parametrize("text", [json.dumps(OPENAPI), "openapi: 3.1.0\npaths: {}", "swagger: 2.0\npaths: {}"])
async def test_files_are_json_or_yaml(tmp_path: Path, text: str) -> None:
    (tmp_path / "api").write_text(text, encoding="utf-8")
    document = await Documents(lambda: Http(Settings()), MINUTE).load("api", str(tmp_path))
    assert (document.name, document.url, document.content["paths"]) == ("api", None, {})


async def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    documents = Documents(lambda: Http(Settings()), MINUTE)
    file = tmp_path / "api.json"
    file.write_text(json.dumps(OPENAPI), encoding="utf-8")
    assert locate("a.json", str(file)) == str(tmp_path / "a.json"), "the base may be the definition itself"
    first = await documents.load("api.json", str(tmp_path))
    again = await documents.load("api.json", str(tmp_path))
    file.write_text(json.dumps({**OPENAPI, "x": 1}), encoding="utf-8")
    changed = await documents.load("api.json", str(tmp_path))
    assert again is first
    assert changed.content["x"] == 1


@pytest.mark.parametrize(("text", "told"), [
    ("{", "neither JSON nor YAML"),
    ("a: [", "neither JSON nor YAML"),
    ("- 1", "is not an object"),
    ("a: 1", "neither 'openapi' nor 'swagger'"),
    ("openapi: 4.0.0", "version 4.0.0"),
    ("openapi: 3.0.0\npaths: []", "'paths'"),
])  # fmt: skip
async def test_what_is_no_openapi_document(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "api").write_text(text, encoding="utf-8")
    with failing("BadDocument", r"the document 'api' (is not|cannot be)", retryable=False) as caught:
        await Documents(lambda: Http(Settings()), MINUTE).load("api", str(tmp_path))
    assert told in caught.value.message


@pytest.mark.parametrize("name", ["none.json", "nul\0.json", "."])
async def test_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    with failing("NoDocument", "cannot be read from", retryable=False):
        await Documents(lambda: Http(Settings()), MINUTE).load(name, str(tmp_path))


@pytest.mark.parametrize(("lifetime", "fetched"), [(timedelta(hours=1), 1), (timedelta(0), 2)])
async def test_a_url_is_fetched_again_in_time(service: Service, lifetime: timedelta, fetched: int) -> None:
    service.answers_with("GET", "/api.json", OPENAPI)
    async with aclosing(Http(Settings())) as http:
        documents = Documents(lambda: http, lifetime)
        for _ in range(2):
            document = await documents.load("api.json", service.url + "/")
        theirs = await documents.load("api.json", service.url + "/", (("Authorization", "Bearer x"),))
    assert theirs is not document
    assert document.url == f"{service.url}/api.json"
    assert len(service.requests) == fetched + 1
    assert service.last.headers["authorization"] == "Bearer x"


async def test_a_document_that_is_refused(service: Service) -> None:
    async with aclosing(Http(Settings())) as http:
        with failing("NoDocument", "404 Not Found", retryable=True) as caught:
            await Documents(lambda: http, MINUTE).load(f"{service.url}/api.json", None)
    assert caught.value.status == 404


CONTENT: dict[str, Any] = {
    "a/b": {"~": {"": {"is": "deep"}}},
    "list": [{"is": 0}, {"is": 1}],
    "100%": {"is": "escaped"},
    "to": {"$ref": "#/list/1"},
    "named": {"schema": {"$anchor": "Pet", "is": "anchored"}},
    "round": {"$ref": "#/round"},
}


def document(location: str = "/specs/api.yaml") -> Document:
    return Document("api.yaml", location, CONTENT)


@pytest.mark.parametrize(("reference", "found"), [
    ("#/a~1b/~0/", {"is": "deep"}),
    ("#/a%2Fb", None),
    ("#/a~1b/%7E0/", {"is": "deep"}),
    ("#/list/1", {"is": 1}),
    ("#/list/2", None),
    ("#/list/-1", None),
    ("#/list/is", None),
    ("#/100%25", {"is": "escaped"}),
    ("#/to", {"is": 1}),
    ("#/to/is", None),
    ("#Pet", {"$anchor": "Pet", "is": "anchored"}),
    ("#Dog", None),
    ("#", CONTENT),
    ("api.yaml#/list/0", {"is": 0}),
    ("./api.yaml#/list/0", {"is": 0}),
])  # fmt: skip
def test_references_within_a_document(reference: str, found: dict[str, Any] | None) -> None:
    if found is not None:
        assert document().resolve({"$ref": reference}) == found
        return
    with failing("BadDocument", "which is not in it", retryable=False):
        document().resolve({"$ref": reference})


def test_a_document_that_is_not_at_hand() -> None:
    """Whoever can get it is told which; for everybody else it is a fault like any other, as a cycle is."""
    with pytest.raises(UnresolvedReference, match=r"'api\.yaml' refers to 'pets\.yaml#/Pet'") as caught:
        document().resolve({"$ref": "pets.yaml#/Pet"})
    assert (caught.value.location, caught.value.code) == ("/specs/pets.yaml", "BadDocument")
    with failing("BadDocument", "circular"):
        document().resolve({"$ref": "#/round"})


def test_parts_know_their_document() -> None:
    first = document()
    other = Document("pets.yaml", "/specs/pets.yaml", {"Pet": {"$ref": "#/Dog"}, "Dog": {"is": "dog"}}, first.others)
    first.others["/specs/pets.yaml"] = other
    found = DocumentPart(first, {"pet": {"$ref": "pets.yaml#/Pet"}}).part("pet")
    assert (found.document, found.value) == (other, {"is": "dog"})


@pytest.mark.parametrize(("location", "name", "expected"), [
    ("/specs/api.yaml", "../pets.yaml", "/pets.yaml"),
    ("/specs/api.yaml", "my%20pets.yaml", "/specs/my pets.yaml"),
    ("/specs/api.yaml", "file:///pets.yaml", "/pets.yaml"),
    ("/specs/api.yaml", "https://h/pets.yaml", "https://h/pets.yaml"),
    ("https://h/specs/api.yaml", "../pets.yaml", "https://h/pets.yaml"),
    ("https://h/specs/api.yaml", "/pets.yaml", "https://h/pets.yaml"),
])  # fmt: skip
def test_documents_are_beside_each_other(location: str, name: str, expected: str) -> None:
    assert beside(location, name) == expected


FOLDER = Path(__file__).parents[1] / "data"
JUNK = st.sampled_from(
    [None, True, 5, -1.5, "", "text", "#/paths", [], [5], ["a"], [None], {}, {"a": 5}, {"$ref": "#"}]
)
ARGUMENTS: dict[str, JSON] = {"id": 7, "item": "mouse", "X-Trace": "t", "user": "ada", "roles": ["a"], "picture": "x"}
OPERATIONS = ("getOrder", "putOrder", "readOrder", "login", "upload", "addNote", "checkStock")


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in entries for place in places(item, (*path, key)))]


def damaged(content: Any, path: tuple[Any, ...], junk: Any) -> Any:
    changed = deepcopy(content)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = junk
    return changed


@pytest.mark.parametrize("name", ["shop-2.0.json", "shop-3.0.yaml", "shop-3.1.yaml"])
@given(data=st.data())
def test_what_is_wrong_is_a_fault(name: str, data: st.DataObject) -> None:
    content = read_data((FOLDER / name).read_bytes())
    path = data.draw(st.sampled_from(places(content)[1:]))
    document = Document(name, f"https://shop.example.com/{name}", damaged(content, path, data.draw(JUNK)))
    with suppress(CallFailed):
        check_openapi(document)
        operation = find_operation(document, data.draw(st.sampled_from(OPERATIONS)))
        if operation.responses is not None:
            operation.responses.expected()
        named = {parameter.name for parameter in operation.parameters}
        arguments = {key: value for key, value in ARGUMENTS.items() if operation.body or key in named}
        build_request(operation, server_url(Settings(), Callee("f"), document, operation), arguments)
