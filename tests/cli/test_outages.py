"""Commands outlast a server that goes away, and say what becomes of an instance that they give up."""

import signal
from collections.abc import Iterator

import pytest

from tests.cli.conftest import Dev, Swf
from tests.definitions import definition
from tests.proxying import Proxy, proxying

pytestmark = pytest.mark.temporal

NAPPING = definition("id: napping\nstates: [{name: Nap, type: sleep, duration: PT4S, end: true}]\n")


@pytest.fixture
def proxy(dev: Dev) -> Iterator[Proxy]:
    with proxying(int(dev.address.rpartition(":")[2])) as one:
        yield one


@pytest.mark.parametrize("harm", ["stall", "go_away"])
def test_what_waits_outlasts_an_outage(swf: Swf, dev: Dev, proxy: Proxy, harm: str) -> None:
    at = ["--address", proxy.address]
    name = f"outlasted-{harm}"
    with (
        swf.running("start", "waiter.yaml", "--wait", "--id", name, *at) as start,
        swf.running("run", swf.write("napping.yaml", NAPPING), *at) as run,
    ):
        start.until(name)
        run.until("Nap")
        with swf.running("logs", name, "--follow", *at, stream="stdout") as logs:
            logs.until("Wait")
            getattr(proxy, harm)()
            start.until("does not answer; giving up after 5 min")
            run.until("does not answer; giving up after 5 min")
            sent = swf("event", name, "--name", "Paid up", "--data", '{"ok": true}', "--address", dev.address)
            assert sent.code == 0
            proxy.heal()
            assert (start.process.communicate()[0], start.process.returncode) == ('{"ok": true}\n', 0)
            assert (run.process.communicate()[0], run.process.returncode) == ("{}\n", 0)
            logs.until("event Paid up")
            logs.process.communicate()
            assert logs.process.returncode == 0


def test_what_is_given_up_goes_on(swf: Swf, dev: Dev, proxy: Proxy) -> None:
    at = ["--address", proxy.address]
    swf.env["SWF_SERVER_TIMEOUT"] = "4"
    with (
        swf.running("start", "waiter.yaml", "--wait", "--id", "given-up", *at) as start,
        swf.running("run", "waiter.yaml", "--id", "left", *at) as run,
        swf.running("run", "waiter.yaml", "--id", "stopped", *at) as stopped,
    ):
        start.until("given-up")
        run.until("swf event")
        stopped.until("swf event")
        proxy.go_away()
        stopped.until("does not answer")
        told = stopped.stop(signal.SIGINT)
        _, waited = start.process.communicate()
        _, left = run.process.communicate()
    assert (start.process.returncode, run.process.returncode, told.code) == (2, 2, 2)
    assert waited.endswith(
        f"error: the server at {proxy.address} has not answered for 4 s\n"
        "  SWF_SERVER_TIMEOUT sets how long it may not answer\n"
        f"  the instance 'given-up' continues: once the server answers, `swf status given-up {' '.join(at)}` shows it\n"
    )
    assert f"error: the server at {proxy.address} has not answered for 4 s" in left
    assert "the instance 'left' has no worker now: `swf worker --task-queue swf-run-" in left
    assert "error: it was not cancelled: " in told.err
    assert "the instance 'stopped' has no worker now" in told.err
    for name in ("given-up", "left", "stopped"):
        assert swf("terminate", name, "--address", dev.address).code == 0


def test_a_server_that_stalls_is_given_up(swf: Swf, proxy: Proxy) -> None:
    proxy.stall()
    ended = swf("list", "--address", proxy.address, env={"SWF_SERVER_TIMEOUT": "PT4S"})
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"the server at {proxy.address} has not answered for 3 s; giving up after 4 s\n"
        f"error: the server at {proxy.address} has not answered for 4 s\n"
        "  SWF_SERVER_TIMEOUT sets how long it may not answer\n"
    )
    wrong = swf("list", "--address", proxy.address, env={"SWF_SERVER_TIMEOUT": "soon"})
    assert (wrong.code, "error: SWF_SERVER_TIMEOUT is 'soon'" in wrong.err) == (2, True)
