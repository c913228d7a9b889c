"""`swf describe`: what a workflow needs and does."""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Definitions, ResourceFolders
from swf_temporal.cli.output import print_json, print_yaml

EXAMPLES = {"describe": "Example: swf describe orders.yaml --output mermaid"}


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"
    YAML = "yaml"
    MERMAID = "mermaid"


def describe(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A definition, or - for stdin.")],
    *,
    output: Annotated[
        Format,
        typer.Option("--output", "-o", help="The format of the output; mermaid is the source of a state diagram."),
    ] = Format.TEXT,
    definitions: Definitions = None,
    resources: ResourceFolders = None,
) -> None:
    """Summarize what a workflow needs and does.

    Nothing is run or fetched. Methods and servers of functions are shown if their documents are files on this machine.
    """
    with default_sigint():
        from swf_temporal.cli.output import warn
        from swf_temporal.languages.catalogue import Catalogue
        from swf_temporal.languages.describing import Description
        from swf_temporal.sdk.definitions import load_given, resources_of, with_sub_workflows
        from swf_temporal.sdk.documents import addresses_of, folder_of
    readable = resources_of(resources)
    workflow = load_given(file, readable)
    catalogue = Catalogue(with_sub_workflows(workflow, file, definitions or (), readable, warn=warn))
    folder = folder_of(workflow)
    described = Description(workflow, catalogue, datetime.now(UTC), lambda uses: addresses_of(folder, uses))
    match output:
        case Format.JSON:
            print_json(described.facts)
        case Format.YAML:
            print_yaml(described.facts)
        case Format.MERMAID:
            typer.echo(described.mermaid())
        case Format.TEXT:
            typer.echo(described.text())
