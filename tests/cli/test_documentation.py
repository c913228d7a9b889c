"""Whether what is written about the commands is true."""

import importlib
import inspect
from typing import Any

import pytest
import typer

from swf_temporal.cli.lazy import COMMANDS
from swf_temporal.cli.main import app

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
