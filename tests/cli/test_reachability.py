"""Servers that go away, permit nothing, or tell of statuses that the SDK has no word for."""

import importlib
import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflow.v1 import WorkflowExecutionInfo
from temporalio.api.workflowservice.v1 import (
    CountWorkflowExecutionsResponse,
    DescribeNamespaceResponse,
    DescribeWorkflowExecutionRequest,
    DescribeWorkflowExecutionResponse,
    GetSystemInfoResponse,
    ListWorkflowExecutionsResponse,
)

from tests.cli.answering_server import answering_server
from tests.cli.conftest import Swf, answer_of, free_port, listens

grpc: Any = importlib.import_module("grpc")


@pytest.mark.temporal
def test_a_server_that_goes_away_and_comes_back(swf: Swf) -> None:
    """A worker waits for it, tells once that it has gone and once that it is back, and goes on."""
    (swf.folder / "empty").mkdir()
    port = free_port()
    dev = ["dev", "empty", "--port", str(port), "--ui-port", str(free_port())]
    queue = ["--address", f"127.0.0.1:{port}", "--task-queue", "of-its-own"]
    swf.write("definitions/hello.yaml", swf.folder.joinpath("hello.yaml").read_text())
    health = free_port()
    with swf.running("worker", "definitions", *queue, "--health", str(health)) as worker:
        worker.until(f"WARNING no Temporal server answers at 127.0.0.1:{port}: nothing listens there")
        while not listens(health):
            pass
        assert (answer_of(health, "livez"), answer_of(health, "readyz")) == (200, 503)
        with swf.running(*dev) as first:
            first.until("ready: ")
            worker.until("working for")
            first.stop(signal.SIGTERM)
            away = worker.until("does not answer")
            with swf.running(*dev) as second:
                second.until("ready: ")
                worker.until(f"INFO the server at 127.0.0.1:{port} answers again")
                assert swf("start", "hello", "--wait", *queue).code == 0
                ended = worker.stop(signal.SIGTERM)
                second.stop(signal.SIGTERM)
    assert f"WARNING the server at 127.0.0.1:{port} does not answer: " in away
    assert ended.err.count("does not answer") == 1
    assert max(map(len, ended.err.splitlines())) < 250, ended.err
    assert "gRPC call" not in ended.err


CONSUMERS = """\
events: {consumers: [{name: orders, from: "nats://127.0.0.1:1", subject: orders}]}
"""


@pytest.mark.temporal
@pytest.mark.parametrize("command", ["worker", "gateway", "consume"])
def test_a_server_that_is_away_at_the_start(swf: Swf, command: str) -> None:
    swf.write("swf.yaml", CONSUMERS)
    swf.write("definitions/hello.yaml", swf.folder.joinpath("hello.yaml").read_text())
    arguments = [command, "definitions", "--config", "swf.yaml", "--address", f"127.0.0.1:{free_port()}"]
    with swf.running(*arguments) as waiting:
        waiting.until("WARNING no Temporal server answers")
        ended = waiting.stop(signal.SIGTERM)
    assert (ended.code, ended.out) == (0, "")
    assert "error: no Temporal server answers" in swf.refused(*arguments, "--no-wait")


def _describe(_: bytes, __: Any) -> bytes:
    return bytes(GetSystemInfoResponse().SerializeToString())


def _refuse(_: bytes, context: Any) -> bytes:
    context.abort(grpc.StatusCode.PERMISSION_DENIED, "Request unauthorized.")
    return b""


@pytest.fixture
def refusing() -> Iterator[str]:
    """Return the address of a server that tells what it is, and permits nothing."""
    answers = {"GetSystemInfo": _describe, "DescribeNamespace": _refuse, "DescribeWorkflowExecution": _refuse}
    answers["StartWorkflowExecution"] = _refuse
    with answering_server(answers) as served:
        yield served


@pytest.mark.temporal
def test_a_server_that_permits_nothing(swf: Swf, refusing: str) -> None:
    ended = swf("worker", ".", "--functions", "functions.py", "--address", refusing)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith(
        f"error: no worker can serve the namespace 'default' of the server at {refusing}: it does not permit this\n"
        "  see TEMPORAL_API_KEY, and who may use the namespace\n"
    )


@pytest.mark.temporal
def test_a_run_that_is_permitted_nothing(swf: Swf, refusing: str) -> None:
    ended = swf("run", "hello.yaml", "--address", refusing)
    assert (ended.code, ended.out) == (2, "")
    assert "does not permit this" in ended.err or "Request unauthorized" in ended.err
    assert ended.err.endswith("  see TEMPORAL_API_KEY, and who may use the namespace\n")
    assert "Traceback" not in ended.err


@pytest.mark.temporal
@pytest.mark.parametrize("command", ["gateway", "consume"])
def test_what_sends_events_and_is_permitted_nothing(swf: Swf, refusing: str, command: str) -> None:
    """It ends at its start: no client is told to send the same again, and no broker is kept waiting."""
    swf.write("swf.yaml", CONSUMERS)
    assert (
        f"the server at {refusing} does not let the caller ask for instances in the namespace 'default'"
        in swf.refused(command, "hello.yaml", "--config", "swf.yaml", "--address", refusing)
    )


def _miss(_: bytes, context: Any) -> bytes:
    context.abort(grpc.StatusCode.NOT_FOUND, "Namespace default is not found.")
    return b""


@pytest.mark.temporal
def test_a_gateway_without_its_namespace(swf: Swf) -> None:
    """A namespace that is missing is told also where one may not ask for namespaces."""
    answers = {"GetSystemInfo": _describe, "DescribeNamespace": _refuse, "DescribeWorkflowExecution": _miss}
    with answering_server(answers) as address:
        assert f"the server at {address} has no namespace 'default'" in swf.refused(
            "gateway", "hello.yaml", "--port", "0", "--address", address
        )


@pytest.mark.temporal
def test_tls_for_a_server_without(swf: Swf, refusing: str) -> None:
    assert f"error: the server at {refusing} cannot be used: it does not speak TLS, which an API key" in swf.refused(
        "worker", ".", "--functions", "functions.py", "--address", refusing, env={"TEMPORAL_API_KEY": "abc"}
    )


STATUSES = {"paused": 8, "77": 77}
"""Numbers of statuses, by the ids of the instances that have them."""


def _info(instance: str) -> WorkflowExecutionInfo:
    return WorkflowExecutionInfo(execution=WorkflowExecution(workflow_id=instance), status=STATUSES[instance])  # type: ignore[arg-type]


def _describe_instance(request: bytes, _: Any) -> bytes:
    instance = DescribeWorkflowExecutionRequest.FromString(request).execution.workflow_id
    return DescribeWorkflowExecutionResponse(workflow_execution_info=_info(instance)).SerializeToString()


def _list(_: bytes, __: Any) -> bytes:
    return ListWorkflowExecutionsResponse(executions=map(_info, STATUSES)).SerializeToString()


@pytest.fixture
def address() -> Iterator[str]:
    """Return the address of a server with such instances, for which no worker answers."""
    answers = {
        "GetSystemInfo": lambda *_: GetSystemInfoResponse().SerializeToString(),
        "DescribeNamespace": lambda *_: DescribeNamespaceResponse().SerializeToString(),
        "DescribeWorkflowExecution": _describe_instance,
        "ListWorkflowExecutions": _list,
        "CountWorkflowExecutions": lambda *_: CountWorkflowExecutionsResponse(count=2).SerializeToString(),
    }
    with answering_server(answers) as served:
        yield served


def test_statuses_that_the_sdk_does_not_know(swf: Swf, address: str) -> None:
    """They are shown by name where there is one, and by number otherwise, and such an instance has not ended."""
    for instance in STATUSES:
        shown = swf("status", instance, "--output", "json", "--address", address)
        assert (shown.code, json.loads(shown.out)["status"]) == (0, instance)
        why = "the server did not answer" if instance == "paused" else "no worker answers"
        assert why in swf("logs", instance, "--address", address).err
        # Refused by the server, and not because it had ended.
        assert "ended" not in swf("cancel", instance, "--address", address).err
    listed = swf("list", "--output", "json", "--address", address)
    assert [row["status"] for row in json.loads(listed.out)] == list(STATUSES)
    assert swf("tasks", "list", "--address", address).code == 0
