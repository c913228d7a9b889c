"""`swf dev` and `swf worker` as processes."""

import json
import signal
import socket
from pathlib import Path

import pytest

from tests.cli.conftest import CALLER, HELLO, Dev, Swf, answer_of, free_port

pytestmark = pytest.mark.temporal


def test_reloads_what_changes(swf: Swf, dev: Dev) -> None:
    env = {"TEMPORAL_ADDRESS": dev.address}

    def started() -> str:
        return swf("start", "fresh", "--wait", env=env).out

    file = dev.folder / "fresh.yaml"
    file.write_text(HELLO.replace("id: hello", "id: fresh").replace("Hello ${ .name }!", "one"))
    dev.until("fresh.yaml: serving fresh 1.0")
    assert json.loads(started()) == {"greeting": "one"}
    file.write_text(file.read_text().replace("one", "two").replace('"1.0"', '"0.9"'))
    dev.until("fresh.yaml: serving fresh 0.9")
    assert json.loads(started()) == {"greeting": "two"}
    file.write_text(file.read_text().replace("data:", "dta: {}, data:").replace('"0.9"', '"0.10"'))
    dev.until("fresh.yaml: serving fresh 0.10")
    assert "did you mean 'data'?" in dev.log.read_text()
    file.write_text(file.read_text().replace("end: true", "transition: Nowhere"))
    dev.until("fresh.yaml: has errors; the last valid version is served")
    assert json.loads(started()) == {"greeting": "two"}
    file.write_text("id: [")
    dev.until("error  syntax")
    assert json.loads(started()) == {"greeting": "two"}, "what holds no states any more is a broken definition"
    file.unlink()
    dev.until("fresh.yaml: gone")
    assert swf("start", "fresh", env=env).code == 2


@pytest.mark.parametrize("option", ["--port", "--ui-port"])
def test_taken_port(swf: Swf, option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = swf("dev", "--port", str(free_port()), option, str(port))
    assert ended.code == 2
    assert f"port {port} is taken" in ended.err
    assert f"choose another with {option}" in ended.err
    assert not (swf.folder / ".swf").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="what is always full is a device of Linux")
def test_a_full_disk(swf: Swf) -> None:
    (swf.folder / "a.db.lock").symlink_to("/dev/full")
    ended = swf("dev", "--db", "a.db", "--port", str(free_port()), "--ui-port", str(free_port()))
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith("a.db.lock cannot be written: No space left on device\n  see --db\n")


def test_nothing_to_serve_yet(swf: Swf) -> None:
    (swf.folder / "new").mkdir()
    with swf.running("dev", "new", "--port", str(free_port()), "--ui-port", str(free_port())) as dev:
        dev.until("there is no definition in new that can be served yet")
        dev.until("ready: ")
        swf.write("new/hello.yaml", HELLO)
        dev.until("hello.yaml: serving hello 1.0")
        assert dev.stop(signal.SIGTERM).code == 0


def test_functions_that_change(swf: Swf) -> None:
    """`swf dev` imports functions again when their file, or a module beside it, changes; broken ones are reported."""
    swf.write("defs/caller.yaml", CALLER)
    swf.write("amounts.py", "FACTOR = 2\n")
    functions = "from amounts import FACTOR\n\ndef double(n):\n    return {'doubled': FACTOR * n}\n"
    swf.write("functions.py", functions.replace("double(", "other("))
    port = free_port()
    ports = ["--port", str(port), "--ui-port", str(free_port()), "--gateway-port", "0"]
    env = {"TEMPORAL_ADDRESS": f"127.0.0.1:{port}"}

    def doubled() -> str:
        return swf("start", "caller", "--input", '{"n": 4}', "--wait", env=env).out

    with swf.running("dev", "defs", "--functions", "functions.py", *ports) as dev:
        dev.until("ready: ")
        dev.until("caller.yaml:4:")
        swf.write("functions.py", functions)
        dev.until("the functions have changed: the worker starts again with them")
        assert '"doubled": 8' in doubled()
        swf.write("functions.py", "def double(n:\n")
        dev.until("the functions in functions.py cannot be imported: SyntaxError: ")
        assert '"doubled": 8' in doubled()
        swf.write("functions.py", functions)
        dev.until("the functions have changed")
        swf.write("amounts.py", "FACTOR = 30\n")
        dev.until("the functions have changed")
        assert '"doubled": 120' in doubled()
        assert dev.stop(signal.SIGTERM).code == 0


def test_a_gateway_with_nothing_to_serve_yet(swf: Swf, dev: Dev) -> None:
    (swf.folder / "new").mkdir()
    with swf.running("gateway", "new", "--port", "0", "--address", dev.address) as gateway:
        gateway.until("WARNING there is no definition in new: ")
        swf.write("new/hello.yaml", HELLO)
        gateway.until("INFO serving hello 1.0")
        assert gateway.stop(signal.SIGTERM).code == 0


def test_a_consumer_with_nothing_to_serve(swf: Swf, dev: Dev) -> None:
    (swf.folder / "new").mkdir()
    swf.write("swf.yaml", 'events: {consumers: [{name: all, from: "nats://127.0.0.1:1", subject: orders}]}')
    with swf.running("consume", "new", "--config", "swf.yaml", "--address", dev.address) as consumer:
        consumer.until("WARNING there is no definition: all events are ignored")
        assert consumer.stop(signal.SIGTERM).code == 0


def test_worker(swf: Swf, dev: Dev) -> None:
    health = free_port()
    queue = ["--task-queue", "of-its-own", "--address", dev.address]
    with swf.running("worker", ".", "--functions", "functions.py", "--health", str(health), *queue) as worker:
        worker.until("working for")
        assert answer_of(health, "livez") == 200
        while (status := answer_of(health, "readyz")) != 200:
            assert status == 503
        assert answer_of(health, "elsewhere") == 404
        assert json.loads(swf("start", "caller", "--input", '{"n": 5}', "--wait", *queue).out)["doubled"] == 10
        assert swf("start", "caller", "--id", "fails", "--input", '{"n": "x"}', "--wait", *queue).code == 1
        line = worker.until("that is no number")
        assert "workflow_id=fails activity_type=double attempt=1" in line
        ended = worker.stop(signal.SIGTERM)
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.endswith("stopped\n")
    assert "Traceback" not in ended.err


def test_worker_with_broken_definitions(swf: Swf) -> None:
    swf.write("a.yaml", HELLO.replace("end: true", "transition: Nowhere"))
    swf.write("b.yaml", HELLO.replace("type: inject", "type: injct"))
    ended = swf("worker")
    assert ended.code == 2
    assert "a.yaml:5" in ended.err
    assert "b.yaml:5" in ended.err
    assert ended.err.endswith("nothing was done: 2 problems\n")


def test_worker_tells_warnings(swf: Swf, dev: Dev) -> None:
    swf.write("definitions/hello.yaml", HELLO.replace("end: true", "end: true, compensatedby: Undo"))
    with swf.running("worker", "definitions", "--address", dev.address, "--task-queue", "warned") as worker:
        line = worker.until("compensatedby")
        worker.until("working for")
    assert "definitions/hello.yaml:5:" in line
    assert "unknown-property" in line


@pytest.mark.parametrize(("options", "env"), [(["--known-definitions-only"], "0"), ([], "1"), ([], "")])
def test_a_worker_may_refuse_what_others_bring(swf: Swf, dev: Dev, options: list[str], env: str) -> None:
    is_closed = bool(options) or env == "1"
    swf.write("served/hello.yaml", HELLO)
    swf.write("brought.yaml", HELLO.replace("Hello ${ .name }!", "from elsewhere"))
    queue = ["--task-queue", f"closed-{len(options)}{env}", "--address", dev.address]
    swf.env |= {"SWF_SECRET_STAGE": "test", "SWF_SECRET_KEY": "p8Xz-41Lw-qT9", "SWF_KNOWN_DEFINITIONS_ONLY": env}
    with swf.running("worker", "served", *queue, *options) as worker:
        worker.until("working for")
        for what in ("hello", "served/hello.yaml"):
            ran = swf("start", what, "--input", '{"name": "Ada"}', "--wait", *queue)
            assert json.loads(ran.out) == {"name": "Ada", "greeting": "Hello Ada!"}
        brought = swf("start", "brought.yaml", "--wait", *queue)
        told = worker.stop(signal.SIGTERM).err
    assert "short or common secrets are hidden in results only where they are the whole value: STAGE" in told
    assert ("refusing instances that come with another definition" in told) is is_closed
    assert (brought.code == 1) is is_closed
    assert ("brought.yaml' (SHA-256" in brought.err) is is_closed
