"""`swf help`: what a command does, and its options."""

from typing import Annotated

import typer

EXAMPLES = {"help": "Example: swf help run"}


def _commands(incomplete: str) -> list[str]:
    from swf_temporal.cli.lazy import COMMANDS

    return [name for name in COMMANDS if name.startswith(incomplete)]


def help_(
    ctx: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="A command, such as run, or schedule apply.", autocompletion=_commands),
    ] = None,
) -> None:
    """Show what a command does, and its options.

    This is the same as the option --help of the command.
    """
    ctx.find_root().command.main([*(command or ()), "--help"], prog_name="swf")
