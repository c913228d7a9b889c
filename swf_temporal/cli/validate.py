"""`swf validate`: report all problems of definitions."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Mode, ResourceFolders, Strict


class ReportFormat(StrEnum):
    """The format of the report."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"
    SARIF = "sarif"
    GITHUB = "github"


EXAMPLES = {"validate": "Example: swf validate workflows/ --strict"}


def validate(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="Definitions, folders of definitions, and - for stdin.")
    ],
    *,
    form: Annotated[ReportFormat, typer.Option("--output", "-o", help="The format of the output.")] = ReportFormat.TEXT,
    strict: Strict = False,
    mode: Mode = None,  # noqa: ARG001 - its callback has the effect
    resources: ResourceFolders = None,
) -> None:
    """Report all problems of definitions.

    Documents of functions are checked if they are files on this machine; nothing is fetched. Exits with 0 if the
    definitions can run, with 1 if they cannot, and with 2 if a file cannot be read.
    """
    with default_sigint():
        from swf_temporal.cli.validating import validate_all
    raise typer.Exit(validate_all(paths, form, resources, strict=strict))
