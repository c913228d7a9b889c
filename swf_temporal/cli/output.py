"""Printing of data, for programs and for people."""

import os
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import show_json


class OutputFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


def print_data(value: Any, form: OutputFormat) -> None:
    """Print *value* on stdout in the format *form*; the text format is JSON here."""
    if form is OutputFormat.YAML:
        print_yaml(value)
    else:
        print_json(value)


def print_json(value: Any) -> None:
    """Print *value* on stdout as JSON: indented on a terminal, otherwise in one line."""
    indent = 2 if sys.stdout.isatty() else None
    typer.echo(show_json(value, indent=indent))


def print_yaml(value: Any) -> None:
    """Print *value* on stdout as YAML, with keys in their given order."""
    from swf_temporal.text.yaml_text import write_yaml

    typer.echo(write_yaml(value), nl=False)


def write(file: Path, content: bytes) -> None:
    """Write *content* to *file*. Raises UsageError if that is not possible, or if a link leads out of its folder."""
    from swf_temporal.base.files import refuse_outside

    try:
        refuse_outside(file, file.parent)
        file.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from None


_USUAL_WIDTH = 80
"""The assumed width of a terminal that does not report its own."""


def warn(text: object) -> None:
    """Write *text* to stderr, on its own line."""
    typer.echo(text, err=True)


def is_rich(stream: IO[str]) -> bool:
    """Return True if *stream* is a terminal on which lines can be overwritten."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def is_coloured(stream: IO[str]) -> bool:
    """Return True if colours may be written to *stream*: never if NO_COLOR is set."""
    return is_rich(stream) and not os.environ.get("NO_COLOR")


def styled(text: str, stream: IO[str], **style: Any) -> str:
    """Return *text* in a style of `typer.style`, if *stream* can show it."""
    return typer.style(text, **style) if text and is_coloured(stream) else text


def in_columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for number, row in enumerate((head, *rows)):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        line = "  ".join(cells).rstrip()
        yield line if number else styled(line, sys.stdout, bold=True)


class Progress:
    """A line on stderr that is overwritten; nothing is shown if stderr is not a terminal."""

    def __init__(self) -> None:
        self._is_shown = is_rich(sys.stderr)

    def tell(self, text: str) -> None:
        """Show *text* in place of what was shown before."""
        if self._is_shown:
            width = (os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_WIDTH) - 1
            sys.stderr.write(f"\r\x1b[K{text[:width]}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line."""
        self.tell("")
