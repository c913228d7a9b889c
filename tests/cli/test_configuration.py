"""How calls are made from `swf run` and `swf worker`, as the operator configures it."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.cli.conftest import Dev, Swf
from tests.listening import listening

pytestmark = pytest.mark.temporal

ASKER = """\
id: asker
specVersion: "0.8"
version: "1.0"
functions: [{name: ask, type: custom, operation: "rest:GET:URL/answer"}]
states: [{name: Ask, type: operation, actions: [{functionRef: ask}], end: true}]
"""


@pytest.fixture
def url() -> Iterator[str]:
    """Return the URL of a service that answers with a header that it got."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"team": self.headers["X-Team"]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the library uses
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with listening(server):
        yield f"http://127.0.0.1:{server.server_port}"


def test_a_file_says_how_calls_are_made(swf: Swf, dev: Dev, url: str) -> None:
    swf.write("asker.yaml", ASKER.replace("URL", url))
    swf.write("swf.yaml", "calls: {headers: {X-Team: orders}}")
    env = {"TEMPORAL_ADDRESS": dev.address}

    assert json.loads(swf("run", "asker.yaml", "--config", "swf.yaml", env=env).out) == {"team": "orders"}
    assert json.loads(swf("run", "asker.yaml", env={**env, "SWF_CONFIG": "swf.yaml"}).out) == {"team": "orders"}
    assert json.loads(swf("run", "asker.yaml", env={**env, "SWF_HEADERS": "X-Team: stock"}).out) == {"team": "stock"}


@pytest.mark.parametrize("command", [("run", "asker.yaml"), ("worker", "."), ("dev", ".")])
def test_a_mistake_in_it_is_told_before_anything_starts(swf: Swf, command: tuple[str, ...]) -> None:
    swf.write("asker.yaml", ASKER.replace("URL", "http://127.0.0.1:9"))
    swf.write("swf.yaml", "calls: {timeot: 5}")

    ended = swf(*command, "--config", "swf.yaml")

    assert ended.code == 2
    assert ended.err.strip() == ("error: swf.yaml: calls › timeot: there is no such option; did you mean 'timeout'?")


def test_a_worker_calls_this_machine_only_if_it_may(swf: Swf, dev: Dev, url: str) -> None:
    swf.write("definitions/asker.yaml", ASKER.replace("URL", url))
    address, queue = ("--address", dev.address), ("--task-queue", "guarded")

    with swf.running("worker", "definitions", *address, *queue) as worker:
        worker.until("working for")
        refused = swf("start", "asker", "--wait", *address, *queue)
    assert refused.code == 1
    assert "are not allowed here; the operator of the worker can allow them with SWF_ALLOW_HOSTS" in refused.err

    swf.env["SWF_ALLOW_HOSTS"] = "127.0.0.1"
    with swf.running("worker", "definitions", *address, *queue) as worker:
        worker.until("working for")
        assert json.loads(swf("start", "asker", "--wait", *address, *queue).out) == {"team": None}
