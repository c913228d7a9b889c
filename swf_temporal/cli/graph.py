"""`swf graph`: definitions and instances as pictures."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Address, Namespace, ResourceFolders, ask, not_empty
from swf_temporal.cli.output import write
from swf_temporal.cli.shell_completion import instance_ids

if TYPE_CHECKING:
    from swf_temporal.drawing.model import Picture
    from swf_temporal.drawing.timeline import Timeline
    from swf_temporal.operations.client import Client
    from swf_temporal.operations.steps import DrawnRun

EXAMPLES = {"graph": "Example: swf graph orders.yaml --save orders.svg"}


class Format(StrEnum):
    SVG = "svg"
    HTML = "html"
    PNG = "png"


def graph(
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE", help="Definitions, or - for stdin.")] = None,
    *,
    instance: Annotated[
        str | None,
        typer.Option(
            "--instance", metavar="ID", callback=not_empty, help="Draw this instance.", autocompletion=instance_ids
        ),
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option(
            "--history",
            metavar="FILE",
            help="Draw the instance whose history `temporal workflow show --output json` wrote to this file.",
        ),
    ] = None,
    timeline: Annotated[
        bool, typer.Option("--timeline", help="Draw a timeline of the instance instead of the graph; HTML has both.")
    ] = False,
    output: Annotated[
        Format | None,
        typer.Option(
            "--output",
            "-o",
            help="The format: by default from the extension of --save, otherwise SVG. HTML can hold several pictures.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write to this file instead of stdout.")
    ] = None,
    resources: ResourceFolders = None,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Draw definitions and instances: states, what they do, and where they lead.

    Nothing is run. Dashed lines are error handlers (red), retries, and compensation. The picture of an instance, which
    contains its definition, shows what was done, is awaited, failed or was undone.
    """
    if sum((bool(files), instance is not None, history is not None)) != 1:
        raise UsageError("it is not clear what to draw", "give definitions, or --instance ID, or --history FILE")
    form = output or _format_of(save)
    if instance is not None:
        ask(lambda client: _draw_instance(client, instance, form, save, timeline=timeline), address, namespace)
    if address is not None or namespace is not None:
        raise UsageError("--address and --namespace have no effect without --instance", "leave them out")
    if history is not None:
        with default_sigint():
            from swf_temporal.base.stopping import run_until_stopped
        raise typer.Exit(run_until_stopped(_draw_history(history, form, save, timeline=timeline)))
    if timeline:
        raise UsageError("--timeline has no effect without an instance", "add --instance ID, or --history FILE")
    with default_sigint():
        from swf_temporal.sdk.definitions import load_given, resources_of
    readable = resources_of(resources)
    _draw([load_given(file, readable).picture() for file in files or ()], form, save)


async def _draw_instance(client: "Client", workflow_id: str, form: Format, save: Path | None, *, timeline: bool) -> int:
    with default_sigint():
        from swf_temporal.operations.steps import runs_of_instance
    return _draw_runs(await runs_of_instance(client, workflow_id), form, save, timeline=timeline)


async def _draw_history(file: Path, form: Format, save: Path | None, *, timeline: bool) -> int:
    with default_sigint():
        from swf_temporal.operations.steps import runs_in
        from swf_temporal.sdk.logs import be_quiet
    be_quiet()
    return _draw_runs(await runs_in(file), form, save, timeline=timeline)


def _draw_runs(runs: "Sequence[DrawnRun]", form: Format, save: Path | None, *, timeline: bool) -> int:
    drawn: list[Picture | Timeline] = []
    for run in runs if form is Format.HTML else runs[-1:]:
        if form is Format.HTML or not timeline:
            drawn.append(run.picture)
        if (form is Format.HTML or timeline) and run.timeline is not None:
            drawn.append(run.timeline)
    _draw(drawn, form, save)
    return 0


def _draw(pictures: "Sequence[Picture | Timeline]", form: Format, save: Path | None) -> None:
    if not pictures:
        raise UsageError("there is nothing to draw yet", "the instance has not begun")
    if len(pictures) > 1 and form is not Format.HTML:
        raise UsageError(f"a file of {form.upper()} holds one picture", "write --output html for several")
    with default_sigint():
        from swf_temporal.drawing.svg import page_of, png_of, svg_of
    drawn = page_of(pictures) if form is Format.HTML else svg_of(pictures[0])
    content = png_of(drawn) if form is Format.PNG else f"{drawn}\n".encode()
    if save is None:
        typer.echo(content, nl=False)
    else:
        write(save, content)


def _format_of(file: Path | None) -> Format:
    ending = "" if file is None else file.suffix.removeprefix(".").lower()
    return Format(ending) if ending in set(Format) else Format.SVG
