"""Documents in several files, and at several URLs."""

import shutil
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.function_types import Callee
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.documents.documents import Documents
from swf_temporal.functions.documents.parts import Document
from swf_temporal.functions.http.client import Http
from swf_temporal.functions.openapi.operations import OpenApiOperation, find_operation, server_url
from swf_temporal.settings.calls import Settings, read_settings
from swf_temporal.text.fetching.resources import Resources
from tests.failing import failing, fault_of
from tests.functions.conftest import Calling, Service

FOLDER = Path(__file__).parents[1] / "data" / "split"
ORDER: dict[str, JSON] = {"id": "7", "lines": [{"quantity": 1, "gift": {"id": "8", "lines": []}}], "replaces": None}


def call(operation: str, base: str, *, is_checked: bool = True) -> Call:
    function = Function(name="f", operation=f"openapi.yaml#{operation}", metadata={"checkResponse": is_checked})
    return Call(function, {"id": "7", "fields": ["a", "b"]} if operation == "getOrder" else {**ORDER}, base=base)


@asynccontextmanager
async def read(
    base: Path | str, name: str = "api.json", resources: Resources | None = None, headers: Any = ()
) -> AsyncIterator[tuple[Document, OpenApiOperation]]:
    async with aclosing(Http(Settings())) as http:
        documents = Documents(lambda: http, timedelta(minutes=1), resources)
        document = await documents.load(name, str(base), headers)
        reading = documents.reading(document, lambda: find_operation(document, "op"), headers=headers, base=str(base))
        yield document, await reading


async def find(base: Path | str, name: str = "api.json", **facts: Any) -> OpenApiOperation:
    async with read(base, name, **facts) as (_, operation):
        return operation


def write(folder: Path, reference: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "api.json").write_text(f'{{"openapi": "3.0.0", "paths": {{"/a": {{"$ref": "{reference}"}}}}}}')
    return folder


async def test_a_document_that_was_moved(service: Service) -> None:
    """What is relative in a document, references and servers, begins where the server redirected to."""
    paths = {"/a": {"get": {"$ref": "parts/op.json"}}}
    service.answers_with("GET", "/api.json", status=302, headers={"Location": "/v3/docs/api.json"})
    service.answers_with("GET", "/v3/docs/api.json", {"openapi": "3.0.0", "servers": [{"url": "../x"}], "paths": paths})
    service.answers_with("GET", "/v3/docs/parts/op.json", status=307, headers={"Location": "/ops/op.json"})
    service.answers_with("GET", "/ops/op.json", {"operationId": "op", "requestBody": {"$ref": "body.json"}})
    service.answers_with("GET", "/ops/body.json", {"required": True})
    async with read(f"{service.url}/") as (document, operation):
        assert operation.body is not None
        assert operation.body.required
        assert server_url(Settings(), Callee("f"), document, operation) == f"{service.url}/v3/x"


async def test_a_document_on_another_server(service: Service) -> None:
    """Where the server redirects to another one, what is relative stays here: the other must not see credentials."""
    other = service.url.replace("127.0.0.1", "localhost")
    service.answers_with("GET", "/api.json", status=302, headers={"Location": f"{other}/v3/api.json"})
    service.answers_with("GET", "/v3/api.json", {"openapi": "3.0.0", "paths": {"/a": {"$ref": "a.json"}}})
    service.answers_with("GET", "/a.json", {"get": {"operationId": "op"}})
    await find(f"{service.url}/", headers=(("Authorization", "Bearer t"),))
    shown = {each.path: "authorization" in each.headers for each in service.requests}
    assert shown == {"/api.json": True, "/v3/api.json": False, "/a.json": True}


async def test_files_refer_to_files(service: Service, functions: Functions) -> None:
    service.answers_with("GET", "/orders/7", ORDER)
    service.answers_with("PUT", "/orders/7", ORDER, status=202)
    assert await functions.call(call("getOrder", str(FOLDER))) == ORDER
    assert service.last.query == [("fields", "a,b")]
    assert await functions.call(call("putOrder", str(FOLDER))) == ORDER
    assert service.last.body == ORDER


async def test_what_a_kept_document_refers_to_is_read_again(
    service: Service, functions: Functions, tmp_path: Path
) -> None:
    """A document is kept as long as its text is the same; others, and an operation in another text, are not."""
    made = Call(Function(name="f", operation="api.json#op"), base=str(tmp_path))
    for path in ("/a", "/b", "/c", "/d"):
        service.answers_with("GET", path, path)
    operation = '{"get": {"operationId": "op", "responses": {}}}'
    whole = f'{{"openapi": "3.0.0", "paths": {{"%s": {operation}}}}}'
    split = '{"openapi": "3.0.0", "paths": {"%s": {"$ref": "item.json"}}}'
    item = tmp_path / "item.json"
    item.write_text(operation)
    for path, text in (("/a", whole), ("/b", whole), ("/c", split), ("/d", split)):
        (tmp_path / "api.json").write_text(text % path)
        assert [await functions.call(made) for _ in range(2)] == [path, path]
    item.write_text(operation.replace("get", "post"))
    service.answers_with("POST", "/d", "changed")
    assert await functions.call(made) == "changed"


async def test_a_schema_in_several_files_is_checked(service: Service, functions: Functions) -> None:
    """A file that only an error of the service would need may be missing, where the answer is not checked."""
    service.answers_with("GET", "/orders/7", {"id": "7", "lines": [{"gift": {"id": "8", "lines": [{"quantity": 0}]}}]})
    told = "$.lines[0].gift.lines[0].quantity: 0 is less than or equal to the minimum of 0"
    await fault_of(functions.call(call("getOrder", str(FOLDER))), "SchemaMismatch", told)
    service.answers_with("GET", "/orders/7", ORDER)
    assert await functions.call(call("getOrder", str(FOLDER), is_checked=False)) == ORDER


async def test_urls_refer_to_urls(calling: Calling, service: Service) -> None:
    for file in FOLDER.rglob("*.*"):
        service.answers_with("GET", f"/specs/{file.relative_to(FOLDER)}", file.read_bytes())
    service.answers_with("GET", "/api/orders/7", ORDER)
    functions = calling()
    assert await functions.call(call("getOrder", f"{service.url}/specs/")) == ORDER
    assert await functions.call(call("getOrder", f"{service.url}/specs/")) == ORDER
    names = ["common.yaml", "openapi.yaml", "paths/order.yaml", "schemas/line.yaml", "schemas/order.json"]
    asked = [request.path for request in service.requests if request.path.startswith("/specs")]
    assert sorted(asked) == [f"/specs/{name}" for name in names]


@pytest.mark.parametrize("allowed", ["base", "resources"])
async def test_folders_that_are_allowed(tmp_path: Path, allowed: str) -> None:
    write(tmp_path / "specs", "../common.yaml#/a")
    (tmp_path / "common.yaml").write_text("a: {get: {operationId: op}}")
    if allowed == "base":
        found = await find(tmp_path, "specs/api.json")
    else:
        found = await find(tmp_path / "specs", resources=Resources(folders=(tmp_path,)))
    assert (found.id, found.path) == ("op", "/a")


async def test_who_may_not_be_referred_to(service: Service, functions: Functions, tmp_path: Path) -> None:
    """A file outside, also by a link or from a URL, and documents without end."""
    told = "'openapi.yaml' refers to '../../../conftest.py', which is outside"
    fault = await fault_of(functions.call(call("other", str(FOLDER))), "NoDocument", told, retryable=False)
    assert "SWF_RESOURCE_FOLDERS" in fault.message
    write(tmp_path / "specs", "common.yaml")
    shutil.copy(FOLDER / "common.yaml", tmp_path / "secret.yaml")
    (tmp_path / "specs" / "common.yaml").symlink_to(tmp_path / "secret.yaml")
    with failing("NoDocument", "outside"):
        await find(tmp_path / "specs")
    paths = {"/a": {"$ref": f"file://{FOLDER}/common.yaml"}}
    service.answers_with("GET", "/api.json", {"openapi": "3.0.0", "paths": paths})
    with failing("NoDocument", "other URLs only"):
        await find(f"{service.url}/")
    write(tmp_path, "0.yaml")
    for number in range(300):
        (tmp_path / f"{number}.yaml").write_text(yaml.safe_dump({"$ref": f"{number + 1}.yaml"}))
    with failing("BadDocument"):
        await find(tmp_path)


@pytest.mark.parametrize(("reference", "told"), [
    ("none.yaml", "which does not exist"),
    ("text.yaml", "'.*text.yaml' is not an object"),
    ("bad.yaml", "neither JSON nor YAML"),
])  # fmt: skip
async def test_files_that_are_no_documents(tmp_path: Path, reference: str, told: str) -> None:
    write(tmp_path, reference)
    (tmp_path / "text.yaml").write_text("just a text")
    (tmp_path / "bad.yaml").write_text("[")
    with pytest.raises(CallFailed, match=told) as caught:
        await find(tmp_path)
    assert not caught.value.retryable


async def test_other_hosts_are_for_the_operator_to_allow(service: Service, tmp_path: Path) -> None:
    """A file may refer to a URL on a host that is allowed, which is shown who asks as the operator says."""
    service.answers_with("GET", "/common.json", {"get": {"operationId": "op"}})
    write(tmp_path, f"{service.url}/common.json")
    host = service.url.removeprefix("http://")
    name = host.replace(".", "_").replace(":", "_")
    with failing("NoDocument", "SWF_RESOURCE_HOSTS", retryable=False):
        await find(tmp_path)
    env = {"SWF_RESOURCE_FOLDERS": str(tmp_path), "SWF_RESOURCE_HOSTS": host, f"SWF_RESOURCE_AUTH_{name}": "Bearer x"}
    allowed = read_settings(env).resources
    assert (await find(tmp_path, resources=allowed)).id == "op"
    assert allowed.folders == (tmp_path,)
    assert service.last.headers["authorization"] == "Bearer x"


async def test_credentials_stay_on_their_host(service: Service) -> None:
    """What shows the document's host who asks is not shown to another."""
    other = service.url.replace("127.0.0.1", "localhost")
    service.answers_with("GET", "/api.json", {"openapi": "3.0.0", "paths": {"/a": {"$ref": f"{other}/b.json"}}})
    service.answers_with("GET", "/b.json", {"get": {"operationId": "op"}})
    resources = Resources(hosts=(other.removeprefix("http://"),))
    await find(f"{service.url}/", resources=resources, headers=(("Authorization", "Bearer mine"),))
    assert [request.headers.get("authorization") for request in service.requests] == ["Bearer mine", None]
