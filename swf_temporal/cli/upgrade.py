"""`swf upgrade`: rewrite definitions in a newer version of the language."""

from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Output
from swf_temporal.cli.output import OutputFormat

EXAMPLES = {"upgrade": "Example: swf upgrade orders.yaml --diff"}


def upgrade(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="Definitions, folders of definitions, and - for stdin.")
    ],
    *,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="VERSION", help="The version to write; by default the latest."),
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option(
            "--namespace",
            metavar="NAME",
            help="The namespace of the definitions, with --to 1.0; otherwise it is 'default'.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if a definition would change.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; print what would change.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Replace the files.")] = False,
    form: Output = OutputFormat.TEXT,
) -> None:
    """Rewrite definitions in a newer version of the language.

    Comments and the order of keys are kept; JSON stays JSON. Prints the definition, and lists on stderr what was
    respelled, what changed its form, what has another effect, and what cannot be expressed in that version. A file
    with something that cannot be expressed is not replaced, and the command exits with 1.
    """
    if sum((check, diff, write)) > 1:
        raise UsageError("--check, --diff and --write exclude each other", "give one of them")
    with default_sigint():
        from swf_temporal.cli.upgrading import Mode, upgrade_all
    mode = Mode.CHECK if check else Mode.DIFF if diff else Mode.WRITE if write else Mode.PRINT
    raise typer.Exit(upgrade_all(paths, to, mode, form, namespace))
