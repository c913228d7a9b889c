"""`swf compat`: what a changed definition, or another release, means for instances."""

from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.cli.interrupts import ending_at_once
from swf_temporal.cli.options import Address, Namespace, Output, ResourceFolders, list_filter
from swf_temporal.cli.output import form_of
from swf_temporal.errors import UsageError

EXAMPLES = {"compat": "Example: swf compat orders-1.0.yaml orders-1.1.yaml --query 'ExecutionStatus=\"Running\"'"}

_MOST = 200


def compat(
    old: Annotated[
        str | None, typer.Argument(metavar="[OLD", help="The definition as it was: a file, or an id in --definitions.")
    ] = None,
    new: Annotated[
        str | None, typer.Argument(metavar="NEW]", help="The definition as it is to be: a file, or ID@VERSION.")
    ] = None,
    *,
    definitions: Annotated[
        list[Path] | None,
        typer.Option("--definitions", "-d", metavar="FOLDER", help="A folder whose definitions ids mean. Repeatable."),
    ] = None,
    histories: Annotated[
        Path | None,
        typer.Option("--histories", metavar="FOLDER", help="Replay the histories in this folder with this release."),
    ] = None,
    query: Annotated[
        str | None,
        list_filter("Replay the instances on the server that Temporal's list filter finds."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="NUMBER", min=1, help="At most so many instances.")] = _MOST,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if there are warnings.")] = False,
    resources: ResourceFolders = None,
    output: Output = None,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Say what a changed definition, or another release, means for instances.

    OLD and NEW are compared, and it is told what that means for instances that run, and for those that call them.
    Histories are replayed by this release, which tells of each whether the instance goes on. Exits with 1 if one does
    not.
    """
    form = form_of(output)
    if (old is None) != (new is None):
        raise UsageError("a comparison needs two definitions", "give OLD and NEW")
    if old is None and histories is None and query is None:
        raise UsageError("there is nothing to look at", "give OLD and NEW, --histories, or --query")
    if histories is not None and query is not None:
        raise UsageError("--histories and --query are two places to look", "give one of them")
    with ending_at_once():
        from swf_temporal.app.stopping import run_until_stopped
        from swf_temporal.cli.comparing import Looking, look
    wanted = Looking(
        old=old,
        new=new,
        definitions=definitions or (),
        histories=histories,
        query=query,
        limit=limit,
        strict=strict,
        resources=resources,
        form=form,
        address=address,
        namespace=namespace,
    )
    raise typer.Exit(run_until_stopped(look(wanted)))
