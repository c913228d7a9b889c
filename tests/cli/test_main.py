"""What `swf` itself does, whatever the command."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from swf_temporal import __version__
from swf_temporal.cli.lazy import COMMANDS
from tests.cli.conftest import Swf

ORDERS = str(Path(__file__).parents[2] / "examples" / "orders" / "orders.sw.yaml")
INVOICE = str(Path(__file__).parents[2] / "examples" / "expression" / "invoice.sw.yaml")
GIVEN = str(Path(__file__).parents[2] / "examples" / "expression" / "input.json")
HEAVY = ("temporalio", "pydantic", "yaml", "httpx", "jq", "rich")
WITH_SETTINGS = ("worker", "consume", "gateway", "dev", "codec-server")
"""The commands whose options are made of the fields of settings, which are pydantic's."""
OTHER_LANGUAGE = "swf_temporal.languages.direktiv.model"
NOWHERE = ["--address", "127.0.0.1:1"]
OF_DEFINITIONS = (
    "pydantic", "yaml", "httpx", "jq", "rich", "swf_temporal.languages.loading",
    "swf_temporal.languages.serverless_workflow.model.workflow",
)  # fmt: skip
OF_SERVERS = [
    ["list", *NOWHERE],
    *([name, "some-id", *NOWHERE] for name in ("status", "logs", "result", "cancel", "terminate", "start")),
    ["event", "some-id", "--name", "paid", *NOWHERE],
    *(["schedule", name, "some-id", *NOWHERE] for name in ("show", "pause", "resume", "trigger", "delete")),
    ["schedule", "list", *NOWHERE],
]


def test_help_lists_every_command(swf: Swf) -> None:
    ended = swf("--help")
    assert ended.code == 0
    for name, command in COMMANDS.items():
        assert f"  {name} " in ended.out
        assert command.summary.split()[0] in ended.out


CASES: list[tuple[list[str], int, Sequence[str]]] = [
    (["--help"], 0, HEAVY),
    (["validate", "--help"], 0, ["temporalio"]),
    (["describe", ORDERS], 0, ["temporalio"]),
    (["schema"], 0, ["temporalio", "rich", "httpx", "jq"]),
    *(([name, "--help"], 0, HEAVY) for name in COMMANDS if name not in WITH_SETTINGS),
    *(([name, "--help"], 0, [one for one in HEAVY if one != "pydantic"]) for name in WITH_SETTINGS),
    (["validate", ORDERS], 0,
     ["temporalio", "httpx", "rich", "swf_temporal.functions.http.client", OTHER_LANGUAGE,
      "swf_temporal.cli.annotations", "swf_temporal.migration.report"]),
    (["validate", INVOICE], 0, ["asyncio", "temporalio"]),
    (["run", "--simulate", INVOICE, "--input", f"@{GIVEN}"], 0,
     ["temporalio", "httpx", "rich", "swf_temporal.functions.calling", OTHER_LANGUAGE]),
    *((command, 2, OF_DEFINITIONS) for command in OF_SERVERS),
    (["start", INVOICE, *NOWHERE], 2, ["httpx", "rich", "swf_temporal.functions.calling", "temporalio.testing"]),
]  # fmt: skip
_EACH_IN_A_COPY = """\
import json, os, sys
from swf_temporal.cli.main import code_of
told = os.dup(1)
for arguments, _, heavy in json.loads(sys.argv[1]):
    if os.fork() == 0:
        os.dup2(2, 1)
        code = code_of(arguments)
        found = [name for name in heavy if name in sys.modules]
        os.write(told, json.dumps([arguments, code, found]).encode() + b"\\n")
        os._exit(0)
    os.wait()
"""


@pytest.mark.timeout(300)
def test_imports_no_more_than_it_needs() -> None:
    """Asking for help imports nothing heavy, and what only reads a definition does not import the engine.

    Nor does what only asks a server import what reads definitions or calls functions.
    """
    program = [sys.executable, "-c", _EACH_IN_A_COPY, json.dumps(CASES)]
    ended = subprocess.run(program, check=True, capture_output=True, text=True, timeout=300)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert found == [[arguments, code, []] for arguments, code, _ in CASES], ended.stderr


def test_version(swf: Swf) -> None:
    assert swf("--version").out == f"swf {__version__}\n"


def test_bug_is_told_in_a_line(swf: Swf) -> None:
    program = (
        "from swf_temporal.cli import lazy, main\n"
        "lazy.COMMANDS['run'] = lazy.Command('nowhere', 'run', '')\n"
        "main.main()"
    )
    command = [sys.executable, "-c", program, "run", "x.yaml"]
    ended = subprocess.run(command, check=False, env=swf.env, capture_output=True, text=True, timeout=30)
    assert ended.returncode == 70
    assert ended.stderr.startswith(
        "error: ModuleNotFoundError: No module named 'swf_temporal.cli.nowhere'\nthis is a bug"
    )
    env = {**swf.env, "SWF_DEBUG": "1"}
    ended = subprocess.run(command, check=False, env=env, capture_output=True, text=True, timeout=30)
    assert "Traceback" in ended.stderr


def test_completion_into_a_home_that_cannot_be_written(swf: Swf) -> None:
    home = str(swf.folder / "hello.yaml" / "home")
    # Without this the shell that runs the tests decides.
    detection = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "true"}
    ended = swf("--install-completion", "bash", env={"HOME": home, **detection})
    assert (ended.code, ended.err.startswith(f"error: {swf.folder}/hello.yaml/")) == (2, True)
    assert ended.err.endswith(" cannot be used: Not a directory\n")
