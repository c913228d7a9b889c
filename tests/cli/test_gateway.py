"""`swf gateway` as a process, and the gateway of `swf dev`."""

import re
import resource
import select
import signal
import socket
import time
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from swf_temporal.sdk.consuming import prepare
from tests.cli.conftest import BROKEN, COMMAND, HELLO, PATIENCE, Dev, Running, Swf
from tests.definitions import definition

pytestmark = pytest.mark.temporal


def asked(url: str, content: object = None, **headers: str) -> tuple[int, Any]:
    with httpx.Client(trust_env=False, timeout=60, headers=headers) as client:
        answer = client.get(url) if content is None else client.post(url, json=content)
    return answer.status_code, answer.json()


def test_serves_until_it_is_stopped(swf: Swf, dev: Dev) -> None:
    """It says where; with a key it starts an instance, without one it does not, and its log has no key.

    If it is asked to, it answers the paths of SonataFlow, too.
    """
    swf.write("definitions/hello.yaml", (swf.folder / "hello.yaml").read_text())
    swf.write("key", "0123456789abcdef")
    swf.write("swf.yaml", "gateway: {tenants: {us: {keys: ['file:key'], workflows: [hello]}}}")
    options = ["definitions", "--config", "swf.yaml", "--port", "0", "--address", dev.address, "--sonataflow-api"]
    with swf.running("gateway", *options, stream="stdout") as gateway:
        url = gateway.until("http://").strip()
        refused = asked(f"{url}/workflows/hello", {"name": "Ada"})
        key = {"X-API-Key": "0123456789abcdef"}
        started = asked(f"{url}/workflows/hello?wait=30", {"name": "Ada"}, **key)
        moved = asked(f"{url}/hello", {"name": "Bob"}, **key)
        ended = gateway.stop(signal.SIGTERM)
    assert refused[0] == 401
    assert (moved[0], moved[1]["workflowdata"]["greeting"]) == (201, "Hello Bob!")
    assert (started[0], started[1]["output"]["greeting"]) == (200, "Hello Ada!")
    assert ended.code == 0
    assert "refused POST /workflows/hello from 127.0.0.1: 401" in ended.err
    assert "0123456789abcdef" not in ended.err


CALLING = definition("""\
id: calling
states: [{name: Call, type: operation, actions: [{subFlowRef: beside}], end: true}]
""")


@pytest.fixture
def calling(swf: Swf) -> str:
    """Return a file whose definition has a sub-workflow beside it, among others and something broken."""
    swf.write("defs/beside.yaml", HELLO.replace("id: hello", "id: beside").replace("Hello ${ .name }!", "called"))
    swf.write("defs/other.yaml", HELLO)
    swf.write("defs/broken.yaml", BROKEN)
    return swf.write("defs/calling.yaml", CALLING)


def test_a_file_has_its_sub_workflows(swf: Swf, dev: Dev, calling: str) -> None:
    with swf.running("gateway", calling, "--port", "0", "--address", dev.address, stream="stdout") as gateway:
        url = gateway.until("http://").strip()
        served = asked(f"{url}/workflows")[1]["workflows"]
        status, told = asked(f"{url}/workflows/calling?wait=30", {})
        unknown = asked(f"{url}/workflows/beside", {})[0]
        ended = gateway.stop(signal.SIGTERM)
    assert [one["id"] for one in served] == ["calling"]
    assert (status, told["output"]) == (200, {"greeting": "called"})
    assert unknown == 404
    assert "defs/broken.yaml is left out: it has errors" in ended.err


def test_consumers_start_instances_with_their_sub_workflows(
    swf: Swf, calling: str, caplog: pytest.LogCaptureFixture
) -> None:
    swf.write("swf.yaml", 'events: {consumers: [{name: orders, from: "nats://127.0.0.1:1", subject: orders}]}')
    catalogue = prepare([swf.folder / calling], config=swf.folder / "swf.yaml").catalogue
    [served] = catalogue
    assert [one.id for one in catalogue.with_reachable(served)] == ["calling", "beside"]
    assert len(caplog.records) == 1


def test_what_it_needs(swf: Swf) -> None:
    open_to_all = swf("gateway", ".", "--host", "0.0.0.0")  # noqa: S104 - it does not get as far as to listen
    swf.write("broken/broken.yaml", "id: broken\nspecVersion: '0.8'\nstates: []\n")
    broken = swf("gateway", "broken")
    secret = [swf(command, "--kept-headers", "X-Team,authorization") for command in ("gateway", "dev")]
    assert [one.code for one in (open_to_all, broken, *secret)] == [2] * 4
    for one in secret:
        assert "--kept-headers: authorization is a secret, and would be stored in the history" in one.err
    assert "would start workflows for everyone who reaches it" in open_to_all.err
    assert "broken.yaml" in broken.err


def test_what_is_not_installed_is_named_first(swf: Swf) -> None:
    swf.write("without/sitecustomize.py", "import sys; sys.modules['uvicorn'] = None")
    command = ["env", f"PYTHONPATH={swf.folder / 'without'}", *COMMAND]
    with swf.running("gateway", "nowhere", "--address", "127.0.0.1:1", command=command) as gateway:
        _, told = gateway.process.communicate(timeout=PATIENCE)
    assert gateway.process.returncode == 2
    missing, hint = told.splitlines()
    assert missing == "error: the extra 'gateway' is needed for the gateway: uvicorn is not installed"
    assert hint == "  pip install 'swf-temporal[gateway]'"


def test_definitions_are_read_again(swf: Swf, dev: Dev) -> None:
    hello = (swf.folder / "hello.yaml").read_text()
    swf.write("defs/hello.yaml", hello)
    with swf.running("gateway", "defs", "--port", "0", "--address", dev.address, stream="stdout") as gateway:
        url = gateway.until("http://").strip()
        swf.write("defs/broken.yaml", "id: broken\nspecVersion: '0.8'\nstates: []\n")
        swf.write("defs/hello.yaml", hello.replace('"1.0"', '"2.0"'))
        Running(gateway.process).until("definitions cannot be read again, and the previous ones are served")
        assert asked(f"{url}/workflows/hello")[1]["version"] == "1.0"
        (swf.folder / "defs/broken.yaml").unlink()
        Running(gateway.process).until("serving hello 2.0")
        assert asked(f"{url}/workflows/hello")[1]["version"] == "2.0"
        swf.write("defs/other.yaml", hello.replace("id: hello", "id: other"))
        gateway.process.send_signal(signal.SIGHUP)
        Running(gateway.process).until("serving other 1.0")
        assert asked(f"{url}/workflows/other")[0] == 200


STARTED = definition("""\
id: started
start: Wait
events: [{name: Paid, type: com.paid, source: shop}]
states: [{name: Wait, type: event, onEvents: [{eventRefs: [Paid]}], end: true}]
""")


def test_what_cannot_be_read_is_not_absent(swf: Swf, dev: Dev) -> None:
    """Out of file descriptors it goes on with the definitions that it had, and no event is told that nobody takes it.

    Its first event is taken then, too: all that it needs is imported before. That no connection can be accepted is
    logged once.
    """
    swf.write("defs/started.yaml", STARTED)
    options = ["defs", "--port", "0", "--address", dev.address]
    with (
        swf.running("gateway", *options, command=COMMAND, stream="stdout") as gateway,
        httpx.Client(trust_env=False, timeout=60, base_url=gateway.until("http://").strip()) as client,
    ):
        log, pid = Running(gateway.process), gateway.process.pid

        def sent(type_: str, id_: str = "1", by: httpx.Client = client) -> httpx.Response:
            event = {"specversion": "1.0", "id": id_, "source": "shop", "type": type_}
            return by.post("/events", json=event, headers={"Content-Type": "application/cloudevents+json"})

        assert sent("com.unknown").status_code == 200
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        none_left = (1, limits[1])
        resource.prlimit(pid, resource.RLIMIT_NOFILE, none_left)
        first = sent("com.paid", "first")
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        assert sent("com.paid", "second").status_code == 202
        resource.prlimit(pid, resource.RLIMIT_NOFILE, none_left)
        gateway.process.send_signal(signal.SIGHUP)
        log.until("definitions cannot be read again, and the previous ones are served: defs cannot be read: Too many")
        answers = [sent("com.paid"), sent("com.unknown"), client.post("/workflows/unknown")]
        while client.get("/readyz").status_code != 200:  # its server may answer too late for that on a busy machine
            time.sleep(0.1)
        with socket.create_connection((client.base_url.host, client.base_url.port)):
            log.until("no connection can be accepted")
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        log.until("the definitions can be read again")
        # The connection that was idle meanwhile may be closed just then.
        with httpx.Client(trust_env=False, timeout=60, base_url=client.base_url) as fresh:
            answers.append(sent("com.unknown", by=fresh))
        ended = log.stop(signal.SIGTERM)
    assert first.status_code == 202
    assert [one.status_code for one in answers] == [202, 503, 503, 200]
    assert [one.json()["code"] for one in answers[1:3]] == ["definitions-unavailable"] * 2
    assert answers[1].headers["Retry-After"] == "5"
    assert ended.err.count("no connection can be accepted") == 1
    assert "no longer serving" not in ended.err


def test_idle_connections_are_closed_to_make_room(swf: Swf, dev: Dev) -> None:
    """As many at least as there are beyond three quarters of the files that the process may have open."""
    swf.write("defs/started.yaml", STARTED)
    limited = ["sh", "-c", 'ulimit -n 400 && exec "$@"', "sh", *COMMAND]
    options = ["defs", "--port", "0", "--address", dev.address]
    with swf.running("gateway", *options, command=limited, stream="stdout") as gateway, ExitStack() as opened:
        url = gateway.until("http://").strip()
        at = ("127.0.0.1", int(url.rpartition(":")[2]))
        idle = [opened.enter_context(socket.create_connection(at)) for _ in range(380)]
        # `select` knows no file beyond the first 1,024, of which the tests of a process can have more open.
        closing = select.poll()
        for one in idle:
            closing.register(one, select.POLLIN)
        closed = set[int]()
        while len(closed) < 80 and (more := closing.poll(60_000)):
            for number, _ in more:
                closed.add(number)
                closing.unregister(number)
        assert asked(f"{url}/workflows/started")[0] == 200
        assert len(closed) >= 80


def test_of_the_development_server(dev: Dev) -> None:
    found = re.search(r"gateway (http://127\.0\.0\.1:\d+)", dev.log.read_text())
    assert found is not None
    assert asked(f"{found[1]}/workflows/followed")[0] == 404
    file = dev.folder / "followed.yaml"
    file.write_text((dev.folder / "hello.yaml").read_text().replace("id: hello", "id: followed"))
    dev.until("followed.yaml: serving followed 1.0")
    status, outcome = asked(f"{found[1]}/workflows/followed?wait=30", {"name": "Ada"})
    moved = asked(f"{found[1]}/followed", {"name": "Bob"})
    file.unlink()
    dev.until("followed.yaml: gone")
    assert (status, outcome["output"]["greeting"]) == (200, "Hello Ada!")
    assert (moved[0], moved[1]["workflowdata"]["greeting"]) == (201, "Hello Bob!")
