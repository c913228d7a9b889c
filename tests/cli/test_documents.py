"""What `swf validate`, `swf dev` and `swf worker` say of documents that are not there, as processes."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest

from swf_temporal.functions.calling import Functions
from swf_temporal.languages.loading import load
from swf_temporal.sdk.documents import addresses_of, folder_of, missing, missing_from_files
from swf_temporal.text.fetching.resources import Resources
from tests.cli.conftest import Dev, Swf

PROTOS = Path(__file__).parents[1] / "functions" / "protos"

CALLER = """\
id: asks
specVersion: "0.8"
version: "1.0"
functions:
  - {{name: ask, type: {kind}, operation: "{operation}"}}
states:
  - {{name: Ask, type: operation, actions: [{{functionRef: ask}}], end: true}}
"""
API = {
    "openapi": "3.0.0",
    "info": {"title": "a", "version": "1"},
    "paths": {"/a": {"get": {"operationId": "getStock"}}},
}


def asking(operation: str, kind: str = "rest") -> str:
    return CALLER.format(kind=kind, operation=operation)


@pytest.fixture
def warned(swf: Swf) -> Callable[[str, str], str]:
    """Return a way to get what validation says of a definition in the folder `defs`, which can run all the same."""

    def warning_for(operation: str, kind: str) -> str:
        ended = swf("validate", swf.write("defs/asks.yaml", asking(operation, kind)))
        assert (ended.code, ended.err[-11:]) == (0, " 1 warning\n")
        return ended.out

    return warning_for


def test_an_operation_that_is_not_there(swf: Swf, warned: Callable[[str, str], str]) -> None:
    swf.write("defs/specs/api.json", json.dumps(API))
    assert warned("specs/api.json#getStok", "rest") == (
        "defs/asks.yaml:5:40  warning  operation-undefined  "
        "function 'ask': the document 'specs/api.json' has no operation 'getStok'\n"
        '    - {name: ask, type: rest, operation: "specs/api.json#getStok"}\n'
        "                                         ^ did you mean 'getStock'?\n"
    )


@pytest.mark.parametrize(
    ("document", "meant"), [("specs/api.json", "../specs/api.json"), ("defs/specs/aip.json", "specs/aip.json")]
)
def test_a_document_that_is_not_there(swf: Swf, warned: Callable[[str, str], str], document: str, meant: str) -> None:
    swf.write(document, json.dumps(API))
    out = warned("specs/api.json#getStock", "rest")
    assert "function-document  function 'ask': the document 'specs/api.json' cannot be read from " in out
    assert f"{swf.folder}/defs/specs/api.json: No such file or directory\n" in out
    assert f"^ did you mean '{meant}'?\n" in out


@pytest.mark.parametrize(("operation", "kind"), [("x" * 300 + ".proto#A#B", "rpc"), ("a\\0.json#a", "rest")])
def test_a_file_that_cannot_be(warned: Callable[[str, str], str], operation: str, kind: str) -> None:
    assert "  function-document  function 'ask': " in warned(operation, kind)


def test_a_proto_file(swf: Swf, warned: Callable[[str, str], str]) -> None:
    copytree(PROTOS, swf.folder / "defs")
    assert "no method 'AdUser'\n" in warned("users.proto#UserService#AdUser", "rpc")
    assert len(warned("broken.proto#UserService#AddUser", "rpc").splitlines()) == 3
    (swf.folder / "defs" / "shared" / "people.proto").unlink()
    assert "shared/people.proto: File not found." in warned("users.proto#UserService#AddUser", "rpc")


def test_an_asyncapi_document(swf: Swf, warned: Callable[[str, str], str]) -> None:
    swf.write("defs/api.json", json.dumps(API))
    assert "is not an AsyncAPI document: it has no 'asyncapi' at the top level" in warned(
        "api.json#getStock", "asyncapi"
    )


def test_functions_in_another_file(swf: Swf) -> None:
    swf.write("functions.json", json.dumps([{"name": "ask", "operation": "api.json#getStock"}]))
    whole = asking("")
    asks = whole[: whole.index("functions:")] + "functions: functions.json\n" + whole[whole.index("states:") :]
    ended = swf("validate", swf.write("asks.yaml", asks))
    assert ended.code == 0
    assert ended.out.startswith("functions.json:1:31  warning  function-document  function 'ask'")


CALLS = {
    "openapi": "document: {endpoint: @}, operationId: getStock",
    "asyncapi": "document: {endpoint: @}, operation: send, message: {payload: 1}",
    "grpc": "proto: {endpoint: @}, service: {name: Greeter, host: localhost}, method: Greet",
    "a2a": "agentCard: {endpoint: @}, method: message/send",
}
HEAD = "document: {dsl: 1.0.3, namespace: test, name: asks, version: 1.0.0}\ndo:\n"


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize(
    "uri", ["${ .url }", "specs/${ .name }.json", "https://example.com/{name}", "{url}", "file:///specs/{name}.json"]
)
@pytest.mark.parametrize("form", ['"@"', '{uri: "@"}'])
def test_a_document_that_data_decide(tmp_path: Path, kind: str, uri: str, form: str) -> None:
    """It is no file whose name is an expression or a template, and is only known to an instance."""
    file = tmp_path / "asks.yaml"
    file.write_text(f"{HEAD}  - ask: {{call: {kind}, with: {{{CALLS[kind].replace('@', form.replace('@', uri))}}}}}\n")
    workflow = load(file)
    assert missing_from_files([workflow], Resources()) == []
    assert "problem" not in addresses_of(folder_of(workflow), workflow.functions)["ask"]


async def test_a_worker_looks_for_the_documents_that_it_can_know(tmp_path: Path) -> None:
    calls = {"told": "absent.json", "unknown": "${ .url }", "template": "{name}.json"}
    given = (f'{{document: {{endpoint: "{uri}"}}, operationId: getStock}}' for uri in calls.values())
    tasks = (f"  - {name}: {{call: openapi, with: {one}}}\n" for name, one in zip(calls, given, strict=True))
    file = tmp_path / "asks.yaml"
    file.write_text(HEAD + "".join(tasks))
    workflow, functions = load(file), Functions()
    found = await missing([workflow], functions)
    assert [one.message.partition(":")[0] for one in found] == ["function 'told'"]
    assert found == await asyncio.to_thread(missing_from_files, [workflow], Resources())
    await functions.aclose()


def test_programs_and_the_strict(swf: Swf) -> None:
    file = swf.write("asks.yaml", asking("api.json#getStock"))
    [problem] = json.loads(swf("validate", file, "--output", "json").out)
    assert (problem["code"], problem["severity"], problem["line"]) == ("function-document", "warning", 5)
    assert swf("validate", file, "--strict").code == 1


def test_what_is_there(swf: Swf) -> None:
    copytree(PROTOS, swf.folder / "protos")
    swf.write("api.json", json.dumps(API))
    for number, (operation, kind) in enumerate(
        [
            ("api.json#getStock", "rest"),
            ("protos/users.proto#UserService#AddUser", "rpc"),
            ("https://nowhere.invalid/api.json#getStock", "rest"),
        ]
    ):
        swf.write(f"defs{number}/asks.yaml", asking(f"../{operation}" if number < 2 else operation, kind))
    ended = swf("validate", "defs0", "defs1", "defs2", "--strict")
    assert (ended.code, ended.out) == (0, "")


def test_validation_stays_quick(swf: Swf) -> None:
    """What sends requests is imported only for documents that are read with it: those of gRPC and of AsyncAPI."""
    swf.write("api.json", json.dumps(API))
    files = [
        swf.write("elsewhere.yaml", asking("https://nowhere.invalid/api.json#a")),
        swf.write("here.yaml", asking("api.json#getStock")),
        swf.write("compiled.yaml", asking("a.proto#S#M", "rpc")),
    ]
    program = (
        "import sys\n"
        "from swf_temporal.cli.main import code_of\n"
        "for file in sys.argv[1:]:\n"
        "    code_of(['validate', file])\n"
        "    print('imported:', 'httpx' in sys.modules)\n"
    )
    arguments = [sys.executable, "-c", program, *files]
    out = subprocess.run(arguments, cwd=swf.folder, env=swf.env, capture_output=True, text=True, check=True).stdout
    told = [line for line in out.splitlines() if line.startswith("imported:")]
    assert told == ["imported: False", "imported: False", "imported: True"]


async def test_without_the_libraries_that_compile(swf: Swf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc_tools", None)  # as if it were not installed
    copytree(PROTOS, swf.folder / "protos")
    swf.write("protos/asks.yaml", asking("users.proto#UserService#AddUser", "rpc"))
    workflow, functions = load(swf.folder / "protos" / "asks.yaml"), Functions()
    assert await asyncio.to_thread(missing_from_files, [workflow], Resources()) == []
    [problem] = await missing([workflow], functions)
    assert "pip install 'swf-temporal[grpc]'" in problem.message
    await functions.aclose()


@pytest.mark.temporal
def test_dev_tells_what_changes(dev: Dev) -> None:
    copytree(PROTOS, dev.folder / "protos")
    file = dev.folder / "protos" / "asks.yaml"
    file.write_text(asking("users.proto#UserService#AddUsers", "rpc"))
    dev.until("protos/asks.yaml:5:39  warning  operation-undefined  function 'ask': the service")
    proto = dev.folder / "protos" / "users.proto"
    file.write_text(file.read_text().replace("AddUsers", "AddUser"))
    proto.write_text(proto.read_text().replace("AddUser(", "AddPerson("))
    dev.until("has no method 'AddUser'\n")
    for written in (dev.folder / "protos").rglob("*.*"):
        written.unlink()
    assert "protos/asks.yaml: gone" in dev.until("asks.yaml: gone")


@pytest.mark.temporal
def test_worker_logs_functions_that_it_was_not_given(swf: Swf, dev: Dev) -> None:
    swf.write("defs/asks.yaml", asking("os:system", "custom").replace("asks", "bad"))
    swf.write("defs/more.yaml", asking("temporal:charge@billing", "custom"))
    swf.write("defs/told.yaml", asking("sysout:INFO", "custom").replace("asks", "told"))
    with swf.running("worker", "defs", "--task-queue", "unnamed", "--address", dev.address) as worker:
        line = worker.until("function-unknown")
        ended = worker.stop(signal.SIGTERM)
    assert "WARNING defs/asks.yaml:5:42 function-unknown: function 'ask': 'os:system' may not be called here" in line
    assert "WARNING defs/more" not in ended.err
    assert "WARNING defs/told" not in ended.err


@pytest.mark.temporal
def test_worker_logs_what_is_missing(swf: Swf, dev: Dev) -> None:
    swf.write("defs/asks.yaml", asking("api.json#getStock"))
    with swf.running("worker", "defs", "--task-queue", "lacking", "--address", dev.address) as worker:
        line = worker.until("function-document")
        ended = worker.stop(signal.SIGTERM)
    assert "WARNING defs/asks.yaml:5:40 function-document: function 'ask': the document 'api.json' cannot be" in line
    assert ended.code == 0
    assert "Traceback" not in ended.err


GUARDED = {
    **API,
    "components": {"securitySchemes": {"pet-key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    "security": [{"pet-key": []}],
}
AUTH = "auth: [{name: me, scheme: bearer, properties: {token: t}}]\n"


@pytest.mark.parametrize(("document", "more", "is_told"), [
    (GUARDED, "", True),
    ({**GUARDED, "security": [{"pet-key": []}, {}]}, "", False),
    (API, "", False),
    (GUARDED, "secrets: [pet-key]\n", False),
    (GUARDED, "secrets: [other]\n", True),
    (GUARDED, "secrets: [stock.json.pet-key]\n", False),
    (GUARDED, "secrets: [other.json.pet-key]\n", True),
    (GUARDED, AUTH, False),
])  # fmt: skip
def test_credentials_that_nobody_provides(
    swf: Swf,
    document: dict[str, object],
    more: str,
    is_told: bool,  # noqa: FBT001 - what is expected
) -> None:
    swf.write("stock.json", json.dumps(document))
    text = asking("stock.json#getStock") + more
    if more == AUTH:
        text = text.replace('#getStock"', '#getStock", authRef: me')
    (swf.folder / "asks.yaml").write_text(text)
    found = missing_from_files([load(swf.folder / "asks.yaml")], Resources())
    told = [(one.code, one.message, one.hint) for one in found]
    message = "function 'ask': its document asks for 'pet-key', and the definition has no credentials for it"
    hint = "name an auth by 'authRef', or list 'secrets: [pet-key]' and give the worker SWF_SECRET_PET_KEY"
    assert told == ([("credentials-missing", message, hint)] if is_told else [])
