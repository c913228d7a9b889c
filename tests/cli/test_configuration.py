"""How calls are made from `swf run` and `swf worker`, as the operator configures it."""

import json
from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest

from tests.cli.conftest import Dev, Swf
from tests.definitions import definition
from tests.listening import Quiet, listening

pytestmark = pytest.mark.temporal

ASKER = definition("""\
id: asker
functions: [{name: ask, type: custom, operation: "rest:GET:URL/answer"}]
states: [{name: Ask, type: operation, actions: [{functionRef: ask}], end: true}]
""")


@pytest.fixture
def url() -> Iterator[str]:
    """Return the URL of a service that answers with a header that it got."""

    class Handler(Quiet):
        def respond(self, content: bytes) -> None:  # noqa: ARG002 - there is none
            self.answer(json.dumps({"team": self.headers["X-Team"]}).encode())

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
    told = "error: swf.yaml: calls › timeot: there is no such option; did you mean 'timeout'?\n"
    assert swf.refused(*command, "--config", "swf.yaml") == told


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
