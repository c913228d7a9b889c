"""Traces of a worker and a gateway, which a collector receives."""

import json
import signal
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import cast

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.brokers.servers import HOST, free_ports
from tests.cli.conftest import Dev, Swf, until
from tests.cli.test_gateway import asked
from tests.collector.collecting import COLLECTOR, WITHOUT, Collector, Ours, attributes_of, collecting
from tests.definitions import definition
from tests.listening import Quiet, listening

pytestmark = pytest.mark.temporal

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
OF_EVENT = "0af7651916cd43dd8448eb211c80319c"
PARENTS = {
    "RunActivity:ask": "State:Ask", "StartChildWorkflow:beneath": "State:Ask",
    "RunWorkflow:beneath": "StartChildWorkflow:beneath", "State:Look": "RunWorkflow:beneath",
    "RunActivity:look": "State:Look",
}  # fmt: skip
SERVED = {
    "http.request.method": "POST", "http.route": "/workflows/{id}", "url.path": "/workflows/traced",
    "url.scheme": "http", "server.address": "127.0.0.1", "http.response.status_code": 200,
}  # fmt: skip
EVENTED = definition("""\
id: evented
events: [{name: Came, type: came, source: shop}]
states: [{name: Wait, type: event, onEvents: [{eventRefs: [Came]}], end: true}]
""")
TRACED = definition("""\
id: traced
functions: [{name: ask, type: http, operation: "rest:GET:http://127.0.0.1:PORT/"}]
states: [{name: Ask, type: operation, actions: [{functionRef: ask}, {subFlowRef: beneath}], end: true}]
""")
FAILING = definition("""\
id: failing
functions: [{name: wrong, type: expression, operation: '${ error("no") }'}]
states: [{name: Fail, type: operation, actions: [{functionRef: wrong}], end: true}]
""")
BENEATH = definition("""\
id: beneath
functions: [{name: look, type: http, operation: "rest:GET:http://127.0.0.1:PORT/"}]
states: [{name: Look, type: operation, actions: [{functionRef: look}], end: true}]
""")


class Service(ThreadingHTTPServer):
    """A service, which keeps the traces that its requests are said to belong to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.parents: list[str | None] = []


class _Answering(Quiet):
    def respond(self, content: bytes) -> None:  # noqa: ARG002 - there is none
        cast("Service", self.server).parents.append(self.headers.get("traceparent"))
        self.answer(b"{}")


@pytest.fixture(params=["a collector of ours", "a collector of OpenTelemetry's"])
def collector(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Collector]:
    if request.param == "a collector of ours":
        ours = Ours()
        with listening(ours):
            yield ours
        return
    if COLLECTOR is None:
        pytest.skip(WITHOUT)
    with collecting(tmp_path) as written:
        yield written


def test_a_trace_goes_from_the_gateway_to_services(swf: Swf, dev: Dev, collector: Collector) -> None:
    """Through the instance, its calls and its sub-workflow, or from an event; lines of the log name it."""
    service = Service()
    with listening(service):
        for name, text in (("traced", TRACED), ("beneath", BENEATH), ("evented", EVENTED)):
            swf.write(f"defs/{name}.yaml", text.replace("PORT", str(service.server_port)))
        swf.env |= {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_BSP_SCHEDULE_DELAY": "100", "SWF_ALLOW_HOSTS": "127.0.0.1",
        }  # fmt: skip
        at = ["--address", dev.address, "--task-queue", "traced", "--log-format", "json"]
        with (
            swf.running("worker", "defs", *at, "--log-level", "debug") as worker,
            swf.running("gateway", "defs", "--port", "0", *at, stream="stdout") as gateway,
        ):
            worker.until("working for")
            url = gateway.until("http://").strip()
            headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
            assert asked(f"{url}/workflows/traced?wait=60", {}, **headers)[1]["status"] == "completed"
            event = {"specversion": "1.0", "id": collector.url, "source": "shop", "type": "came"}
            named = {**event, "traceparent": f"00-{OF_EVENT}-{PARENT}-01"}
            as_event = {"Content-Type": "application/cloudevents+json"}
            assert asked(f"{url}/events", named, **as_event)[0] == 202
            until(
                lambda: [one for one in collector.spans if (one.name, one.trace_id.hex()) == ("State:Wait", OF_EVENT)]
            )
            gateway.stop(signal.SIGTERM)
            ended = worker.stop(signal.SIGTERM)
    received = collector.spans
    spans = {span.name: span for span in received if span.trace_id.hex() == TRACE}
    assert spans.keys() >= {
        "POST /workflows/{id}",
        *("StartWorkflow:traced", "RunWorkflow:traced", "State:Ask", "RunActivity:ask", "GET"),
        *("StartChildWorkflow:beneath", "RunWorkflow:beneath", "State:Look", "RunActivity:look"),
    }
    assert spans["POST /workflows/{id}"].parent_span_id.hex() == PARENT
    assert not any(name.startswith(("StartActivity", "CompleteWorkflow")) for name in spans)
    instance = spans["RunWorkflow:traced"]
    assert [span.name for span in received if span.trace_id.hex() == TRACE].count(instance.name) == 1
    assert instance.parent_span_id == spans["StartWorkflow:traced"].span_id
    assert instance.kind == Span.SPAN_KIND_SERVER
    assert instance.start_time_unix_nano <= spans["State:Ask"].start_time_unix_nano
    assert instance.end_time_unix_nano >= spans["State:Ask"].end_time_unix_nano
    state = spans["State:Ask"]
    assert state.parent_span_id == instance.span_id
    for name, above in PARENTS.items():
        assert spans[name].parent_span_id == spans[above].span_id, name
    assert attributes_of(spans["POST /workflows/{id}"]).items() >= SERVED.items()
    assert attributes_of(instance).items() >= {"swf.definition.id": "traced", "swf.definition.version": "1.0"}.items()
    assert state.start_time_unix_nano < state.end_time_unix_nano
    requests = {span.span_id.hex() for span in received if span.name == "GET"}
    assert [one and one[: -len("-01")].split("-")[1] for one in service.parents] == [TRACE, TRACE]
    assert {one.split("-")[2] for one in service.parents if one} == requests
    lines = [json.loads(line) for line in ended.err.splitlines() if line.startswith("{")]
    events = {line.get("event") for line in lines if line.get("trace_id") == TRACE}
    assert {"started", "completed"} <= events


def test_a_process_that_ends_sends_what_it_has_traced(swf: Swf, dev: Dev) -> None:
    swf.write("defs/failing.yaml", FAILING)
    at = ["--address", dev.address, "--task-queue", "failing"]
    collector = Ours()
    with listening(collector):
        swf.env |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
        with swf.running("worker", "defs", *at) as worker:
            worker.until("working for")
            assert swf("start", "failing", "--wait", *at).code == 1
            assert {span.name for span in collector.spans} == {"StartWorkflow:failing"}
            worker.stop(signal.SIGTERM)
        [state] = [span for span in collector.spans if span.name == "State:Fail"]
        [instance] = [span for span in collector.spans if span.name == "RunWorkflow:failing"]
        for one in (state, instance):
            found = attributes_of(one)
            assert (found["swf.result"], found["error.type"]) == ("failed", "ExpressionFailed")
            assert one.status.code == Status.STATUS_CODE_ERROR
            assert one.status.message == "ExpressionFailed in state 'Fail', action 'wrong': ${ error(\"no\") }"
        collector.spans.clear()
        assert swf("run", "defs/failing.yaml").code == 1  # with a server of its own, as `swf dev` has it
        assert {span.name for span in collector.spans} >= {"StartWorkflow:failing", "State:Fail"}


def test_a_collector_that_is_away_holds_no_command_up(swf: Swf, dev: Dev) -> None:
    [port] = free_ports(1)
    swf.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://{HOST}:{port}"
    assert swf("start", "nobody", "--address", dev.address, "--task-queue", "failing").code == 0


@pytest.mark.parametrize(("name", "value"), [
    ("OTEL_TRACES_EXPORTER", "console"),
    ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
    ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4318"),
])  # fmt: skip
def test_what_cannot_be_exported_so_is_refused(swf: Swf, dev: Dev, name: str, value: str) -> None:
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", name: value}
    assert f"{name} is {value!r}" in swf.refused("list", "--address", dev.address, env=env)
