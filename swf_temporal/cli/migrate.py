"""`swf migrate`: report on a SonataFlow project, and rewrite it."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.cli.interrupts import default_sigint

EXAMPLES = {"migrate": "Example: swf migrate my-project --write migrated/"}


class ReportFormat(StrEnum):
    """The form of the report."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    HTML = "html"


def migrate(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="A definition, a folder, a project with src/main/resources, or a Kubernetes manifest."
        ),
    ],
    *,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FOLDER", help="Write the migrated project there."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Write nothing, and exit with 1 if a definition would change; print what is left to do."
        ),
    ] = False,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="VERSION", help="The version to write definitions in; by default 0.8."),
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", metavar="NAME", help="The namespace of the definitions, with --to 1.0."),
    ] = None,
    form: Annotated[ReportFormat, typer.Option("--output", "-o", help="The format of the report.")] = ReportFormat.TEXT,
) -> None:
    """Report on a SonataFlow project, and rewrite it.

    There are three kinds of findings: "rewritten" has the same meaning in another form, "differs" is left unchanged and
    behaves differently, and "by hand" needs manual work. Every change of meaning has a finding. At the end is what is
    left to do. What is written is checked as a worker reads it. Exits with 0 if nothing needs manual work, and with 1
    otherwise.
    """
    with default_sigint():
        from swf_temporal.base.errors import UsageError
        from swf_temporal.cli.annotations import sarif_of_migration
        from swf_temporal.cli.output import OutputFormat, print_data
        from swf_temporal.migration import migrate as migrating
        from swf_temporal.migration import report
    if check and write is not None:
        raise UsageError("--check writes nothing", "leave out --write")
    migration = migrating.migrate(path, to, namespace)
    if write is not None:
        migrating.write(migration, write)
    if form is ReportFormat.TEXT:
        typer.echo(report.as_check(migration) if check else report.as_text(migration, write), nl=False)
    elif form is ReportFormat.HTML:
        typer.echo(report.as_html(migration), nl=False)
    elif form is ReportFormat.JSON:
        print_data(report.as_data(migration), OutputFormat.JSON)
    else:
        print_data(sarif_of_migration(migration), OutputFormat.JSON)
    raise typer.Exit(int(bool(migration.tasks or (check and migration.would_change))))
