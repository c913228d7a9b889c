"""`swf compat`: what a changed definition, or another release, means for instances."""

from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Address, Namespace, Output, ResourceFolders, list_filter, refuse_without_effect
from swf_temporal.cli.output import OutputFormat

EXAMPLES = {"compat": "Example: swf compat orders-1.0.yaml orders-1.1.yaml --query 'CloseTime IS NULL'"}

_MAX_INSTANCES = 200


_OF_DEFINITIONS = dict.fromkeys(("definitions", "strict", "resources"), "give OLD and NEW")
_OF_A_SERVER = dict.fromkeys(("limit", "address", "namespace"), "give --query")


def compat(
    ctx: typer.Context,
    old: Annotated[
        str | None, typer.Argument(metavar="OLD", help="The old definition: a file, or an id in --definitions.")
    ] = None,
    new: Annotated[str | None, typer.Argument(metavar="NEW", help="The new definition: a file, or ID@VERSION.")] = None,
    *,
    definitions: Annotated[
        list[Path] | None,
        typer.Option("--definitions", "-d", metavar="FOLDER", help="A folder in which ids are looked up. Repeatable."),
    ] = None,
    histories: Annotated[
        Path | None,
        typer.Option("--histories", metavar="FOLDER", help="Replay the histories in this folder with this release."),
    ] = None,
    query: Annotated[
        str | None,
        list_filter("Replay the instances on the server that match a list filter of Temporal."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="NUMBER", min=1, help="The maximum number of instances.")
    ] = _MAX_INSTANCES,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if there are warnings.")] = False,
    resources: ResourceFolders = None,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Show the effects of a changed definition or another release on instances.

    Compares OLD and NEW, and shows the effects on running instances, and on callers. Replays histories with this
    release, and shows for each whether the instance can continue. Exits with 1 if one cannot.
    """
    if (old is None) != (new is None):
        raise UsageError("a comparison needs two definitions", "give OLD and NEW")
    if old is None and histories is None and query is None:
        raise UsageError("there is nothing to compare", "give OLD and NEW, --histories, or --query")
    if histories is not None and query is not None:
        raise UsageError("--histories and --query exclude each other", "give one of them")
    if old is None:
        refuse_without_effect(ctx, "is for a comparison of definitions", _OF_DEFINITIONS)
    if query is None:
        refuse_without_effect(ctx, "is for instances on a server", _OF_A_SERVER)
    with default_sigint():
        from swf_temporal.base.stopping import run_until_stopped
        from swf_temporal.cli.comparing import ComparisonRequest, look
    wanted = ComparisonRequest(
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
