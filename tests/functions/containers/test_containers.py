"""How functions are called by the container contract of Direktiv, and what their directory holds."""

import asyncio
import os
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import CallFailed, PayloadTooLarge, StoreUnavailable
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.containers import folders
from swf_temporal.functions.containers.containers import Containers
from swf_temporal.functions.containers.folders import read_files, write_files
from swf_temporal.runtime.host import CallFile, CallFolder
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.forms import SharedFolder
from tests.failing import failing, fault_of
from tests.functions.conftest import Calling, Service


def call_of(arguments: Any = None, image: str = "direktiv/request:latest") -> Call:
    operation = {"type": "knative-workflow", "image": image}
    return Call(Function("request", "direktiv", operation), arguments, idempotency_key="shop/1/pay/request#1")


async def test_a_call_is_one_request(service: Service, functions: Functions) -> None:
    service.answers_with("POST", "/", {"done": True})
    assert await functions.call(call_of({"n": 1})) == {"done": True}
    assert await functions.call(call_of({"n": 1})) == {"done": True}
    first, second = service.requests
    assert first.body == {"n": 1}
    assert first.headers["direktiv-actionid"] == second.headers["direktiv-actionid"]
    assert first.headers["direktiv-actionid"].isalnum()


@pytest.mark.parametrize(("content", "result"), [(b"\xff\x00", "/wA="), (b"", ""), (b"[1]", [1])])
async def test_what_is_no_json_is_base64(service: Service, functions: Functions, content: bytes, result: Any) -> None:
    service.answers_with("POST", "/", content, content_type="application/octet-stream")
    assert await functions.call(call_of()) == result


async def test_the_status_alone_is_no_error(service: Service, functions: Functions) -> None:
    service.answers_with("POST", "/", {"found": False}, status=404)
    assert await functions.call(call_of()) == {"found": False}


@pytest.mark.parametrize(("code", "status", "told"), [
    ("pay.refused", 200, "pay.refused"), ("pay.refused", 500, "pay.refused"), (None, 200, "direktiv.internal.error"),
])  # fmt: skip
async def test_a_header_tells_of_an_error(
    service: Service, functions: Functions, code: str | None, status: int, told: str
) -> None:
    headers = {"Direktiv-ErrorMessage": "no money"} | ({"Direktiv-ErrorCode": code} if code else {})
    service.answers_with("POST", "/", {"ignored": True}, status=status, headers=headers)
    fault = await fault_of(functions.call(call_of()), told, retryable=False if code is None else None)
    assert fault.message == "no money"


ENDINGS = ("", ":v1", "@sha256:0a1b", ":v1@sha256:0a1b")


@pytest.mark.parametrize(("image", "where"), [
    *(("direktiv/request:latest", {"services": name}) for name in ("direktiv/request:latest", "direktiv/request")),
    ("direktiv/request:latest", {"functions": "request"}),
    *((f"hub:5000/request{ending}", {"services": "hub:5000/request"}) for ending in ENDINGS),
])  # fmt: skip
async def test_where_it_stands_is_configured(calling: Calling, service: Service, image: str, where: Any) -> None:
    service.answers_with("POST", "/", 1)
    known: Any = {kind: {name: Options(base_url=service.url)} for kind, name in where.items()}
    assert await calling(settings=Settings(**known)).call(call_of(image=image)) == 1


async def test_it_is_configured_by_its_image(calling: Calling, service: Service) -> None:
    service.hangs("POST", "/")
    service.answers_with("DELETE", "/")
    hasty = Options(timeout=timedelta(seconds=0.2))
    functions = calling(settings=Settings(calls=Options(base_url=service.url), services={"DIREKTIV_REQUEST": hasty}))
    await fault_of(functions.call(call_of()), "Timeout")
    assert [one.method for one in service.requests] == ["POST", "DELETE"]


async def test_variables_that_cannot_be_reached_are_no_error_of_the_function(
    calling: Calling, service: Service, tmp_path: Path
) -> None:
    """It is not called, and the attempt is made again by whoever asked for it."""

    class Away:
        async def read_variable(self, of: VariableRef) -> Variable | None:
            raise StoreUnavailable(of.key)

        async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:  # noqa: ARG002 - the port's
            raise StoreUnavailable(write_id)

    shared = Options(shared_folder=SharedFolder(str(tmp_path), "/mnt/shared"))
    settings = Settings(calls=shared.replace(base_url=service.url))
    functions = calling(settings=settings, replaced={"direktiv": lambda services: Containers(services, Away())})
    of = VariableRef("namespace", "", "k")
    with pytest.raises(StoreUnavailable):
        await functions.call(replace(call_of(), folder=CallFolder((CallFile(of, "k"),), {"namespace": ""})))
    assert service.requests == []


async def test_without_configuration_it_says_what_is_missing() -> None:
    await fault_of(Functions().call(call_of()), "NoServer", 'functions: {"request": {baseUrl: …}}')


async def test_a_call_that_is_not_wanted_is_ended(service: Service, functions: Functions) -> None:
    service.hangs("POST", "/")
    service.answers_with("DELETE", "/")
    task = asyncio.get_running_loop().create_task(functions.call(call_of()))
    await asyncio.to_thread(service.asked.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [one.method for one in service.requests] == ["POST", "DELETE"]
    assert len({one.headers["direktiv-actionid"] for one in service.requests}) == 1


K = VariableRef("workflow", "w", "k")


def given(*files: CallFile) -> CallFolder:
    """Return a directory with *files*, whose function leaves variables of the workflow."""
    return CallFolder(files, {"workflow": "w"})


@pytest.mark.parametrize("name", ["../up", "/etc/up", "a/../../up", "", "."])
def test_no_file_leads_out(tmp_path: Path, name: str) -> None:
    with failing("direktiv.internal.error", "leads out of its directory", retryable=False):
        write_files(tmp_path, given(CallFile(K, name)), {K: Variable(b"x")})
    assert list(tmp_path.iterdir()) == []


def test_other_users_may_write(tmp_path: Path) -> None:
    """A container may run as another user than the worker, whatever the worker's umask is."""
    former = os.umask(0o077)
    try:
        write_files(tmp_path, given(CallFile(K, "deep/k")), {K: Variable(b"x")})
    finally:
        os.umask(former)
    found = {path.relative_to(tmp_path).as_posix(): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert found == {"deep": 0o777, "deep/k": 0o644, "out": 0o777, "out/workflow": 0o777}


@pytest.mark.parametrize("replaced", ["out", "out/workflow", "out/workflow/k"])
def test_no_link_is_followed(tmp_path: Path, replaced: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "workflow").mkdir(parents=True)
    (elsewhere / "workflow" / "k").write_text("secret")
    (elsewhere / "k").write_text("secret")
    folder = tmp_path / "folder"
    (folder / replaced).parent.mkdir(parents=True)
    target = {"out": elsewhere, "out/workflow": elsewhere / "workflow", "out/workflow/k": elsewhere / "k"}[replaced]
    (folder / replaced).symlink_to(target)
    assert (folder / "out" / "workflow" / "k").read_text() == "secret"
    assert read_files(folder, given()) == {}


def test_a_pipe_is_no_variable(tmp_path: Path) -> None:
    """Reading it would never end."""
    write_files(tmp_path, given(), {})
    os.mkfifo(tmp_path / "out" / "workflow" / "pipe")
    (tmp_path / "out" / "workflow" / "k").write_bytes(b"")
    assert read_files(tmp_path, given()) == {K: Variable(b"", "text/plain; charset=utf-8")}


@pytest.mark.parametrize("is_directory", [False, True])
def test_too_much_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_directory: bool
) -> None:
    monkeypatch.setattr(folders, "MAX_BYTES", 100)
    write_files(tmp_path, given(), {})
    out = tmp_path / "out" / "workflow"
    (out / "a").write_bytes(b"x" * 60)
    assert len(read_files(tmp_path, given())) == 1
    if is_directory:
        (out / "b").mkdir()
    (out / "b" / "c" if is_directory else out / "b").write_bytes(b"x" * 60)
    with pytest.raises(PayloadTooLarge):
        read_files(tmp_path, given())


@pytest.fixture(params=["data filter", "Python before 3.11.4"])
def _filtering(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether Python can filter what an archive has."""
    if request.param != "data filter":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)


@pytest.mark.usefixtures("_filtering")
def test_an_archive_becomes_files(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "good.tar", "w") as archive:
        archive.add(__file__, arcname="deep/a.py")
        info = archive.gettarinfo(__file__, arcname="run")
        info.mode = 0o4777
        with Path(__file__).open("rb") as opened:
            archive.addfile(info, opened)
    content = (tmp_path / "good.tar").read_bytes()
    (tmp_path / "folder").mkdir()
    write_files(tmp_path / "folder", given(CallFile(K, "k", "tar")), {K: Variable(content)})
    [run] = (tmp_path / "folder").rglob("run")
    assert (run.parent / "deep" / "a.py").read_text() == run.read_text() == Path(__file__).read_text()
    assert run.stat().st_mode & 0o7777 == 0o755


@pytest.mark.usefixtures("_filtering")
@pytest.mark.parametrize("link", [False, True])
def test_an_archive_stays_inside(tmp_path: Path, *, link: bool) -> None:
    with tarfile.open(tmp_path / "evil.tar", "w") as archive:
        if link:
            (tmp_path / "link").symlink_to("/etc")
            archive.add(tmp_path / "link", arcname="evil")
        else:
            archive.add(__file__, arcname="../../evil")
    content = (tmp_path / "evil.tar").read_bytes()
    (tmp_path / "folder").mkdir()
    with pytest.raises(CallFailed, match="cannot be a file of the form 'tar'"):
        write_files(tmp_path / "folder", given(CallFile(K, "k", "tar")), {K: Variable(content)})
    assert not (tmp_path / "evil").exists()


def test_a_folder_that_is_gone_is_not_one_where_nothing_was_left(tmp_path: Path) -> None:
    """A function that leaves nothing is no fault; a shared folder that is away is one."""
    (tmp_path / "call").mkdir()
    write_files(tmp_path / "call", given(), {})
    assert read_files(tmp_path / "call", given()) == {}
    with pytest.raises(CallFailed, match=r"cannot be read: .*No such file"):
        read_files(tmp_path / "away", given())
