"""Traces of a worker and a gateway, which a collector receives."""

import json
import shutil
import signal
import sys
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Protocol, cast

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.brokers.servers import HOST, free_ports, running
from tests.cli.conftest import Dev, Swf, until
from tests.cli.test_gateway import asked
from tests.definitions import definition
from tests.listening import Quiet, listening

pytestmark = pytest.mark.temporal

_COLLECTOR = shutil.which("otelcol", path=str(Path(sys.executable).parent)) or shutil.which("otelcol")
_LENGTH = 4
COLLECTING = """\
receivers: {{otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}"}}}}}}}}
exporters: {{file: {{path: "{file}", format: proto, flush_interval: 100ms}}}}
service:
  pipelines: {{traces: {{receivers: [otlp], exporters: [file]}}}}
  telemetry: {{metrics: {{level: none}}}}
"""
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
OF_EVENT = "0af7651916cd43dd8448eb211c80319c"
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


class Collector(Protocol):
    url: str
    """Where it receives them, by OTLP over HTTP."""

    @property
    def spans(self) -> list[Span]: ...


class Ours(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receiving)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.spans: list[Span] = []


class Written:
    """A collector of OpenTelemetry's, which writes what it receives to a file."""

    def __init__(self, url: str, file: Path) -> None:
        self.url = url
        self._file = file

    @property
    def spans(self) -> list[Span]:
        """Read the file: messages, each after its length in four bytes."""
        found, content = [], self._file.read_bytes()
        while len(content) >= _LENGTH:
            end = _LENGTH + int.from_bytes(content[:_LENGTH])
            found += spans_of(content[_LENGTH:end])
            content = content[end:]
        return found


class Service(ThreadingHTTPServer):
    """A service, which keeps the traces that its requests are said to belong to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.parents: list[str | None] = []


class _Answering(Quiet):
    def respond(self, content: bytes) -> None:  # noqa: ARG002 - there is none
        cast("Service", self.server).parents.append(self.headers.get("traceparent"))
        self.answer(b"{}")


class _Receiving(Quiet):
    def respond(self, content: bytes) -> None:
        cast("Ours", self.server).spans += spans_of(content)
        self.answer(b"")


def spans_of(message: bytes) -> list[Span]:
    resources = ExportTraceServiceRequest.FromString(message).resource_spans
    return [span for resource in resources for scope in resource.scope_spans for span in scope.spans]


@pytest.fixture(params=["a collector of ours", "a collector of OpenTelemetry's"])
def collector(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Collector]:
    if request.param == "a collector of ours":
        ours = Ours()
        with listening(ours):
            yield ours
        return
    if _COLLECTOR is None:
        pytest.skip("there is no OpenTelemetry collector: `make collector` builds it")
    [port] = free_ports(1)
    written = tmp_path / "spans"
    written.touch()
    config = tmp_path / "collector.yaml"
    config.write_text(COLLECTING.format(port=port, file=written))
    with running([_COLLECTOR, "--config", str(config)], [port], tmp_path / "collector.log"):
        yield Written(f"http://{HOST}:{port}", written)


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
    assert spans["RunActivity:ask"].parent_span_id == spans["StartWorkflow:traced"].span_id
    assert spans["RunActivity:look"].parent_span_id == spans["StartChildWorkflow:beneath"].span_id
    state = spans["State:Ask"]
    assert state.parent_span_id == spans["StartWorkflow:traced"].span_id  # as it is of what the instance begins
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
            assert {each.key: each.value.string_value for each in one.attributes}["swf.result"] == "failed"
        assert instance.status.code == Status.STATUS_CODE_ERROR
        assert "no" in instance.status.message
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
