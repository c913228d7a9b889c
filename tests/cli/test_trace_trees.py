"""A trace is a tree, in every language: calls under their states, states under the instance, attempts numbered.

`python -m tests.collector` draws the same trees.
"""

import asyncio
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client

from tests.cli.conftest import Dev, Swf, until
from tests.collector.collecting import COLLECTOR, WITHOUT, Tree, Written, attributes_of, collecting, trees_of
from tests.collector.traced import CONFIG, FILES, STARTED, Service
from tests.definitions import definition
from tests.listening import listening

pytestmark = [pytest.mark.temporal, pytest.mark.skipif(COLLECTOR is None, reason=WITHOUT)]

WAITS = definition("""\
id: waits
functions: [{name: ask, type: http, operation: "rest:GET:http://user:p4ssw0rd@127.0.0.1:PORT/waits/ask?key=p4ssw0rd"}]
events: [{name: Go, type: go, source: shop}]
states:
  - {name: Before, type: operation, actions: [{functionRef: ask}], transition: Wait}
  - {name: Wait, type: event, onEvents: [{eventRefs: [Go], actions: [{functionRef: ask}]}], transition: After}
  - {name: After, type: operation, actions: [{functionRef: ask}], end: true}
""")


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    with listening(service):
        yield service


@pytest.fixture
def collector(swf: Swf, tmp_path: Path) -> Iterator[Written]:
    with collecting(tmp_path) as collector:
        swf.env |= {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "SWF_ALLOW_HOSTS": "127.0.0.1",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }  # fmt: skip
        yield collector


_WRITTEN = 0.5
"""Seconds within which the collector writes what it has received."""


def tree_with(collector: Written, name: str) -> Tree:
    """Return the one trace with a span of that name, once the collector has written it whole, and print it."""

    def found() -> list[Tree]:
        before = len(collector.spans)
        time.sleep(_WRITTEN)
        if len(collector.spans) > before:
            return []
        return [tree for tree in trees_of(collector.spans).values() if any(one.name == name for one in tree.spans)]

    [tree] = until(found, lambda trees: trees and all(len(tree.roots) == 1 for tree in trees))
    sys.stdout.write(f"{tree.drawn()}\n")  # pytest shows it if the test fails, and always with -s
    return tree


def above(tree: Tree, name: str) -> list[list[str]]:
    return [tree.path_of(span)[:-1] for span in tree.spans if span.name == name]


def numbered(tree: Tree, name: str, attribute: str) -> list[str | int | None]:
    return [attributes_of(span).get(attribute) for span in tree.spans if span.name == name]


def test_a_trace_is_a_tree_in_every_language(swf: Swf, dev: Dev, service: Service, collector: Written) -> None:
    """Of forty states, with attempts that fail, a sub-workflow, branches and iterations."""
    for name, text in {**{f"defs/{name}": text for name, text in FILES.items()}, "swf.yaml": CONFIG}.items():
        swf.write(name, text.replace("PORT", str(service.server_port)))
    at = ["--address", dev.address, "--task-queue", "trees"]
    with swf.running("worker", "defs", "--config", "swf.yaml", *at) as worker:
        worker.until("working for")
        for one in STARTED.values():
            done = swf("start", one, "--wait", *at)
            assert done.code == 0, done.err
        worker.stop(signal.SIGTERM)
    trees = {one: tree_with(collector, f"StartWorkflow:{one}") for one in STARTED.values()}
    for one, tree in trees.items():
        assert [root.name for root in tree.roots] == [f"StartWorkflow:{one}"]
        assert len({span.span_id for span in tree.spans}) == len(tree.spans)
        for span in tree.spans:
            kinds = [name.partition(":")[0] for name in tree.path_of(span)]
            assert "RunActivity" not in kinds or kinds[1:3] == ["RunWorkflow", "State"]

    chain = trees["chain"]
    inner = ["StartWorkflow:chain", "RunWorkflow:chain"]
    steps = [span for span in chain.spans if span.name.startswith("State:Step")]
    assert [span.name for span in steps] == [f"State:Step {number}" for number in range(1, 41)]
    assert {tuple(chain.path_of(span)[:-1]) for span in steps} == {tuple(inner)}
    assert {attributes_of(span)["swf.definition.version"] for span in steps} == {"1.0"}
    asks = [[*inner, f"State:Step {number}"] for number in (10, 10, 20, 30, 40)]
    assert above(chain, "RunActivity:ask") == asks
    assert numbered(chain, "RunActivity:ask", "swf.attempt") == [1, 2, 1, 1, 1]
    gets = [span for span in chain.spans if span.name == "GET" and "ask" in chain.path_of(span)[-2]]
    assert [attributes_of(span).get("http.request.resend_count") for span in gets] == [None, 1, None, None, None]
    assert [attributes_of(span)["http.response.status_code"] for span in gets] == [503, 200, 200, 200, 200]
    assert attributes_of(gets[0]).items() >= {
        "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": service.server_port,
        "url.full": f"http://127.0.0.1:{service.server_port}/flaky-08?REDACTED", "error.type": "503",
    }.items()  # fmt: skip
    assert above(chain, "RunActivity:look") == [
        [*inner, "State:Step 40", "StartChildWorkflow:beneath", "RunWorkflow:beneath", "State:Look"]
    ]

    flow = trees["/flow.yaml"]
    assert [one[-1] for one in above(flow, "RunActivity:ask")] == ["State:first"] * 2 + ["State:third"] * 2
    assert numbered(flow, "State:first", "swf.result") == ["completed"]
    dsl = trees["shop.dsl"]
    assert [one[2:] for one in above(dsl, "RunActivity:ask")] == [["State:first", "State:ask"]] * 2
    assert numbered(dsl, "State:ask", "error.type") == ["CallFailed", None]
    assert [one[2:] for one in above(dsl, "RunActivity:again")] == [["State:second", "State:again"]] * 2
    assert numbered(dsl, "State:again", "swf.lane") == ["/do/1/second[0]/do/0/again", "/do/1/second[1]/do/0/again"]
    assert [one[2:] for one in above(dsl, "State:deep")] == [["State:third", "State:right"]]


def _begin(swf: Swf, service: Service) -> None:
    swf.write("defs/waits.yaml", WAITS.replace("PORT", str(service.server_port)))


def _names(tree: Tree) -> list[str]:
    return [span.name for span in tree.spans if span.name.startswith(("RunWorkflow", "State", "RunActivity"))]


UNTRACED = {"OTEL_SDK_DISABLED": "true"}
WHOLE = [
    "RunWorkflow:waits", "State:Before", "RunActivity:ask", "State:Wait", "RunActivity:ask", "State:After",
    "RunActivity:ask",
]  # fmt: skip


def test_a_worker_that_takes_over_tells_nothing_twice(swf: Swf, dev: Dev, service: Service, collector: Written) -> None:
    """The first is killed; what it began, the second ends. No span has what must not be seen."""
    _begin(swf, service)
    at = ["--address", dev.address, "--task-queue", "takes-over"]
    with swf.running("worker", "defs", *at) as first:
        first.until("working for")
        assert swf("start", "waits", "--id", "taken-over", *at).code == 0
        until(lambda: [one for one in collector.spans if one.name == "State:Before"])
        first.stop(signal.SIGKILL)
    with swf.running("worker", "defs", *at) as second:
        second.until("working for")
        assert swf("event", "taken-over", "--name", "Go", "--no-wait", "--address", dev.address).code == 0
        assert swf("result", "taken-over", "--address", dev.address).code == 0
        second.stop(signal.SIGTERM)
    tree = tree_with(collector, "RunWorkflow:waits")
    assert _names(tree) == WHOLE
    assert [root.name for root in tree.roots] == ["StartWorkflow:waits"]
    assert [one[2:] for one in above(tree, "RunActivity:ask")] == [["State:Before"], ["State:Wait"], ["State:After"]]
    assert not any("p4ssw0rd" in str(span) for span in collector.spans)


async def _started_elsewhere(address: str, queue: str, name: str) -> None:
    client = await Client.connect(address)
    await client.start_workflow("waits", args=[{}], id=name, task_queue=queue)


async def _reset(address: str, name: str) -> None:
    client = await Client.connect(address)
    tasks = [
        event.event_id
        async for event in client.get_workflow_handle(name).fetch_history_events()
        if event.HasField("workflow_task_completed_event_attributes")
    ]
    asked = ResetWorkflowExecutionRequest(
        namespace="default", workflow_execution=WorkflowExecution(workflow_id=name), reason="a test",
        workflow_task_finish_event_id=tasks[-1], request_id="1",
    )  # fmt: skip
    await client.workflow_service.reset_workflow_execution(asked)


def test_an_instance_that_no_client_traces_is_a_tree_too_and_a_reset_adds_to_it(
    swf: Swf, dev: Dev, service: Service, collector: Written
) -> None:
    """The instance is reset after its end: only what is done again has further spans, under another instance."""
    _begin(swf, service)
    at = ["--address", dev.address, "--task-queue", "elsewhere"]
    with swf.running("worker", "defs", *at) as worker:
        worker.until("working for")
        asyncio.run(_started_elsewhere(dev.address, "elsewhere", "untraced"))
        assert swf("event", "untraced", "--name", "Go", "--address", dev.address, env=UNTRACED).code == 0
        assert swf("result", "untraced", "--address", dev.address, env=UNTRACED).code == 0
        asyncio.run(_reset(dev.address, "untraced"))
        assert swf("result", "untraced", "--address", dev.address, env=UNTRACED).code == 0
        worker.stop(signal.SIGTERM)
    tree = tree_with(collector, "RunWorkflow:waits")
    [root] = tree.roots
    assert (root.name, root.parent_span_id) == ("RunWorkflow:waits", b"")
    assert sorted(_names(tree)) == sorted([*WHOLE, "RunWorkflow:waits", "State:After"])
    assert len({span.span_id for span in tree.spans}) == len(tree.spans)
    assert above(tree, "RunWorkflow:waits") == [[], ["RunWorkflow:waits"]]
