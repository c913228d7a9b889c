"""`swf setup`: register the search attributes that workers set on instances."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Address, Namespace, ResourceFolders, ask

if TYPE_CHECKING:
    from swf_temporal.operations.client import Client
    from swf_temporal.temporal.search_attributes import Types

EXAMPLES = {"setup": "Example: swf setup definitions/ --namespace orders --dry-run"}


def setup(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Definitions that name further ones, and folders of definitions."),
    ] = None,
    *,
    resources: ResourceFolders = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show which are missing.")] = False,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Register the search attributes that workers set on instances.

    Attributes that the namespace has already are not changed.
    """
    with default_sigint():
        from swf_temporal.sdk.definitions import catalogue_of, resources_of
        from swf_temporal.temporal.search_attributes import needed_by
    needed = needed_by(catalogue_of(paths or (), resources_of(resources)))
    ask(lambda client: _set_up(client, needed, dry_run=dry_run), address, namespace)


async def _set_up(client: "Client", needed: "Types", *, dry_run: bool) -> int:
    from swf_temporal.temporal.search_attributes import compared, set_up

    found = await (compared if dry_run else set_up)(client.temporal, needed)
    for name, kind in needed.items():
        became = "is there already" if name in found.there else "is missing" if dry_run else "registered"
        typer.echo(f"{name} ({kind}): {became}")
    return 0
