"""What the pages of the first hour have their reader type works, and prints what they say."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from swf_temporal.cli.main import app
from tests.docs.pages import ROOT, Block, blocks_of
from tests.docs.reader import Reader, reading

PAGES = ("README.md", "docs/tutorial.md", "docs/common-mistakes.md")
"""Those that are followed step by step. Other pages show commands too: their options are looked up."""

INSTALLING = {"README.md": "Install"}
"""The section of a page that is followed in a checkout. Everything else is followed in a folder that begins empty."""

NOT_RUN = {
    "docker compose up --build": "needs Docker, and images from a registry",
    "make demo": "runs examples/orders/demo.py, which tests/examples/test_orders.py does",
    "make test": "runs this test",
}
"""The commands within sentences that no test runs or looks up, and why."""

_INLINE = re.compile(r"(?<!`)`((?:swf|make|docker|pip|temporal|python3?) [^`]+)`(?!`)")
_IGNORED = shutil.ignore_patterns(".git", ".*cache", ".venv", ".hypothesis", "tests", "*.egg-info", "__pycache__")
_COMMANDS: Any = typer.main.get_command(app)


def of_the_checkout(block: Block) -> bool:
    """Tell whether a block is followed in a checkout."""
    return INSTALLING.get(block.page) == block.heading


def follow(reader: Reader, blocks: list[Block]) -> None:
    """Follow the blocks; whatever was not as the page says is told in one."""
    for block in blocks:
        reader.follow(block)
    told = "\n".join(str(one) for one in reader.compared if not one.holds)
    assert not told, f"\n{told}\nIf this is meant: python -m tests.docs.refresh {blocks[0].page} puts it into the page"


@pytest.mark.temporal
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_true(page: str, tmp_path: Path) -> None:
    """From an empty folder, with an empty environment, each command prints what the page says."""
    with reading(tmp_path) as reader:
        follow(reader, [block for block in blocks_of(page) if not of_the_checkout(block)])


@pytest.mark.timeout(900)
def test_it_installs(tmp_path: Path) -> None:
    """From a checkout, with an index and from a folder of wheels without one."""
    asked = [sys.executable, "-m", "pip", "download", "--no-deps", "--retries=0", "--timeout=10", "hatchling"]
    if subprocess.run(asked, cwd=tmp_path, check=False, capture_output=True).returncode:
        pytest.skip("no package index answers")
    passed = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "http"))}
    with reading(tmp_path, passed) as reader:
        shutil.copytree(ROOT, reader.folder, ignore=_IGNORED, dirs_exist_ok=True)
        installed = 0
        for block in filter(of_the_checkout, blocks_of("README.md")):
            if "python3 -m venv" in block.text:
                reader.terminal.type("command -v deactivate > /dev/null && deactivate; rm -rf .venv")
            follow(reader, [block])
            if "pip install" in block.text:
                installed += 1
                assert reader.terminal.type("swf --version")[0] == 0
                assert reader.terminal.type("command -v swf temporal")[1].count(f"{reader.folder}/.venv/bin/") == 2
        assert installed == 2


def test_what_installing_names_is_there() -> None:
    """The extras, the package and the Python that are written are those of the project, without asking an index."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    section = next(part for part in (ROOT / "README.md").read_text(encoding="utf-8").split("\n## ") if "pip" in part)
    assert f"Python {project['requires-python'].removeprefix('>=')} or newer" in section
    named = re.findall(r"([\w-]*|\.)\[([\w,]+)\]'", section)
    assert {name for name, _ in named} == {"", ".", project["name"]} - {""}
    assert {extra for _, extras in named for extra in extras.split(",")} <= project["optional-dependencies"].keys()


@pytest.mark.parametrize("page", PAGES)
def test_no_command_goes_unchecked(page: str) -> None:
    """What stands in sentences is looked up: it is a command with these options, or it is listed with a reason."""
    text = re.sub(r"^ *```.*?^ *```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    typed = {" ".join(command.split()) for command in _INLINE.findall(text)} - NOT_RUN.keys()
    assert [problem for command in sorted(typed) for problem in problems_of(command)] == []


def test_what_is_not_run_is_written_somewhere() -> None:
    """The list of what is not run has nothing that no page says."""
    texts = "".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    assert [command for command in NOT_RUN if f"`{command}`" not in texts] == []


def test_other_pages_name_what_there_is() -> None:
    """Every `swf` command in a console on any page is one, with options that it has."""
    pages = [str(path.relative_to(ROOT)) for folder in ("docs", "examples") for path in (ROOT / folder).rglob("*.md")]
    typed = [
        command.typed
        for page in pages
        for block in blocks_of(page)
        for command in block.commands
        if command.typed.startswith("swf ")
    ]
    assert len(typed) > 20
    assert [problem for command in typed for problem in problems_of(command)] == []


def problems_of(typed: str) -> list[str]:
    """Say what is wrong with a command: that it is none of ours, or has options that it does not know."""
    words = shlex.split(typed, comments=True)
    if words[0] == "swf":
        return _problems_of_ours(typed, words[1:])
    if any(
        command.typed.startswith(typed) for page in PAGES for block in blocks_of(page) for command in block.commands
    ):
        return []
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        return [] if words[1] in targets else [f"{typed}: there is no such target"]
    return [f"{typed}: no test runs it; if none can, it belongs into NOT_RUN, with the reason"]


def _problems_of_ours(typed: str, words: list[str]) -> list[str]:
    command = _COMMANDS
    while words and words[0].islower() and (sub := getattr(command, "get_command", lambda *_: None)(None, words[0])):
        command, words = sub, words[1:]
    if command is _COMMANDS and not words[0].isupper() and not words[0].startswith("-"):
        return [f"{typed}: there is no such command"]
    known = {option for parameter in command.params for option in [*parameter.opts, *parameter.secondary_opts]}
    given = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    return [f"{typed}: no option {option}" for option in given if option not in {*known, "--help", "-h"}]
