"""Whether what is written about the commands is true."""

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest
import typer

from swf_temporal.cli.lazy import COMMANDS
from swf_temporal.cli.main import app

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
GROUP: Any = typer.main.get_command(app)


def command_of(name: str) -> Any:
    """Return a command as the library has it."""
    return GROUP.get_command(None, name)


@pytest.mark.parametrize("name", COMMANDS)
def test_documents_every_option(name: str) -> None:
    """The page has a section for the command, which names each of its options."""
    assert f"\n## swf {name}\n" in PAGE
    section = PAGE.partition(f"\n## swf {name}\n")[2].partition("\n## ")[0]
    for parameter in command_of(name).params:
        for option in [] if parameter.hidden else parameter.opts:
            if option.startswith("--") and option != "--help":
                assert f"`{option}" in section, f"{option} of swf {name}"


@pytest.mark.parametrize("name", COMMANDS)
def test_summary_is_the_docstring(name: str) -> None:
    """The list of commands says the same as the help of the command."""
    command = COMMANDS[name]
    module = importlib.import_module(f"swf_temporal.cli.{command.module}")
    assert (inspect.getdoc(getattr(module, command.function)) or "").splitlines()[0] == command.summary


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_an_example(name: str) -> None:
    """The help of the command ends with an example of its use."""
    assert command_of(name).epilog.startswith(f"Example: swf {name} ")
