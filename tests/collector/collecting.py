"""What receives spans, and what is drawn of them: a trace as a tree."""

import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Protocol, cast

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.brokers.servers import HOST, free_ports, running
from tests.listening import Quiet

COLLECTOR = shutil.which("otelcol", path=str(Path(sys.executable).parent)) or shutil.which("otelcol")
WITHOUT = "NOT TRIED: there is no OpenTelemetry collector; `make collector` builds it"
_LENGTH = 4
COLLECTING = """\
receivers: {{otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}"}}}}}}}}
exporters: {{file: {{path: "{file}", format: proto, flush_interval: 100ms}}}}
service:
  pipelines: {{traces: {{receivers: [otlp], exporters: [file]}}}}
  telemetry: {{metrics: {{level: none}}}}
"""
_SHOWN = (
    "swf.attempt", "http.request.resend_count", "url.full", "http.response.status_code", "swf.result", "error.type",
)  # fmt: skip


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
        """Read the file: messages, each after its length in four bytes. The last one may be half written."""
        found, content = [], self._file.read_bytes()
        while len(content) >= (end := _LENGTH + int.from_bytes(content[:_LENGTH])):
            found += spans_of(content[_LENGTH:end])
            content = content[end:]
        return found


class _Receiving(Quiet):
    def respond(self, content: bytes) -> None:
        cast("Ours", self.server).spans += spans_of(content)
        self.answer(b"")


def spans_of(message: bytes) -> list[Span]:
    resources = ExportTraceServiceRequest.FromString(message).resource_spans
    return [span for resource in resources for scope in resource.scope_spans for span in scope.spans]


@contextmanager
def collecting(folder: Path) -> Iterator[Written]:
    """Run OpenTelemetry's collector, which is there, until the context is left."""
    [port] = free_ports(1)
    written, config = folder / "spans", folder / "collector.yaml"
    written.touch()
    config.write_text(COLLECTING.format(port=port, file=written))
    with running([str(COLLECTOR), "--config", str(config)], [port], folder / "collector.log"):
        yield Written(f"http://{HOST}:{port}", written)


def attributes_of(span: Span) -> dict[str, str | int]:
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


class Tree:
    """A trace: every span, under the one that it belongs to."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = sorted(spans, key=lambda one: one.start_time_unix_nano)
        self._by_id = {one.span_id: one for one in self.spans}
        self._beneath: dict[bytes, list[Span]] = defaultdict(list)
        for one in self.spans:
            self._beneath[one.parent_span_id if one.parent_span_id in self._by_id else b""].append(one)

    @property
    def roots(self) -> list[Span]:
        return self._beneath[b""]

    def path_of(self, span: Span) -> list[str]:
        above = self._by_id.get(span.parent_span_id)
        return [*([] if above is None else self.path_of(above)), span.name]

    def drawn(self) -> str:
        """Return the tree as lines: names, indented, with what else is worth reading."""
        return "\n".join(line for root in self.roots for line in self._lines(root, ""))

    def _lines(self, span: Span, indent: str) -> Iterator[str]:
        known = attributes_of(span)
        facts = [f"{name.rpartition('.')[2]}={known[name]}" for name in _SHOWN if name in known]
        failed = " ✗" if span.status.code == Status.STATUS_CODE_ERROR else ""
        yield f"{indent}{span.name}{failed}" + (f"  ({', '.join(facts)})" if facts else "")
        for one in self._beneath[span.span_id]:
            yield from self._lines(one, f"{indent}  ")


def trees_of(spans: Sequence[Span]) -> dict[bytes, Tree]:
    by_trace: dict[bytes, list[Span]] = defaultdict(list)
    for one in spans:
        by_trace[one.trace_id].append(one)
    return {trace: Tree(found) for trace, found in by_trace.items()}
