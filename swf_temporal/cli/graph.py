"""`swf graph`: definitions as pictures."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import ResourceFolders
from swf_temporal.errors import UsageError

EXAMPLES = {"graph": "Example: swf graph orders.yaml --save orders.svg"}


class Format(StrEnum):
    SVG = "svg"
    HTML = "html"
    PNG = "png"


def graph(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Definitions, or - for stdin.")],
    *,
    output: Annotated[
        Format | None,
        typer.Option(
            "--output",
            "-o",
            help="The format: by default that of the ending of --save, else SVG. HTML can hold several.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write to this file instead of stdout.")
    ] = None,
    resources: ResourceFolders = None,
) -> None:
    """Draw definitions: states, what they do, and where they lead.

    Nothing is run or fetched. Broken lines lead on from errors (red), to another attempt, and to what undoes a state.
    """
    form = output or _format_of(save)
    if len(files) > 1 and form is not Format.HTML:
        raise UsageError(f"a file of {form.upper()} holds one picture", "give one FILE, or write --output html")
    with default_sigint():
        from swf_temporal.app.definitions import load_given, resources_of
        from swf_temporal.drawing.png import png_of
        from swf_temporal.drawing.svg import page_of, svg_of
    readable = resources_of(resources)
    pictures = [load_given(file, readable).picture() for file in files]
    drawn = page_of(pictures) if form is Format.HTML else svg_of(pictures[0])
    content = png_of(drawn) if form is Format.PNG else f"{drawn}\n".encode()
    if save is None:
        typer.echo(content, nl=False)
    else:
        _write(save, content)


def _format_of(file: Path | None) -> Format:
    ending = "" if file is None else file.suffix.removeprefix(".").lower()
    return Format(ending) if ending in set(Format) else Format.SVG


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from None
