"""Where documents are looked for, and how they are read."""

import json
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

import pytest

from swf_temporal.functions.documents.documents import Documents, locate
from swf_temporal.functions.http.client import Http
from swf_temporal.settings.calls import Settings
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
    """A relative document is relative to the definition; an absolute path is one of this machine."""
    assert locate(name, base) == expected


def test_the_base_may_be_the_definition_itself(tmp_path: Path) -> None:
    file = tmp_path / "orders.yaml"
    file.touch()
    assert locate("a.json", str(file)) == str(tmp_path / "a.json")


@pytest.mark.parametrize("text", [json.dumps(OPENAPI), "openapi: 3.1.0\npaths: {}", "swagger: 2.0\npaths: {}"])
async def test_files_are_json_or_yaml(tmp_path: Path, text: str) -> None:
    (tmp_path / "api").write_text(text, encoding="utf-8")
    document = await Documents(lambda: Http(Settings()), MINUTE).load("api", str(tmp_path))
    assert (document.name, document.url, document.content["paths"]) == ("api", None, {})


async def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """The same text is read once; another text is another document."""
    documents = Documents(lambda: Http(Settings()), MINUTE)
    file = tmp_path / "api.json"
    file.write_text(json.dumps(OPENAPI), encoding="utf-8")
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
    """A document from a URL is kept for its lifetime, for those with the same credentials."""
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
