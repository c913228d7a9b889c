"""The server that a command embeds: whose it is, and when it ends."""

import base64
import json
import re
import secrets
import signal

import httpx
import pytest

from tests.cli.conftest import COMMAND, PATIENCE, Running, Swf, free_port, listens, until
from tests.definitions import definition

pytestmark = pytest.mark.temporal

SLEEPER = definition("id: sleeper\nstates: [{name: Nap, type: sleep, duration: PT1H, end: true}]\n")


def until_nothing_listens(port: int) -> None:
    until(lambda: not listens(port))


def kill(running: Running) -> None:
    running.process.kill()
    running.process.wait(PATIENCE)


def dev_on(port: int, *more: str) -> list[str]:
    return ["dev", "definitions", "--port", str(port), "--ui-port", str(free_port()), *more]


def test_ends_with_a_run_that_is_killed(swf: Swf) -> None:
    """The server that `swf run` starts is gone when that is killed, though nobody told it."""
    swf.write("sleeper.yaml", SLEEPER)
    with swf.running("run", "sleeper.yaml", command=COMMAND) as run:
        run.until("sleeping PT1H")
        port = int(re.findall(r"127\.0\.0\.1:(\d+)", run.output)[0])
        assert listens(port)
        kill(run)
    until_nothing_listens(port)


def test_one_dev_on_a_database(swf: Swf) -> None:
    (swf.folder / "definitions").mkdir()
    port = free_port()
    with swf.running(*dev_on(port), command=COMMAND) as first:
        first.until("ready: ")
        second = swf(*dev_on(free_port()))
        on_the_same_port = swf(*dev_on(port))
        elsewhere = swf.running(*dev_on(free_port(), "--db", "other/temporal.db"))
        with elsewhere as third:
            third.until("ready: ")
            assert third.stop(signal.SIGTERM).code == 0
        assert first.stop(signal.SIGTERM).code == 0
    for refused in (second, on_the_same_port):
        assert (refused.code, refused.out) == (2, "")
        match = re.search(
            r"^error: \.swf/temporal\.db is in use by process (\d+), whose server is at (\S+) since 20\S+ \S+\n"
            r"  stop that one, or name another database with --db\n\Z",
            refused.err,
            re.MULTILINE,
        )
        assert match is not None, refused.err
        assert (int(match[1]), match[2]) == (first.process.pid, f"127.0.0.1:{port}")
    assert (swf.folder / ".swf" / ".gitignore").read_text() == "*\n"
    assert not (swf.folder / "other" / ".gitignore").exists()


def test_a_killed_dev_is_no_obstacle(swf: Swf) -> None:
    swf.write("definitions/sleeper.yaml", SLEEPER)
    port = free_port()
    with swf.running(*dev_on(port)) as first:
        first.until("ready: ")
        started = swf("start", "sleeper", "--id", "asleep", "--address", f"127.0.0.1:{port}")
        assert started.code == 0, started.err
        kill(first)
    with swf.running(*dev_on(port)) as second:
        second.until("ready: ")
        status = swf("status", "asleep", "--output", "json", "--address", f"127.0.0.1:{port}")
        assert json.loads(status.out)["status"] == "running"
        assert second.stop(signal.SIGTERM).code == 0
    until_nothing_listens(port)


def test_the_ui_reads_what_is_encrypted(swf: Swf) -> None:
    """The UI is told of a codec server, which decrypts for pages of that UI, and for no others."""
    swf.write("definitions/hello.yaml", (swf.folder / "hello.yaml").read_text())
    swf.write("key", base64.b64encode(secrets.token_bytes(32)).decode())
    (swf.folder / "key").chmod(0o600)
    swf.write("swf.yaml", "encryption: {key: a, keys: {a: 'file:key'}}")
    port = free_port()
    with swf.running(*dev_on(port, "--config", "swf.yaml")) as dev:
        dev.until("ready: ")
        ui = re.findall(r"UI (http://[^\s,]+)", dev.output)[0]
        codec = httpx.get(f"{ui}/api/v1/settings").json()["Codec"]["Endpoint"]
        plain = {
            "metadata": {"encoding": base64.b64encode(b"json/plain").decode()},
            "data": base64.b64encode(b'{"card": "4711"}').decode(),
        }
        encoded = httpx.post(f"{codec}/encode", json={"payloads": [plain]}, headers={"Origin": ui}).json()
        assert b"4711" not in base64.b64decode(encoded["payloads"][0]["data"])
        decoded = httpx.post(f"{codec}/decode", json=encoded, headers={"Origin": ui})
        assert decoded.json() == {"payloads": [plain]}
        assert decoded.headers["Access-Control-Allow-Origin"] == ui
        elsewhere = httpx.post(f"{codec}/decode", json=encoded, headers={"Origin": "https://other.example.com"})
        assert elsewhere.status_code == 403
        stopped = dev.stop(signal.SIGTERM)
    assert stopped.code == 0
    assert "decoded" not in stopped.err
