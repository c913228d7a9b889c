"""Every example runs by its one command, and gives what its page says."""

import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType

import pytest

from swf_temporal.languages.loading import check_file
from swf_temporal.temporal.server import local_server
from tests.processes import ending_with_us

ROOT = Path(__file__).parents[2]
RUNNER = ROOT / "examples" / "run.py"
FOLDERS = {
    path.name: path
    for path in sorted(RUNNER.parent.iterdir())
    if path.is_dir() and path.name[0] not in "._" and path.name != "shop"  # which is a service with tests of its own
}
OURS = {name: folder for name, folder in FOLDERS.items() if name != "orders"}
"""Those that the runner runs; `make demo` runs the other."""

NEEDS = {
    "asyncapi": ("websockets",),
    "graphql": ("flask", "graphql"),
    "grpc": ("grpc", "grpc_tools"),
    **dict.fromkeys(("http", "oauth2", "odata", "openapi"), ("flask",)),
}
"""The modules that `make example` installs, and a worker can do without."""

CAUGHT = {
    "direktiv": "the card is not good for 120",
    "asyncapi": "TimedOut: action 'orderTaxi' took longer than it may",
    "expression": "ExpressionFailed: no rate for NOK",
    "graphql": "Ada is too late",
    "grpc": "FAILED_PRECONDITION: A1 is kept for the press",
    "http": "409 Conflict",
    "oauth2": "403 Forbidden",
    "odata": "404: there are no Suppliers with the key 9",
    "openapi": "409 Conflict",
    "own-type": "IntegrityError: CHECK constraint failed",
    "python": "WrongChecksumError: DE89… is not an account number",
    "script": "StatisticsError: line 3 of the script of function 'summarize'",
    "temporal": "CardDeclined: the card has no 32 left",
}
"""What each example's `onErrors` deals with."""


@pytest.fixture(scope="module")
async def environment(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, str]]:
    """The variables of an example's process: it knows of a server that all of them share, and of nothing else."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TEMPORAL_", "SWF_"))}
    home = str(tmp_path_factory.mktemp("home"))
    async with local_server() as server:
        address = server.client.service_client.config.target_host
        yield {**kept, "HOME": home, "XDG_CONFIG_HOME": home, "TEMPORAL_ADDRESS": address, "NO_COLOR": "1"}


@pytest.mark.temporal
@pytest.mark.parametrize("name", OURS)
def test_an_example_gives_what_its_page_says(name: str, environment: dict[str, str]) -> None:
    """The command ends well, its output is the one on the page, and what it started is gone."""
    skip_unless_installed(name)

    ran = subprocess.run(
        [sys.executable, str(RUNNER), name],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == promised(name)
    caught = [line for line in ran.stderr.splitlines() if "error caught: " in line]
    assert len(caught) == 1
    assert CAUGHT[name] in caught[0]
    assert [url for url in urls(ran.stderr) if answers(url)] == []


@pytest.mark.temporal
def test_an_example_that_is_stopped_leaves_nothing(environment: dict[str, str]) -> None:
    """Told to stop, the runner stops the run and then its service, and says by what it was stopped."""
    skip_unless_installed("asyncapi")
    process = subprocess.Popen(
        [*ending_with_us(), sys.executable, str(RUNNER), "asyncapi"],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    output = ""
    try:
        for line in process.stderr:
            output += line
            if "Ask the usual company" in line:
                break
        assert [answers(url) for url in urls(output)] == [True]
        process.send_signal(signal.SIGTERM)
        output += process.communicate(timeout=30)[1]
    finally:
        process.kill()
        process.wait()

    assert process.returncode == 128 + signal.SIGTERM, output
    assert [answers(url) for url in urls(output)] == [False]


@pytest.mark.parametrize("name", FOLDERS)
def test_a_definition_has_no_problems(name: str) -> None:
    (definition,) = (path for kind in ("sw", "direktiv") for path in FOLDERS[name].glob(f"*.{kind}.yaml"))

    assert check_file(definition).problems == ()


@pytest.mark.parametrize("name", FOLDERS)
def test_a_page_tells_the_command(name: str) -> None:
    """Every folder has a page of its own; it is short, and begins with the command."""
    page = (FOLDERS[name] / "README.md").read_text(encoding="utf-8")

    command = "make demo" if name == "orders" else f"make example NAME={name}"
    assert page.splitlines()[2:5] == ["```console", f"$ {command}", "```"]
    assert len(page.splitlines()) <= 25


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    spec = importlib.util.spec_from_file_location("examples_run", RUNNER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_is_listed(runner: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """The page has a line for each folder, with its command, and the runner one for each that it runs."""
    page = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| \[([\w-]+)\]\(\1/README\.md\) \| .* \| `(.*)` \|$", page, re.MULTILINE))
    assert told == {**{name: f"make example NAME={name}" for name in OURS}, "orders": "make demo"}
    assert runner.main([]) == 0
    assert [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()] == [
        [name, (folder / "README.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")]
        for name, folder in OURS.items()
    ]


@pytest.mark.parametrize(("name", "told"), [
    ("soap", f"there is no example 'soap'; there are {', '.join(OURS)}\n"),
    ("orders", "'orders' has its own program: make demo\n"),
])  # fmt: skip
def test_what_the_runner_does_not_run(
    runner: ModuleType, capsys: pytest.CaptureFixture[str], name: str, told: str
) -> None:
    """It exits as commands do that were misused."""
    assert runner.main([name]) == 2
    assert capsys.readouterr() == ("", told)


def skip_unless_installed(name: str) -> None:
    missing = [module for module in NEEDS.get(name, ()) if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"the example '{name}' was not run: {', '.join(missing)} not installed; see the extra 'examples'")


def promised(name: str) -> object:
    page = (OURS[name] / "README.md").read_text(encoding="utf-8")
    (output,) = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return json.loads(output)


def urls(output: str) -> list[str]:
    return re.findall(r"^[\w-]+/(?:service|function)\.py: (.*)$", output, re.MULTILINE)


def answers(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2].rstrip("/")))) == 0
