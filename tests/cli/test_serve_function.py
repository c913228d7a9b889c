"""`swf serve-function`: calls over real sockets, by the client that workers use."""

import asyncio
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Options, Settings
from tests.cli.conftest import Running, Swf

FUNCTIONS = """\
import asyncio, sys
from pathlib import Path

class Refused(Exception):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code

def answer(given):
    what = given["what"]
    if what == "refuse":
        raise Refused("no money €\\nnone at all", "pay.refused")
    if what == "bug":
        return 1 / 0
    if what == "exit":
        sys.exit("enough")
    if what == "set":
        return {1}
    if what == "bytes":
        return b"\\xff\\x00"
    return {"was": given}

def kind(given):
    return None if given is None else type(given).__name__

def in_folder(given, folder):
    (Path(folder) / "left").write_text(given)
    return sorted(path.name for path in Path(folder).iterdir())

async def waits(given):
    Path(given["begun"]).touch()
    try:
        await asyncio.sleep(600)
    finally:
        Path(given["ended"]).touch()

waiting = None

async def meets(given):
    import threading
    global waiting
    waiting = waiting or threading.Barrier(3)
    await asyncio.to_thread(waiting.wait)
    return given

number = 5
"""
PROGRAM = """\
#!/bin/sh
input=$(cat)
case $1 in
  echo) echo "$input";;
  folder) printf '"%s"' "$(ls $DIREKTIV_TEMP_DIR)";;
  coded) echo '{"code": "pay.refused", "message": "no money"}'; exit 1;;
  fails) echo 'first' >&2; echo 'the last' >&2; exit 3;;
  waits) sleep 600 & echo $! > pid; touch begun; wait;;
  stays) trap '' TERM; touch begun; sleep 600;;
esac
"""


@pytest.fixture(autouse=True)
def files(swf: Swf) -> None:
    swf.write("served.py", FUNCTIONS)
    (swf.folder / swf.write("program", PROGRAM)).chmod(0o755)


Serving = Callable[..., AbstractContextManager[tuple[str, Running]]]


@pytest.fixture
def serving(swf: Swf) -> Serving:
    @contextmanager
    def serve(*arguments: str) -> Iterator[tuple[str, Running]]:
        with swf.running("serve-function", "--port", "0", *arguments, stream="stdout") as running:
            yield running.until("http://").strip(), running

    return serve


async def call(url: str, given: Any, key: str = "1") -> Any:
    functions = Functions(settings=Settings(calls=Options(base_url=url)))
    try:
        operation = {"type": "knative-workflow", "image": "served"}
        return await functions.call(Call(Function("served", "direktiv", operation), given, idempotency_key=key))
    finally:
        await functions.aclose()


async def until_there(path: Path) -> None:
    while not await asyncio.to_thread(path.exists):
        await asyncio.sleep(0.01)


def threads_of(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())


async def test_half_requests_hold_nothing_up(serving: Serving) -> None:
    """They have no thread each: what limits them is the server that all commands share."""
    with serving("served.py:answer") as (url, running), ExitStack() as opened:
        at = ("127.0.0.1", urlsplit(url).port or 0)
        for _ in range(300):
            half = opened.enter_context(socket.create_connection(at))
            half.sendall(b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\nx")
        assert await call(url, {"what": "ever"}) == {"was": {"what": "ever"}}
        assert threads_of(running.process.pid) < 50


async def test_a_body_without_end_is_refused(serving: Serving) -> None:
    with serving("served.py:kind") as (url, _), socket.create_connection(("127.0.0.1", urlsplit(url).port or 0)) as one:
        one.sendall(b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 314572800\r\n\r\n")
        assert (await asyncio.to_thread(one.recv, 100)).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(("headers", "content", "status"), [
    ({"Origin": "https://evil.example", "Content-Type": "text/plain"}, b"1", 403),
    ({"Host": "evil.example"}, b"1", 421),
    ({"Host": "localhost:99"}, b"1", 200),
], ids=["another page", "another name", "this machine"])  # fmt: skip
async def test_requests_that_do_harm(serving: Serving, headers: dict[str, str], content: bytes, status: int) -> None:
    with serving("served.py:kind") as (url, _):
        async with httpx.AsyncClient(trust_env=False) as client:
            request = client.build_request("POST", url, content=content)
            request.headers.update(headers)
            assert (await client.send(request)).status_code == status


async def test_python_function(serving: Serving) -> None:
    with serving("served.py:answer") as (url, running):
        assert await call(url, {"what": "ever"}) == {"was": {"what": "ever"}}
        assert await call(url, {"what": "bytes"}) == "/wA="
        with pytest.raises(CallFailed) as refused:
            await call(url, {"what": "refuse"})
        assert (refused.value.code, refused.value.message) == ("pay.refused", "no money € none at all")
        for what, message in (
            ("bug", "ZeroDivisionError: division by zero"),
            ("exit", "SystemExit: enough"),
            ("set", "the function returned a set, which is neither JSON nor bytes"),
        ):
            with pytest.raises(CallFailed, match=message) as failed:
                await call(url, {"what": what})
            assert (failed.value.code, failed.value.retryable) == ("direktiv.internal.error", False)
        ended = running.stop(signal.SIGINT)
    assert ended.code == 130
    assert "pay.refused: no money" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(("content", "kind"), [(b"", None), (b"[1]", "list"), (b"\xff", "bytes"), (b'"a"', "str")])
async def test_inputs(serving: Serving, content: bytes, kind: str | None) -> None:
    with serving("served:kind") as (url, _):
        async with httpx.AsyncClient() as client:
            assert (await client.post(url, content=content)).json() == kind


async def test_folder_of_a_call(serving: Serving, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "there").touch()
    with serving("served:in_folder") as (url, running):
        async with httpx.AsyncClient() as client:
            named = await client.post(url, json="left behind", headers={"Direktiv-TempDir": str(shared)})
            assert named.json() == ["left", "there"]
            assert (shared / "left").read_text() == "left behind"
            assert (await client.post(url, json="gone")).json() == ["left"]
            elsewhere = await client.post(url, json="", headers={"Direktiv-TempDir": "/not/here"})
            assert "/not/here of this call does not exist" in elsewhere.headers["Direktiv-ErrorMessage"]
            assert "Direktiv-ErrorCode" not in elsewhere.headers
        running.stop(signal.SIGTERM)


async def test_program(serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "there").touch()
    with serving("./program", "echo") as (url, _):
        assert await call(url, {"what": ["ever"]}) == {"what": ["ever"]}
    with serving("./program", "folder") as (url, _):
        async with httpx.AsyncClient() as client:
            answer = await client.post(url, headers={"Direktiv-TempDir": str(tmp_path / "shared")})
        assert answer.json() == "there"
    with serving("--", "sh", "-c", "cat") as (url, _):
        assert await call(url, [1]) == [1]


async def test_program_that_fails(serving: Serving) -> None:
    with serving("program", "coded") as (url, _):
        with pytest.raises(CallFailed) as coded:
            await call(url, {})
        assert (coded.value.code, coded.value.message) == ("pay.refused", "no money")
    with serving("program", "fails") as (url, running):
        with pytest.raises(CallFailed) as failed:
            await call(url, {})
        assert (failed.value.code, failed.value.message) == (
            "direktiv.internal.error", "the program failed: exit code 3 first the last"
        )  # fmt: skip
        assert "the last\n" in running.stop(signal.SIGTERM).err


async def test_a_call_that_is_cancelled_ends_the_program(serving: Serving, swf: Swf) -> None:
    with serving("./program", "waits") as (url, _):
        calling = asyncio.create_task(call(url, {}))
        await until_there(swf.folder / "begun")
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        while is_alive(int((swf.folder / "pid").read_text())):
            await asyncio.sleep(0.01)


async def test_a_call_that_is_cancelled_ends_the_coroutine(serving: Serving, swf: Swf) -> None:
    first = {"begun": str(swf.folder / "begun 1"), "ended": str(swf.folder / "ended 1")}
    other = {"begun": str(swf.folder / "begun 2"), "ended": str(swf.folder / "ended 2")}
    with serving("served.py:waits") as (url, running):
        calls = [asyncio.create_task(call(url, given, given["begun"])) for given in (first, other)]
        await until_there(swf.folder / "begun 1")
        await until_there(swf.folder / "begun 2")
        calls[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await calls[0]
        await until_there(swf.folder / "ended 1")
        assert not (swf.folder / "ended 2").exists()
        running.stop(signal.SIGINT)
        with pytest.raises(CallFailed):
            await calls[1]


async def test_nothing_is_left_of_what_is_under_way(serving: Serving, swf: Swf) -> None:
    with serving("./program", "stays") as (url, running):
        calling = asyncio.create_task(call(url, {}))
        await until_there(swf.folder / "begun")
        ended = await asyncio.to_thread(running.stop, signal.SIGINT)
        with pytest.raises(CallFailed):
            await calling
    assert (ended.code, ended.out) == (130, "")


async def test_several_at_a_time(serving: Serving) -> None:
    with serving("served:meets") as (url, _):
        results = await asyncio.gather(*(call(url, number, str(number)) for number in range(3)))
    assert results == [0, 1, 2]


async def test_requests_that_are_no_calls(serving: Serving) -> None:
    with serving("served:kind") as (url, _):
        async with httpx.AsyncClient() as client:
            assert (await client.get(url)).status_code == 200
            assert (await client.delete(url, headers={"Direktiv-ActionID": "unknown"})).status_code == 404
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2].rstrip("/")))
        writer.write(b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 400 ")
        writer.close()


async def test_input_in_chunks(serving: Serving) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"[1,"
        yield b"2]"

    with serving("cat") as (url, _):
        async with httpx.AsyncClient() as client:
            for _again in range(2):
                assert (await client.post(url, content=chunks())).json() == [1, 2]


def test_taken_port(swf: Swf) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "choose another with --port" in swf.refused(
            "serve-function", "served:answer", "--port", str(taken.getsockname()[1])
        )


def is_alive(pid: int) -> bool:
    ran = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], check=False, capture_output=True, text=True)
    return ran.stdout.strip() not in ("", "Z")
