"""Which commands are there, and how is each imported only when it is called?"""

import importlib
from typing import Any

import typer
from typer.core import TyperGroup

COMMANDS = {
    "run": ("run", "Run a definition to its end and print its output."),
    "validate": ("validate", "Say everything that is wrong with definitions."),
    "test": ("test", "Put scenarios to the test."),
    "dev": ("dev", "Serve a folder of definitions on a local server, and reload those that change."),
    "worker": ("worker", "Serve definitions on a cluster until told to stop."),
    "start": ("start", "Start an instance and leave it to the workers."),
    "event": ("event", "Send an event to a running instance."),
    "status": ("instances", "Show where an instance is and what it waits for."),
    "result": ("instances", "Wait for an instance to end and print its output."),
    "list": ("instances", "List instances, the latest first."),
    "cancel": ("instances", "Ask an instance to end."),
}
"""For each command: the module that holds it, and what it does."""


class LazyGroup(TyperGroup):
    """The group of all commands."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - asked for by the library
        """Return the names of the commands, in the order in which one meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - asked for by the library
        """Return the command of that name, importing its module; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        module, summary = COMMANDS[cmd_name]
        found = importlib.import_module(f"swf_temporal.cli.{module}")
        function = getattr(found, cmd_name, None) or getattr(found, f"{cmd_name}_")
        alone = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
        alone.command(name=cmd_name, short_help=summary, epilog=found.EXAMPLES[cmd_name])(function)
        return typer.main.get_command(alone)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - asked for by the library
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])
