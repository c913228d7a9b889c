"""Traces of a worker and a gateway, which a collector receives."""

import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.cli.conftest import PATIENCE, Dev, Swf
from tests.cli.test_gateway import asked

pytestmark = pytest.mark.temporal

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
OF_EVENT = "0af7651916cd43dd8448eb211c80319c"
EVENTED = """\
id: evented
specVersion: "0.8"
version: "1.0"
events: [{name: Came, type: came, source: shop}]
states: [{name: Wait, type: event, onEvents: [{eventRefs: [Came]}], end: true}]
"""
TRACED = """\
id: traced
specVersion: "0.8"
version: "1.0"
functions: [{name: ask, type: http, operation: "rest:GET:http://127.0.0.1:PORT/"}]
states:
  - {name: Ask, type: operation, actions: [{functionRef: ask}, {subFlowRef: beneath}], end: true}
"""
BENEATH = """\
id: beneath
specVersion: "0.8"
version: "1.0"
functions: [{name: look, type: http, operation: "rest:GET:http://127.0.0.1:PORT/"}]
states:
  - {name: Look, type: operation, actions: [{functionRef: look}], end: true}
"""


class Peer(ThreadingHTTPServer):
    """A service, which keeps the traces that its requests are said to belong to; and a collector, which keeps spans."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.parents: list[str | None] = []
        self.spans: list[Any] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Peer

    def do_GET(self) -> None:
        self.server.parents.append(self.headers.get("traceparent"))
        self._answer(b"{}")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                self.server.spans += scope.spans
        self._answer(b"")

    def _answer(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def listening() -> Iterator[Peer]:
    """Run a service and a collector."""
    with Peer() as peer:
        threading.Thread(target=peer.serve_forever, daemon=True).start()
        try:
            yield peer
        finally:
            peer.shutdown()


def test_a_trace_goes_from_the_gateway_to_services(swf: Swf, dev: Dev) -> None:
    """Through the instance, its calls and its sub-workflow, or from an event; lines of the log name it."""
    with listening() as peer:
        for name, text in (("traced", TRACED), ("beneath", BENEATH), ("evented", EVENTED)):
            swf.write(f"defs/{name}.yaml", text.replace("PORT", str(peer.server_port)))
        swf.env |= {
            "OTEL_EXPORTER_OTLP_ENDPOINT": peer.url,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            "SWF_ALLOW_HOSTS": "127.0.0.1",
        }
        at = ["--address", dev.address, "--task-queue", "traced", "--log-format", "json"]
        with (
            swf.running("worker", "defs", *at, "--log-level", "debug") as worker,
            swf.running("gateway", "defs", "--port", "0", *at, stream="stdout") as gateway,
        ):
            worker.until("working for")
            url = gateway.until("http://").strip()
            headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
            assert asked(f"{url}/workflows/traced?wait=60", {}, **headers)[1]["status"] == "completed"
            event = {"specversion": "1.0", "id": "1", "source": "shop", "type": "came"}
            named = {**event, "traceparent": f"00-{OF_EVENT}-{PARENT}-01"}
            as_event = {"Content-Type": "application/cloudevents+json"}
            assert asked(f"{url}/events", named, **as_event)[0] == 202
            end = time.monotonic() + PATIENCE
            while not any(one.name == "State:Wait" and one.trace_id.hex() == OF_EVENT for one in peer.spans):
                assert time.monotonic() < end
                time.sleep(0.05)
            gateway.stop(signal.SIGTERM)
            ended = worker.stop(signal.SIGTERM)
        spans = {span.name: span for span in peer.spans if span.trace_id.hex() == TRACE}
    assert spans.keys() >= {
        "POST /workflows/{id}",
        *("StartWorkflow:traced", "RunWorkflow:traced", "State:Ask", "StartActivity:ask", "RunActivity:ask", "GET"),
        *("StartChildWorkflow:beneath", "RunWorkflow:beneath", "State:Look", "RunActivity:look"),
    }
    assert spans["POST /workflows/{id}"].parent_span_id.hex() == PARENT
    state = spans["State:Ask"]
    assert state.parent_span_id == spans["StartWorkflow:traced"].span_id  # as it is of what the instance begins
    assert state.start_time_unix_nano < state.end_time_unix_nano
    requests = {span.span_id.hex() for span in peer.spans if span.name == "GET"}
    assert [one and one[: -len("-01")].split("-")[1] for one in peer.parents] == [TRACE, TRACE]
    assert {one.split("-")[2] for one in peer.parents if one} == requests
    lines = [json.loads(line) for line in ended.err.splitlines() if line.startswith("{")]
    events = {line.get("event") for line in lines if line.get("trace_id") == TRACE}
    assert {"started", "completed"} <= events
