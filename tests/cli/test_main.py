"""What `swf` itself does, whatever the command: help, completion, and what it imports."""

import importlib
import inspect
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from swf_temporal import __version__
from swf_temporal.cli.lazy import COMMANDS
from swf_temporal.cli.main import app
from swf_temporal.cli.recent_instances import recall, remember
from tests.cli.conftest import Dev, Swf, until

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
_GROUPS_IN_COPIES = """\
import json, os, sys
from swf_temporal.cli.main import code_of
told = os.dup(1)
for heavy, commands in json.loads(sys.argv[1]):
    if os.fork() == 0:
        os.dup2(2, 1)
        for arguments in commands:
            code = code_of(arguments)
            found = [name for name in heavy if name in sys.modules]
            os.write(told, json.dumps([arguments, code, found]).encode() + b"\\n")
        os._exit(0)
    os.wait()
"""
"""Commands that must not import the same run in one process, one after the other."""


@pytest.mark.timeout(300)
def test_imports_no_more_than_it_needs() -> None:
    """Asking for help imports nothing heavy, and what only reads a definition does not import the engine.

    Nor does what only asks a server import what reads definitions or calls functions.
    """
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    for arguments, _, heavy in CASES:
        groups.setdefault(tuple(heavy), []).append(arguments)
    program = [sys.executable, "-c", _GROUPS_IN_COPIES, json.dumps(list(groups.items()))]
    ended = subprocess.run(program, check=True, capture_output=True, text=True, timeout=300)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    wanted = [[arguments, code, []] for arguments, code, _ in CASES]
    assert sorted(found) == sorted(wanted), ended.stderr


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


GROUP: Any = typer.main.get_command(app)


def command_of(name: str) -> Any:
    return GROUP.get_command(None, name)


@pytest.mark.parametrize("name", COMMANDS)
def test_summary_is_the_docstring(name: str) -> None:
    command = COMMANDS[name]
    module = importlib.import_module(f"swf_temporal.cli.{command.module}")
    assert (inspect.getdoc(getattr(module, command.function)) or "").splitlines()[0] == command.summary


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_an_example(name: str) -> None:
    assert command_of(name).epilog.startswith(f"Example: swf {name} ")


NO_SERVER = "127.0.0.1:1"


def completed(swf: Swf, line: str, **env: str) -> list[str]:
    words = {"_SWF_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    ended = swf(env={**words, **env})
    assert ended.err == ""
    return [line for line in ended.out.splitlines() if line]


@pytest.fixture
def known(swf: Swf, monkeypatch: pytest.MonkeyPatch) -> Swf:
    monkeypatch.setenv("XDG_CACHE_HOME", str(swf.folder / "cache"))
    monkeypatch.setenv("TEMPORAL_ADDRESS", NO_SERVER)
    swf.env |= {"XDG_CACHE_HOME": str(swf.folder / "cache"), "TEMPORAL_ADDRESS": NO_SERVER}
    remember([("order-7", "orders"), ("invoice-1", "invoices")], None, None, all_of_them=True)
    return swf


@pytest.mark.parametrize(("line", "found"), [
    ("swf va", ["validate"]), ("swf term", ["terminate"]), ("swf schedule pre", ["preview"]),
    ("swf run --simu", ["--simulate"]), ("swf list --status comp", ["completed"]),
    ("swf list --output ", ["text", "json", "yaml"]), ("swf help sched", ["schedule"]),
])  # fmt: skip
def test_commands_options_and_their_values(swf: Swf, line: str, found: list[str]) -> None:
    assert completed(swf, line) == found


@pytest.mark.parametrize("command", ["status ", "logs ", "event ", "result -w ", "cancel --workflow-id "])
def test_instances(known: Swf, command: str) -> None:
    assert completed(known, f"swf {command}") == ["order-7", "invoice-1"]
    assert completed(known, f"swf {command}in") == ["invoice-1"]
    assert completed(known, f"swf status --address {NO_SERVER} in") == []


def test_definitions(known: Swf) -> None:
    """Ids of definitions in files of this folder and of those in it, and of instances; files, too, to start one."""
    known.write("inside/other.json", json.dumps({"id": "other", "specVersion": "0.8", "states": []}))
    known.write("not-one.yaml", "id: nothing\n")
    assert completed(known, "swf list --definition ") == ["caller", "hello", "waiter", "other", "orders", "invoices"]
    assert completed(known, "swf schedule show o") == ["other", "orders"]
    assert completed(known, "swf start he") == ["hello", "hello.yaml"]
    assert completed(known, "swf start inside/") == ["inside/other.json"]


@pytest.mark.parametrize("line", ["swf status in", "swf start he", "swf run --s", "swf schedule show o"])
def test_imports_nothing_heavy(known: Swf, line: str) -> None:
    program = (
        "import atexit, sys\n" "def tell():\n"
        "    heavy = ('temporalio', 'pydantic', 'yaml', 'httpx', 'jq', 'asyncio')\n"
        "    print([name for name in heavy if name in sys.modules], file=sys.stderr)\n" "atexit.register(tell)\n"
        "from swf_temporal.cli.main import code_of\n" "code_of([])\n"
    )  # fmt: skip
    words = {"_SWF_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(
        command, check=False, env={**known.env, **words}, cwd=known.folder, capture_output=True, text=True
    )
    assert ended.stderr == "[]\n"
    assert ended.stdout


def test_what_cannot_be_read(known: Swf) -> None:
    for file in (known.folder / "cache").rglob("*.json"):
        file.write_text("[1]")
    assert recall(None, None).instances == {}
    assert completed(known, "swf status ") == []


def test_the_latest_are_kept(known: Swf) -> None:
    remember([("order-8", "orders")], None, None)
    assert list(recall(None, None).instances) == ["order-8", "order-7", "invoice-1"]
    remember(((f"n-{number}", "n") for number in range(300)), None, None)
    kept = list(recall(None, None).instances)
    assert (len(kept), kept[0]) == (200, "n-0")
    assert completed(known, "swf status n-299") == []


@pytest.mark.temporal
def test_the_server_is_looked_at_for_the_next_time(swf: Swf, dev: Dev) -> None:
    elsewhere = {"XDG_CACHE_HOME": str(swf.folder / "elsewhere")}
    started = swf("start", "waiter", "-w", "seen-by-others", "--address", dev.address, env=elsewhere)
    assert started.code == 0
    until(lambda: completed(swf, f"swf status --address {dev.address} seen-by") == ["seen-by-others"])
    swf("terminate", "seen-by-others", "--address", dev.address)
