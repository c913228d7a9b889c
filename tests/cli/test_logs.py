"""What `swf worker` and `swf dev` log of instances, and what they do not."""

import json
import re
import signal
from base64 import b64encode
from typing import Any

import pytest

from tests.cli.conftest import HELLO, Dev, Running, Swf, free_port
from tests.cli.test_gateway import asked
from tests.definitions import definition

pytestmark = pytest.mark.temporal

PAYS = definition("""\
id: pays
events: [{name: Paid, type: com.paid, source: shop}]
functions: [{name: pay, type: custom, operation: pay}, {name: flaky, type: custom, operation: flaky}]
retries: [{name: Twice, delay: PT0.01S, maxAttempts: 2}]
states:
  - name: Pay
    type: operation
    actions:
      - {functionRef: {refName: flaky, arguments: {card: "${ .card }"}}, retryRef: Twice}
      - {functionRef: {refName: pay, arguments: {card: "${ .card }"}}}
    transition: Wait
  - {name: Wait, type: event, onEvents: [{eventRefs: [Paid]}], transition: Work it out}
  - {name: Work it out, type: inject, data: {sum: "${ .card + 1 }"}, end: true}
""")
PARENT = definition("""\
id: parent
errors: [{name: Any, code: "*"}]
states:
  - name: Try
    type: operation
    actions: [{subFlowRef: child}]
    onErrors: [{errorRef: Any, transition: Go on}]
    end: true
  - {name: Go on, type: inject, data: {}, end: {continueAs: {workflowId: hello}}}
""")
CHILD = definition('id: child\nstates: [{name: Break, type: inject, data: {a: "${ .card + 1 }"}, end: true}]\n')
FUNCTIONS = """\
from swf_temporal import CallFailed, Registry

registry = Registry()
calls = []


@registry.custom("pay")
def pay(card):
    if card == "4111-none":
        raise CallFailed("GET http://bank/pay?card=4111 answered 402: {}", code=402, status=402, body={"card": card})
    return {"card": card}


@registry.custom("flaky")
def flaky(card):
    calls.append(card)
    if len(calls) % 2:
        raise ConnectionError("nobody there")
    return {}
"""


def lines_of(worker: Running, until: str) -> list[dict[str, Any]]:
    worker.until(until)
    return [json.loads(line) for line in worker.output.splitlines()]


def prepared(swf: Swf) -> None:
    for name, text in (("pays", PAYS), ("parent", PARENT), ("child", CHILD), ("hello", HELLO)):
        swf.write(f"definitions/{name}.yaml", text)
    swf.write("functions.py", FUNCTIONS)


def test_what_happens_to_instances(swf: Swf, dev: Dev) -> None:
    prepared(swf)
    queue = ["--task-queue", "logged", "--address", dev.address]
    with swf.running("worker", "definitions", "--functions", "functions.py", *queue) as worker:
        worker.until("working for")
        swf("start", "hello", "--id", "greets", "--wait", *queue)
        assert "INFO started hello 1.0 workflow_id=greets\n" in worker.until("started hello")
        assert "INFO completed hello 1.0 workflow_id=greets\n" in worker.until("completed")

        swf("start", "pays", "--id", "broke", "--input", '{"card": "4111-none"}', "--wait", *queue)
        again = worker.until("call of 'flaky'")
        assert "INFO call of 'flaky' failed, tried again after 10 ms: ConnectionError: nobody there" in again
        assert again.endswith(" workflow_id=broke activity_type=flaky attempt=1\n")
        assert "WARNING call of 'pay' failed: CallFailed 402: " in worker.until("call of 'pay'")
        failed = worker.until("failed pays")
        assert " ERROR failed pays 1.0: CallFailed 402 in state 'Pay', action 'pay': " in failed

        swf("start", "pays", "--id", "leaves", "--input", '{"card": "4111-some"}', *queue)
        worker.until("started pays")
        swf("cancel", "leaves", "--address", dev.address)
        assert re.search(r"INFO cancelled pays 1\.0: \S+ workflow_id=leaves\n", worker.until("cancelled"))  # by whom

        swf("start", "parent", "--id", "ancestor", "--input", '{"card": "4111-child"}', *queue)
        broken = worker.until("failed child")
        assert "WARNING failed child 1.0: ExpressionFailed in state 'Break': ${ .card + 1 } " in broken
        assert " workflow_id=ancestor/" in broken
        assert "INFO continued parent 1.0 as hello workflow_id=ancestor\n" in worker.until("continued")
        worker.until("completed hello")
        ended = worker.stop(signal.SIGTERM)
    assert "4111" not in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("options", [["--log-level", "debug"], []], ids=["the level debug", "SWF_DEBUG"])
def test_no_level_shows_data(swf: Swf, dev: Dev, options: list[str]) -> None:
    """Neither what the SDK sends to its server nor the headers of services."""
    prepared(swf)
    if not options:
        swf.env["SWF_DEBUG"] = "1"
    queue = ["--task-queue", f"debug-{len(options)}", "--address", dev.address]
    with swf.running("worker", "definitions", "--functions", "functions.py", *queue, *options) as worker:
        worker.until("working for")
        swf("start", "pays", "--id", f"debug-{len(options)}", "--input", '{"card": "4111-none"}', "--wait", *queue)
        worker.until("failed pays")
        ended = worker.stop(signal.SIGTERM)
    assert "DEBUG" in worker.output + ended.err
    assert "4111" not in worker.output + ended.err


def test_json_and_no_line_twice(swf: Swf, dev: Dev) -> None:
    """Each line is an object with facts of its own; nothing is told again by the worker that takes an instance over."""
    prepared(swf)
    queue = ["--task-queue", "logged-json", "--address", dev.address]
    command = ["worker", "definitions", "--functions", "functions.py", "--log-format", "json", *queue]
    with swf.running(*command, "--log-level", "debug") as first:
        first.until("working for")
        swf("start", "pays", "--id", "moves", "--input", '{"card": "4111-some"}', *queue)
        first.until('"event": "event-awaited"')
        swf("start", "pays", "--id", "refused", "--input", '{"card": "4111-none"}', *queue)
        lines = lines_of(first, '"event": "action-failed"')
        first.stop(signal.SIGTERM)
    refused = next(line for line in lines if line.get("event") == "action-failed")
    assert refused.items() >= {"level": "debug", "function": "pay", "error": "CallFailed", "code": "402"}.items()
    started = next(line for line in lines if line.get("event") == "started")
    assert started.items() >= {
        "level": "info", "logger": "swf.instance", "message": "started pays 1.0", "workflow_id": "moves",
        "workflow_type": "pays", "version": "1.0",
    }.items()  # fmt: skip
    assert {"time", "run_id"} <= started.keys()
    assert "state-entered" in {line.get("event") for line in lines}

    with swf.running(*command, "--log-level", "debug") as second:
        second.until("working for")
        swf("event", "moves", "--name", "Paid", "--data", '{"secret": 4111}', "--address", dev.address)
        lines += lines_of(second, '"event": "failed"')
    failed = lines[-1]
    assert failed.items() >= {
        "level": "error", "workflow_id": "moves", "error": "ExpressionFailed", "state": "Work it out",
        "message": "failed pays 1.0: ExpressionFailed in state 'Work it out': ${ .card + 1 }",
    }.items()  # fmt: skip
    ours = [line for line in lines if line.get("workflow_id") == "moves"]
    told = [(line["event"], line.get("state"), line.get("name")) for line in ours]
    assert len(told) == len(set(told)), told
    assert "4111" not in json.dumps(lines)


def test_level(swf: Swf, dev: Dev) -> None:
    prepared(swf)
    swf.env |= {"SWF_LOG_LEVEL": "warning", "SWF_LOG_FORMAT": "json"}
    queue = ["--task-queue", "logged-little", "--address", dev.address]
    with swf.running("worker", "definitions", "--functions", "functions.py", *queue) as worker:
        swf("start", "hello", "--wait", *queue)
        swf("start", "pays", "--id", "broke", "--input", '{"card": "4111-none"}', "--wait", *queue)
        (call, failed) = lines_of(worker, '"event": "failed"')
    assert [call["level"], failed["level"]] == ["warning", "error"]
    assert call.items() >= {"event": "call failed", "function": "pay", "attempt": 1, "status": 402}.items()


def test_dev_logs_too(swf: Swf) -> None:
    swf.write("definitions/hello.yaml", HELLO)
    port = free_port()
    ports = ["--port", str(port), "--ui-port", str(free_port())]
    with swf.running("dev", "definitions", *ports, "--log-format", "json") as dev:
        dev.until("ready: ")
        swf("start", "hello", "--id", "greets", "--wait", "--address", f"127.0.0.1:{port}")
        dev.until("completed hello")
        ended = dev.stop(signal.SIGTERM)
    messages = [json.loads(line)["message"] for line in ended.err.splitlines()]
    assert messages[0] == "definitions/hello.yaml: serving hello 1.0"
    assert messages[1].startswith("ready: console http://")
    assert f"/console, server 127.0.0.1:{port}, UI " in messages[1]
    assert messages[2:] == ["started hello 1.0", "completed hello 1.0", "stopping the server"]


def test_what_listens_logs_as_the_variables_say(swf: Swf, dev: Dev) -> None:
    """Every line of a gateway, from its first warning on, and of a codec server is an object with time and level."""
    for name, text in (("parent", PARENT), ("child", CHILD), ("broken", definition("id: broken\nstates: []\n"))):
        swf.write(f"definitions/{name}.yaml", text)
    swf.write("swf.yaml", "encryption: {key: one, keys: {one: env:KEY}}\n")
    swf.env["KEY"] = b64encode(b"k" * 32).decode()
    swf.env["SWF_LOG_FORMAT"] = "json"
    at = ["--port", "0", "--address", dev.address]
    with swf.running("gateway", "definitions/parent.yaml", *at, stream="stdout") as gateway:
        url = gateway.until("http://").strip()
        assert asked(f"{url}/workflows/nobody", {})[0] == 404
        of_gateway = gateway.stop(signal.SIGTERM)
    with swf.running("codec-server", "--config", "swf.yaml", "--port", "0", stream="stdout") as server:
        url = server.until("http://").strip()
        assert asked(f"{url}/decode", {"payloads": "none"})[0] == 400
        of_server = server.stop(signal.SIGTERM)
    for ended in (of_gateway, of_server):
        url, *lines = ended.err.splitlines()  # what was read before is there, too
        assert url.startswith("http://")
        assert [{"time", "level", "message"} <= json.loads(line).keys() for line in lines] == [True] * len(lines)
        assert '"level": "warning"' in lines[0]
    assert "definitions/broken.yaml is left out" in of_gateway.err


def test_files(swf: Swf, dev: Dev) -> None:
    swf.write("definitions/hello.yaml", HELLO)
    swf.write("other/orders.txt", HELLO.replace("id: hello", "id: orders"))
    queue = ["--task-queue", "of-files", "--address", dev.address]
    files = ["definitions/hello.yaml", "other/orders.txt", "definitions"]
    with swf.running("worker", *files, *queue) as worker:
        worker.until("working for")
        assert worker.output.count("serving hello 1.0 from definitions/hello.yaml") == 1
        assert json.loads(swf("start", "orders", "--wait", *queue).out) == {"greeting": "Hello null!"}
    missing = swf("worker", "definitions", "nowhere.yaml", *queue)
    assert (missing.code, missing.err) == (2, "error: nowhere.yaml cannot be read: No such file or directory\n")
