"""What `swf` itself does, whatever the command."""

import subprocess
import sys
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
OTHER_LANGUAGE = "swf_temporal.languages.direktiv.model.workflow"
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


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], HEAVY),
        (["validate", "--help"], ["temporalio"]),
        (["describe", ORDERS], ["temporalio"]),
        (["schema"], ["temporalio", "rich", "httpx", "jq"]),
        *(([name, "--help"], HEAVY) for name in COMMANDS if name not in WITH_SETTINGS),
        *(([name, "--help"], [one for one in HEAVY if one != "pydantic"]) for name in WITH_SETTINGS),
        (
            ["validate", ORDERS],
            [
                *("temporalio", "httpx", "rich", "swf_temporal.functions.http.client", OTHER_LANGUAGE),
                *("swf_temporal.cli.annotations", "swf_temporal.migration.report"),
            ],
        ),
        (
            ["run", "--simulate", INVOICE, "--input", f"@{GIVEN}"],
            ["temporalio", "httpx", "rich", "swf_temporal.functions.calling", OTHER_LANGUAGE],
        ),
        *((command, OF_DEFINITIONS) for command in OF_SERVERS),
        (["start", INVOICE, *NOWHERE], ["httpx", "rich", "swf_temporal.functions.calling", "temporalio.testing"]),
    ],
)  # fmt: skip
def test_imports_no_more_than_it_needs(arguments: list[str], heavy: list[str]) -> None:
    """Asking for help imports nothing heavy, and what only reads a definition does not import the engine.

    Nor does what only asks a server import what reads definitions or calls functions.
    """
    program = (
        "import os, sys\nfrom swf_temporal.cli.main import code_of\n"
        f"assert code_of({arguments!r}) == {2 if NOWHERE[1] in arguments else 0}\n"
        f"found = [name for name in {heavy!r} if name in sys.modules]\n"
        "print(found, file=sys.stderr)\n"
        "os._exit(bool(found))\n"  # as the command ends itself
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr


def test_version(swf: Swf) -> None:
    assert swf("--version").out == f"swf {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["xyzzy"], "No such command 'xyzzy'."),
        (["runn"], "No such command 'runn'. Did you mean 'run'?"),
        (["schedule", "aply"], "No such command 'aply'. Did you mean 'apply'?"),
        (["run"], "Missing argument 'FILE'"),
        (["run", "hello.yaml", "--inptu", "{}"], "No such option: --inptu"),
        (["validate", "hello.yaml", "--output", "xml"], "Invalid value for '--output'"),
        (["list", "--limit", "0"], "Invalid value for '--limit'"),
        (["dev", "--port", "72330"], "Invalid value for '--port'"),
        (["dev", "--ui-port", "0"], "Invalid value for '--ui-port'"),
        (["worker", "--health", "80800"], "Invalid value for '--health'"),
    ],
)
def test_wrong_use(swf: Swf, arguments: list[str], told: str) -> None:
    """A command line that cannot be understood is answered on stderr, with exit code 2."""
    ended = swf(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert told in " ".join(ended.err.split())
    assert "Traceback" not in ended.err


def test_bug_is_told_in_a_line(swf: Swf) -> None:
    """An error that nobody foresaw is told in one line, and where it happened only if that is asked for."""
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
