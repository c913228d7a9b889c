"""What Ctrl-C does, whenever it comes, and where it is ignored."""

import signal
import socket
import subprocess
import sys

import pytest

from tests.cli.conftest import COMMAND, PATIENCE, WAITER, Swf, free_port, hearing_ctrl_c

_AS_IT_IMPORTS = """\
import os, signal, sys

awaited = sys.argv.pop(1)

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == awaited:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from swf_temporal.cli.entry import main
main()
"""


@pytest.mark.parametrize("module", ["typer", "swf_temporal.cli.main", "swf_temporal.cli.validate", "pydantic", "yaml"])
def test_ctrl_c_while_modules_are_imported(swf: Swf, module: str) -> None:
    with hearing_ctrl_c():
        ended = subprocess.run(
            [sys.executable, "-c", _AS_IT_IMPORTS, module, "validate", "hello.yaml"],
            check=False, cwd=swf.folder, env=swf.env, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


@pytest.mark.temporal
def test_where_ctrl_c_is_ignored(swf: Swf) -> None:
    """A background job of a script does not hear Ctrl-C, and still ends when it is told to."""
    ports = ["--port", str(free_port()), "--ui-port", str(free_port())]
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *COMMAND]
    swf.write("definitions/waiter.yaml", WAITER)
    with swf.running("dev", "definitions", *ports, command=ignoring) as dev:
        dev.until("ready: ")
        dev.process.send_signal(signal.SIGINT)
        swf.write("definitions/later.yaml", WAITER.replace("id: waiter", "id: later"))
        dev.until("serving later")
        ended = dev.stop(signal.SIGTERM)
    assert (ended.code, ended.out) == (0, "")


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_while_a_server_does_not_answer(swf: Swf, told: signal.Signals) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        asking = swf.running("event", "e-1", "com.paid", "--source", "shop", "--address", address)
        with asking as running, silent.accept()[0] as connection:
            connection.recv(1)  # it asks, and waits for the answer
            ended = running.stop(told)
    assert (ended.code, ended.out, ended.err) == (128 + told, "", "")
