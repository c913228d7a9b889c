"""Functions in containers are given files, and what they leave becomes variables, also where workers are killed."""

import asyncio
import io
import logging
import os
import socket
import subprocess
import sys
import tarfile
import threading
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from temporalio import activity

from swf_temporal.base.client_errors import RunEnded
from swf_temporal.base.errors import StoreUnavailable
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.sdk.worker import Worker
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.forms import SharedFolder
from swf_temporal.settings.values import Address
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal import activities, host
from swf_temporal.temporal.variables import MAX_BYTES, TemporalVariables
from tests.containers import MOUNTED, Asked, Container, Function, Refused, container
from tests.processes import ending_with_us
from tests.temporal.conftest import Bench, events_of, until

State = dict[str, Any]
PATIENCE = 60
QUEUE = "containers"
"""One for all: the variables of the namespace are held where the first of them was written."""


FUNCTIONS: list[State] = [{"type": "reusable", "id": "f", "image": "an/image:v1"}]


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Path]:
    with shared_folder(tmp_path / "shared") as folder:
        yield folder


def call(*files: dict[str, str], **more: Any) -> State:
    return {"id": "call", "type": "action", "action": {"function": "f", "files": list(files)}, **more}


def get(*variables: str) -> State:
    named = [dict(zip(("scope", "key"), one.split("/"), strict=True)) for one in variables]
    return {"id": "get", "type": "getter", "variables": named}


def workflow(name: str, states: Sequence[State]) -> dict[str, Any]:
    following = [one["id"] for one in states[1:]]
    ways = [{"transition": one} for one in following] + [{}]
    led = [{**one, **way} for one, way in zip(states, ways, strict=True)]
    return {"id": name, "functions": FUNCTIONS, "states": led}


@dataclass
class Served:
    client: Client
    name: str
    function: Container

    async def run(self) -> Any:
        instance = await self.client.start(self.name, {}, task_queue=QUEUE)
        return await instance.result()


@asynccontextmanager
async def serving(
    bench: Bench, whole: dict[str, Any], folder: Path, function: Function, endpoint: Address | None = None, **more: Any
) -> AsyncIterator[Served]:
    """Serve a workflow whose function shares *folder*, unless the test gives options."""
    with container(folder, function) as served:
        options = more.get("options", Options(shared_folder=SharedFolder(str(folder), MOUNTED)))
        client = Client.of(bench.server)
        worker = Worker(
            client, definitions=[load(whole)], settings=WorkerSettings(task_queue=QUEUE, container_endpoint=endpoint),
            call_settings=Settings(services={"an/image": options.replace(base_url=served.url)}),
        )  # fmt: skip
        async with worker:
            yield Served(client, whole["id"], served)


def out(asked: Asked) -> Path:
    assert asked.folder is not None
    return asked.folder / "out"


async def test_files_are_given_and_become_variables(bench: Bench, shared: Path) -> None:
    """Variables of all scopes are files of all forms, and those of all scopes become variables. Links do not."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        entry = tarfile.TarInfo("leaf")
        entry.size = 5
        archive.addfile(entry, io.BytesIO(b"green"))
    text, octets = {"mimeType": "text/plain"}, {"mimeType": "application/octet-stream"}
    given = [
        {"key": "words", "scope": "instance", "value": "a word", **text},
        {"key": "coded", "scope": "workflow", "value": "aGVsbG8=", **text},
        {"key": "packed", "scope": "namespace", "value": b64encode(packed.getvalue()).decode(), **octets},
    ]
    files = [
        {"key": "words", "as": "deep/words.txt"},
        {"key": "coded", "type": "base64", "scope": "workflow"},
        {"key": "packed", "type": "tar.gz", "scope": "namespace"},
        {"key": "missing", "type": "plain"},
    ]
    seen: dict[str, bytes] = {}

    def function(asked: Asked) -> str:
        assert asked.folder is not None
        found = (path for path in asked.folder.rglob("*") if path.is_file())
        seen.update({path.relative_to(asked.folder).as_posix(): path.read_bytes() for path in found})
        (out(asked) / "workflow" / "n").write_text("[1]")
        (out(asked) / "namespace" / "left").write_text("hello")
        (out(asked) / "instance" / "raw").write_bytes(b"\xff")
        (out(asked) / "instance" / "tree").mkdir()
        (out(asked) / "instance" / "tree" / "leaf").write_text("brown")
        (out(asked) / "instance" / "link").symlink_to("/etc/passwd")
        return "done"

    read = {"key": "tree", "as": "tree", "type": "tar.gz"}
    states = [
        {"id": "set", "type": "setter", "variables": given},
        call(*files),
        get("workflow/n", "namespace/left", "instance/raw", "instance/link"),
        {**call(read), "id": "again"},
    ]
    async with serving(bench, workflow("containers-files", states), shared, function) as served:
        output = await served.run()
        first, again = served.function.posts
    assert {name: seen[name] for name in ("deep/words.txt", "coded", "packed/leaf", "missing")} == {
        "deep/words.txt": b"a word", "coded": b"hello", "packed/leaf": b"green", "missing": b"",
    }  # fmt: skip
    assert seen["tree/leaf"] == b"brown"
    assert output["return"] == "done"
    assert output["var"] == {"n": [1], "left": b64encode(b"hello").decode(), "raw": "/w==", "link": None}
    name = sha256(unquote(first.headers["Idempotency-Key"]).encode()).hexdigest()[:32]
    assert first.headers["Direktiv-TempDir"] == f"{MOUNTED}/{name}-1"
    assert len({name, first.action_id, again.action_id}) == 3, "an id follows from nothing that others see"


async def test_an_error_keeps_what_was_left(bench: Bench, shared: Path) -> None:
    def function(asked: Asked) -> None:
        (out(asked) / "workflow" / "n").write_text("7")
        raise Refused("f.refused", "no")

    states = [call(catch=[{"error": "f.refused", "transition": "get"}]), get("workflow/n")]
    async with serving(bench, workflow("containers-error", states), shared, function) as served:
        output = await served.run()
    assert output == {"error": {"code": "f.refused", "msg": "no"}, "var": {"n": 7}}


async def test_contents_are_in_no_history(bench: Bench, shared: Path) -> None:
    """What files hold is read and written where variables are held, and so does not travel with the instance."""

    def function(asked: Asked) -> int:
        given = b"" if asked.folder is None else (asked.folder / "large").read_bytes()
        (out(asked) / "workflow" / "large").write_bytes(b"x" * 500_000)
        return len(given)

    states = [
        call({"key": "large", "scope": "workflow"}),
        {**call({"key": "large", "scope": "workflow"}), "id": "again"},
    ]
    async with serving(bench, workflow("containers-large", states), shared, function) as served:
        instance = await served.client.start("containers-large", {}, task_queue=QUEUE)
        assert await instance.result() == {"return": 500_000}
        handle = bench.handle(instance.id)
        assert sum(event.ByteSize() for event in await events_of(handle)) < 50_000


async def test_an_asynchronous_call_leaves_variables(bench: Bench, shared: Path) -> None:
    """They are those of the instance that made the call, which does not wait for it."""
    left = threading.Event()

    def function(asked: Asked) -> None:
        (out(asked) / "instance" / "n").write_text("7")
        left.set()

    own: State = {
        "id": "own", "type": "switch", "conditions": [{"condition": "jq(.var.n == null)", "transition": "rest"}],
        "defaultTransition": "done",
    }  # fmt: skip
    rest: State = {"id": "rest", "type": "delay", "duration": "PT1S"}
    states = [{**call(), "async": True}, rest, get("instance/n"), own, {"id": "done", "type": "noop"}]
    whole = workflow("containers-async", states)
    whole["states"][3].pop("transition")
    async with serving(bench, whole, shared, function) as served:
        assert await served.run() == {"var": {"n": 7}}
    assert left.is_set()


async def test_files_need_a_folder(bench: Bench, shared: Path) -> None:
    states = [call({"key": "k"}, catch=[{"error": "NoSharedFolder"}])]
    async with serving(bench, workflow("containers-none", states), shared, lambda _: None, options=Options()) as served:
        output = await served.run()
        assert served.function.requests == []
    assert "'functions: {\"f\": {sharedFolder: …}}'" in output["error"]["msg"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([{"key": "k", "as": "../up"}], "leads out of its directory"),
        ([{"key": "k", "as": "same"}, {"key": "k", "as": "same"}], "two files of a function have the name 'same'"),
        ([{"key": "k", "type": "tar"}], "cannot be a file of the form 'tar'"),
    ],
    ids=["outside", "twice", "no archive"],
)
async def test_what_cannot_be_a_file_is_an_internal_error(
    bench: Bench, shared: Path, files: list[dict[str, str]], message: str
) -> None:
    name = f"containers-wrong-{len(files)}-{files[0].get('type', '')}"
    given = {"id": "set", "type": "setter", "variables": [{"key": "k", "scope": "instance", "value": "x"}]}
    async with serving(bench, workflow(name, [given, call(*files)]), shared, lambda _: None) as served:
        with pytest.raises(RunEnded, match=message) as failed:
            await served.run()
        assert served.function.requests == []
    assert failed.value.name == "direktiv.internal.error"


async def test_what_a_scope_cannot_hold_fails_for_good(bench: Bench, shared: Path) -> None:
    def function(asked: Asked) -> None:
        (out(asked) / "workflow" / "n").write_bytes(b"x" * (MAX_BYTES + 1))

    async with serving(bench, workflow("containers-full", [call(catch=[{"error": "*"}])]), shared, function) as served:
        with pytest.raises(RunEnded) as failed:
            await served.run()
    assert failed.value.name == "PayloadTooLarge"


async def test_a_call_is_made_again_where_variables_cannot_be_reached(bench: Bench) -> None:
    """That is no error of the function, and nothing that a definition could catch."""
    attempts: list[Any] = []

    def function(given: Any) -> int:
        attempts.append(given)
        if len(attempts) == 1:
            raise StoreUnavailable("it does not answer")
        return 7

    definition = load(workflow("containers-unavailable", [call(catch=[{"error": "*"}])]))
    async with bench.worker(definition, f=function) as running:
        assert await running.run({}) == {"return": 7}
    assert attempts == [{}, {}]


async def test_an_unwanted_call_leaves_nothing(bench: Bench, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The function is told by a DELETE; its directory goes, and what it had left does not count."""
    for module in (activities, host):
        monkeypatch.setattr(module, "HEARTBEAT", timedelta(seconds=2))  # by which it hears of that
    ended = threading.Event()

    def function(asked: Asked) -> None:
        (out(asked) / "workflow" / "n").write_text("7")
        assert ended.wait(PATIENCE)

    states = [call(timeout="PT1S", catch=[{"error": "*timeout*", "transition": "get"}]), get("workflow/n")]
    async with serving(bench, workflow("containers-ended", states), shared, function) as served:
        output = await served.run()
        async with httpx.AsyncClient() as client:  # until the worker has told the function
            while len(served.function.requests) < 2:
                await client.get(served.function.url)
        ended.set()
    assert output["var"] == {"n": None}
    assert [one.method for one in served.function.requests] == ["POST", "DELETE"]
    assert len({one.action_id for one in served.function.requests}) == 1


async def test_a_lost_attempt_ends_no_other(bench: Bench, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that was cut off is told that nobody waits for its attempt; another one has the same id by then."""
    begun: list[Asked] = []
    over = threading.Event()

    def function(asked: Asked) -> None:
        begun.append(asked)
        assert over.wait(PATIENCE)

    @contextmanager
    def beating(_: object) -> Iterator[None]:
        is_first = activity.info().attempt == 1

        async def beat() -> None:
            while True:
                await asyncio.sleep(0.2)
                if not is_first or len(begun) > 1:
                    activity.heartbeat()

        beats = asyncio.create_task(beat())
        try:
            yield
        finally:
            beats.cancel()
            if is_first:
                over.set()

    monkeypatch.setattr(activities, "_beating", beating)
    monkeypatch.setattr(host, "HEARTBEAT", timedelta(seconds=2))
    async with serving(bench, workflow("containers-lost", [call()]), shared, function) as served:
        await served.run()
    assert [one.method for one in served.function.requests] == ["POST", "POST"]
    assert len({one.action_id for one in served.function.requests}) == 1


async def test_a_function_asks_its_worker(bench: Bench, shared: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It reads and writes variables, and writes lines of the log, for as long as it is called."""
    caplog.set_level(logging.INFO, "swf.function")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = Address("127.0.0.1", free.getsockname()[1])
    told: dict[str, Any] = {}

    def function(asked: Asked) -> str:
        with httpx.Client(base_url=f"http://{address}", params={"aid": asked.action_id}) as worker:
            shown = {"key": "shown", "scope": "workflow"}
            missing = worker.get("/var", params=shown)
            written = worker.post("/var", params=shown, content=b"[1]", headers={"Content-Type": "application/json"})
            text = {"Content-Type": "text/plain"}
            worker.post("/var", params={"key": "own"}, content="déjà", headers=text)
            worker.post("/var", params={"key": "own", "scope": "namespace"}, content=b"\xff")
            found = worker.get("/var", params={"key": "own", "scope": "instance"})
            told["answers"] = [
                (missing.status_code, missing.content),
                (written.status_code, written.content),
                (found.status_code, found.text, found.headers["Content-Type"]),
            ]
            told["refused"] = [
                worker.get("/var", params={"key": "own", "scope": "thread"}).status_code,
                worker.get("/var").status_code,
                worker.put("/var", params={"key": "own"}).status_code,
                worker.get("/var", params={"aid": "another", "key": "own"}).status_code,
                worker.get("/log", params={"aid": "another", "log": "no"}).status_code,
                worker.post("/var", params={"key": "own"}, content=iter([b"x" * (MAX_BYTES + 1)])).status_code,
                _refused_before_it_is_sent(address, f"/log?aid={asked.action_id}", 4 * 1024 * 1024 + 1),
            ]
            worker.get("/log", params={"log": "by a parameter"})
            worker.post("/log", content="by a body\nof two lines")
        return asked.action_id

    states = [call(), get("workflow/shown", "instance/own", "namespace/own")]
    states[1]["variables"][2]["as"] = "raw"
    async with serving(bench, workflow("containers-asks", states), shared, function, address) as served:
        instance = await served.client.start(served.name, {}, task_queue=QUEUE)
        output: Any = await instance.result()
        async with httpx.AsyncClient(base_url=f"http://{address}") as client:
            late = await client.get("/log", params={"aid": output["return"], "log": "late"})
    assert told["answers"] == [(200, b""), (200, b""), (200, "déjà", "text/plain")]
    assert told["refused"] == [400, 400, 405, 404, 404, 413, 413]
    assert output["var"] == {"shown": [1], "own": b64encode("déjà".encode()).decode(), "raw": "/w=="}
    assert late.status_code == 404
    lines = [record.getMessage() for record in caplog.records if record.name == "swf.function"]
    assert [line.rpartition(" [")[0] for line in lines] == ["f: by a parameter", "f: by a body\\nof two lines"]
    assert all(f"[{instance.id}/" in line for line in lines)


def _refused_before_it_is_sent(address: Address, path: str, size: int) -> int:
    with socket.create_connection((address.host, address.port)) as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {size}\r\n\r\n".encode())
        return int(connection.recv(1024).split()[1])


ROOT = Path(__file__).parents[2]
LONG_PATIENCE = 120
"""Seconds for processes to start, on a machine that is busy."""
FUNCTION = """\
import os, pathlib, time

def f(given, folder):
    marker = pathlib.Path(os.environ["MARKER"])
    left = folder / "out" / "workflow" / "n"
    if marker.exists():
        left.write_text("5")
        return "done"
    left.write_text("1")
    marker.touch()
    time.sleep(600)
"""


@contextmanager
def shared_folder(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


def counting(name: str) -> Definition:
    """Return a workflow whose function is given a variable of the workflow, and which gets it afterwards."""
    codes = ["ConnectionLost", "ConnectionRefused", "ProtocolError"]
    retries = {"max_attempts": 100, "delay": "PT1S", "codes": codes}
    action = {"function": "f", "files": [{"key": "n", "scope": "workflow"}], "retries": retries}
    get = {"id": "get", "type": "getter", "variables": [{"key": "n", "scope": "workflow"}]}
    call = {"id": "call", "type": "action", "action": action, "transition": "get"}
    return load({"id": name, "functions": [{"type": "reusable", "id": "f", "image": "i"}], "states": [call, get]})


@contextmanager
def process(*command: str, **env: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a process that says when it is ready; it is killed in the end, if it was not before."""
    started = subprocess.Popen(
        [*ending_with_us(), *command], cwd=ROOT, stdout=subprocess.PIPE, env={**os.environ, **env}
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


async def told(started: "subprocess.Popen[bytes]") -> str:
    assert started.stdout is not None
    line = await asyncio.wait_for(asyncio.to_thread(started.stdout.readline), LONG_PATIENCE)
    return line.decode().strip()


@contextmanager
def worker(bench: Bench, queue: str, folder: Path, url: str, *stopping: str) -> Iterator["subprocess.Popen[bytes]"]:
    address = bench.client.service_client.config.target_host
    command = (sys.executable, "-m", "tests.temporal.container_worker", address, queue, str(folder), url, *stopping)
    with process(*command) as started:
        yield started


@pytest.mark.timeout(300)
async def test_workers_are_killed(bench: Bench, tmp_path: Path) -> None:
    """During a call, and after what it left was stored, side by side."""
    with shared_folder(tmp_path / "during") as one, shared_folder(tmp_path / "after") as other:
        await asyncio.gather(_killed_during_a_call(bench, one), _killed_after_it_stored(bench, other))


async def _killed_during_a_call(bench: Bench, shared: Path) -> None:
    """Another one makes the call again, with the same id and the same files. Of the first attempt nothing is left."""
    definition, queue = counting("lost-during"), "lost-during"
    asked, over = threading.Event(), threading.Event()
    seen: list[tuple[str, list[str]]] = []

    def function(one: Asked) -> str:
        assert one.folder is not None
        seen.append(((one.folder / "n").read_text(), [path.name for path in shared.iterdir()]))
        (one.folder / "out" / "workflow" / "n").write_text(str(len(seen)))
        if len(seen) == 1:
            asked.set()
            over.wait(LONG_PATIENCE)
        return "done"

    with container(shared, function) as served, worker(bench, queue, shared, served.url) as first:
        try:
            assert await told(first) == "ready"
            instance = await Client.of(bench.server).start(definition, {}, task_queue=queue)
            assert await asyncio.to_thread(asked.wait, LONG_PATIENCE)
            with worker(bench, queue, shared, served.url) as second:
                assert await told(second) == "ready"
                first.kill()
                output = await asyncio.wait_for(instance.result(), LONG_PATIENCE)
        finally:
            over.set()
    assert output == {"return": "done", "var": {"n": 2}}
    (_, [begun]), (_, [again]) = seen
    assert (begun[-2:], again) == ("-1", f"{begun[:-1]}2")
    assert len({one.headers["Idempotency-Key"] for one in served.posts}) == 1


async def _killed_after_it_stored(bench: Bench, shared: Path) -> None:
    """The call is made again, and does not store again: what was stored since stays."""
    definition, queue = counting("lost-after"), "lost-after"
    given: list[str] = []

    def function(one: Asked) -> str:
        assert one.folder is not None
        given.append((one.folder / "n").read_text())
        (one.folder / "out" / "workflow" / "n").write_text(str(int(given[-1] or 0) + 1))
        return f"call {len(given)}"

    with container(shared, function) as served, worker(bench, queue, shared, served.url, "stopping") as first:
        assert await told(first) == "ready"
        instance = await Client.of(bench.server).start(definition, {}, task_queue=queue)
        assert await told(first) == "stored"
        first.kill()
        with worker(bench, queue, shared, served.url) as second:
            assert await told(second) == "ready"
            store, n = TemporalVariables(bench.client, queue), VariableRef("workflow", "lost-after", "n")
            assert await store.read_variable(n) == Variable(b"1")
            await store.write_variables({n: Variable(b"7")}, "another")
            output: Any = await asyncio.wait_for(instance.result(), LONG_PATIENCE)
    assert output == {"return": "call 2", "var": {"n": 7}}
    assert given[0] == ""
    assert given[1] in {"1", "7"}  # whichever it held when the second attempt began


@pytest.fixture
async def local(bench: Bench, tmp_path: Path) -> AsyncIterator[tuple[Client, str]]:
    """A worker in this process, and the port at which it calls the function."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        unused_port = free.getsockname()[1]
    client, settings = Client.of(bench.server), WorkerSettings(task_queue="lost-function")
    with shared_folder(tmp_path / "shared") as folder:
        options = Options(shared_folder=SharedFolder(str(folder), str(folder)))
        call_settings = Settings(calls=options.replace(base_url=f"http://127.0.0.1:{unused_port}/"))
        async with Worker(client, settings=settings, call_settings=call_settings):
            yield client, str(unused_port)


@pytest.mark.timeout(300)
async def test_a_function_is_killed_during_a_call(local: tuple[Client, str], tmp_path: Path) -> None:
    """The call fails, what it had left is not stored, and the definition's retries call the function that follows."""
    client, port = local
    file, marker = tmp_path / "functions.py", tmp_path / "called"
    file.write_text(FUNCTION)
    command = (str(Path(sys.executable).with_name("swf")), "serve-function", f"{file}:f", "--port", port)
    with process(*command, MARKER=str(marker)) as first:
        assert (await told(first)).startswith("http://")
        instance = await client.start(counting("lost-function"), {}, task_queue="lost-function")
        await until(marker.exists)
        first.kill()
    with process(*command, MARKER=str(marker)) as second:
        assert (await told(second)).startswith("http://")
        output = await asyncio.wait_for(instance.result(), LONG_PATIENCE)
    assert output == {"return": "done", "var": {"n": 5}}
