"""What pages have their reader type is there, whether a test follows the page or not."""

import re
import shlex
from typing import Any

import pytest
import typer

from swf_temporal.cli.main import app
from tests.docs.pages import PAGES, ROOT, blocks_of

NOT_RUN = {
    "pip install fastapi uvicorn": "would change the environment, which has both",
    "docker compose up --build": "needs Docker, and images from a registry",
    "make demo": "runs examples/orders/demo.py, which tests/examples/test_orders.py does",
    "make test": "runs this test",
    "pip install 'swf-temporal[grpc]'": "would change the environment; test_installing has pip say what it would do",
    "python -m bench.events": "measures, for minutes",
    "python -m tests.many_events": "sends for half an hour; tests/many_events has a short run",
}
"""The commands within sentences that no test runs or looks up, and why."""

_INLINE = re.compile(r"(?<!`)`((?:swf|make|docker|pip|temporal|python3?) [^`]+)`(?!`)")
_COMMANDS: Any = typer.main.get_command(app)


@pytest.mark.parametrize("page", PAGES)
def test_no_command_goes_unchecked(page: str) -> None:
    """What stands in sentences is looked up: it is a command with these options, or it is listed with a reason."""
    text = re.sub(r"^ *```.*?^ *```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    typed = {" ".join(command.split()) for command in _INLINE.findall(text)} - NOT_RUN.keys()
    assert [problem for command in sorted(typed) for problem in problems_of(command)] == []


def test_what_is_not_run_is_written_somewhere() -> None:
    texts = "".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    assert [command for command in NOT_RUN if f"`{command}`" not in texts] == []


def test_other_pages_name_what_there_is() -> None:
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


def test_jobs_run_what_the_page_has_its_reader_run() -> None:
    """Every `swf` command in a job on the page about continuous integration is one that a test of the page runs."""
    blocks = blocks_of("docs/ci.md")
    steps = re.compile(r"^ *- (?:run: )?(swf .*)$", re.MULTILINE)
    jobs = {command for block in blocks if block.language == "yaml" for command in steps.findall(block.text)}
    assert len(jobs) >= 3
    assert jobs <= {command.typed for block in blocks for command in block.commands}


def problems_of(typed: str) -> list[str]:
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
    return [f"{typed}: no test runs it; if none can, it belongs in NOT_RUN, with the reason"]


def _problems_of_ours(typed: str, words: list[str]) -> list[str]:
    command = _COMMANDS
    while words and words[0].islower() and (sub := getattr(command, "get_command", lambda *_: None)(None, words[0])):
        command, words = sub, words[1:]
    if command is _COMMANDS and not words[0].isupper() and not words[0].startswith("-"):
        return [f"{typed}: there is no such command"]
    known = {option for parameter in command.params for option in [*parameter.opts, *parameter.secondary_opts]}
    ours = words[: words.index("--")] if "--" in words else words  # what follows belongs to another program
    given = [word.partition("=")[0] for word in ours if re.match(r"--?[a-z]", word)]
    return [f"{typed}: no option {option}" for option in given if option not in {*known, "--help", "-h"}]
