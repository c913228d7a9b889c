"""`swf describe`: what does this workflow need, and what does it do?"""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.cli.definitions import resources_of, with_sub_workflows
from swf_temporal.cli.describing.facts import facts_of
from swf_temporal.cli.describing.mermaid import diagram_of
from swf_temporal.cli.describing.text import text_of
from swf_temporal.cli.options import Definitions, ResourceFolders
from swf_temporal.cli.output import print_json
from swf_temporal.interpreter.catalogue import Catalogue
from swf_temporal.loading import load

EXAMPLES = {"describe": "Example: swf describe orders.yaml --format mermaid"}


class Format(StrEnum):
    """How a workflow is described."""

    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"


def describe(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A definition.")],
    form: Annotated[
        Format, typer.Option("--format", help="Text, JSON, or the source of a Mermaid state diagram.")
    ] = Format.TEXT,
    definitions: Definitions = None,
    resources: ResourceFolders = None,
) -> None:
    """Tell what a workflow needs and does.

    Nothing is run or fetched. Where functions lead is told from their documents that are files on this machine.
    """
    readable = resources_of(resources)
    workflow = load(file, resources=readable)
    catalogue = Catalogue(with_sub_workflows(workflow, file, definitions or (), readable))
    facts = facts_of(workflow, catalogue, datetime.now(UTC))
    match form:
        case Format.JSON:
            print_json(facts)
        case Format.MERMAID:
            typer.echo(diagram_of(facts))
        case Format.TEXT:
            typer.echo(text_of(facts))
