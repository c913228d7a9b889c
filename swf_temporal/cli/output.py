"""Data as it is printed, for programs and for people."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import show_json


class OutputFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


def print_data(value: Any, form: OutputFormat) -> None:
    """Print *value* on stdout as *form* says; as a text it is JSON."""
    if form is OutputFormat.YAML:
        print_yaml(value)
    else:
        print_json(value)


def print_json(value: Any) -> None:
    """Print *value* on stdout: indented on a terminal, else in one line."""
    indent = 2 if sys.stdout.isatty() else None
    typer.echo(show_json(value, indent=indent))


def print_yaml(value: Any) -> None:
    """Print *value* on stdout as YAML, its keys in their order."""
    from swf_temporal.text.yaml_text import write_yaml

    typer.echo(write_yaml(value), nl=False)


def write(file: Path, content: bytes) -> None:
    """Write *content* to *file*. Raises UsageError if that is not possible."""
    try:
        file.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from None
