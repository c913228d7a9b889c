"""The commands, each imported only when it is called, and fast conversion of their arguments.

typer converts arguments with pydantic, whose import takes longer than everything else that `swf` does before a command
begins. Strings, paths, numbers and enums are converted here instead. Other types and invalid values are left to typer,
which has the error messages.
"""

import importlib
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.text.suggestions import nearest


class QuickCommand(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, including `--help`."""
        return _quickened(super().get_params(ctx))


class QuickGroup(TyperGroup):
    """A group of commands whose own arguments are converted without pydantic."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, including `--help`."""
        return _quickened(super().get_params(ctx))


def _quickened(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        descriptor = getattr(parameter, "type_descriptor", None)
        # typer looks here first. A release that does not would only be slower.
        if descriptor is not None and getattr(parameter, "_runtime_param", parameter) is None:
            parameter._runtime_param = _Quick(descriptor)  # noqa: SLF001 - as above
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = _nothing  # otherwise help would show Python types, such as `list[Path]`
    return parameters


def _nothing(ctx: Any) -> None:  # noqa: ARG001 - asked for by the library
    return None


class _Quick:
    def __init__(self, descriptor: Any) -> None:
        annotation = descriptor.annotation
        is_list = get_origin(annotation) is list
        self._kind = get_args(annotation)[0] if is_list else annotation
        info = descriptor.parameter_info
        self._least, self._most = getattr(info, "min", None), getattr(info, "max", None)

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the converted *value*, which is a string or a list of strings."""
        is_many = param.multiple or param.nargs == -1
        if value is None:
            return () if is_many else None
        try:
            return [self._one(each) for each in value] if is_many else self._one(value)
        except ValueError:
            param._runtime_param = None  # noqa: SLF001 - as above: typer creates its own, and keeps it
            try:
                return param.get_runtime_param().coerce(value, param=param, ctx=ctx)
            except typer.BadParameter as error:
                error.message = error.message.removeprefix("Value error, ")
                raise

    def _one(self, value: Any) -> Any:
        kind = self._kind
        if not isinstance(kind, type):
            raise ValueError  # noqa: TRY004 - typer converts it
        if isinstance(value, kind):
            return value
        if not isinstance(value, str):
            raise ValueError  # noqa: TRY004 - as above
        if issubclass(kind, (Enum, Path)):
            return kind(value)
        if kind is int and (self._least or 0) <= int(value) <= (int(value) if self._most is None else self._most):
            return int(value)
        raise ValueError


class Command(NamedTuple):
    """The module and function of a command, and its summary."""

    module: str
    function: str
    summary: str


COMMANDS = {
    "run": Command("run", "run", "Run a definition to its end and print its output."),
    "validate": Command("validate", "validate", "Report all problems of definitions."),
    "describe": Command("describe", "describe", "Summarize what a workflow needs and does."),
    "graph": Command("graph", "graph", "Draw definitions and instances: states, what they do, and where they lead."),
    "schema": Command("schema", "schema", "Print the JSON Schema of definitions, for editors."),
    "lsp": Command("lsp", "lsp", "Serve an editor with problems, completion and renaming in definitions."),
    "upgrade": Command("upgrade", "upgrade", "Rewrite definitions in a newer version of the language."),
    "migrate": Command("migrate", "migrate", "Report on a SonataFlow project, and rewrite it."),
    "compat": Command("compat", "compat", "Show the effects of a changed definition or another release on instances."),
    "test": Command("testing", "run_tests", "Run scenarios."),
    "dev": Command("dev", "dev", "Serve a folder of definitions on a local server, and reload those that change."),
    "worker": Command("worker", "worker", "Serve definitions on a cluster until stopped."),
    "consume": Command("consume", "consume", "Take events from brokers, and send them to instances."),
    "serve-function": Command(
        "serve_function",
        "serve_function",
        "Serve a Python function or a program like a function container of Direktiv.",
    ),
    "codec-server": Command(
        "codec_server", "codec_server", "Decrypt payloads for the Temporal UI and the temporal program."
    ),
    "gateway": Command("gateway", "gateway", "Accept events over HTTP, and start and show instances."),
    "start": Command("start", "start", "Start an instance, which workers run, and print its id."),
    "event": Command("event", "event", "Send an event to a running instance."),
    "events": Command("events", "events", "Explain the destinations of events, and send events."),
    "tasks": Command("tasks", "tasks", "Show the events that instances wait for, and send them."),
    "status": Command("instances", "status", "Show the state of an instance and the events that it waits for."),
    "logs": Command("instances", "logs", "Show the trace of an instance, the latest 2,000 entries."),
    "result": Command("instances", "result", "Wait for an instance to end and print its output."),
    "list": Command("instances", "list_", "List instances: first the running ones, then those that ended last."),
    "pause": Command("changing", "pause", "Pause instances, which take no further step until they are resumed."),
    "resume": Command("changing", "resume", "Resume instances that are paused."),
    "retry": Command("rerun", "retry", "Continue failed instances from the point of failure."),
    "rerun": Command(
        "rerun", "rerun", "Run instances again from a state that they entered before, whether they run or have ended."
    ),
    "setup": Command("setup", "setup", "Register the search attributes that workers set on instances."),
    "cancel": Command("changing", "cancel", "Cancel instances."),
    "terminate": Command("changing", "terminate", "End instances at once."),
    "schedule": Command("schedule", "schedule", "Manage the schedules by which the server starts instances."),
    "help": Command("help_command", "help_", "Show what a command does, and its options."),
}

HABITS = {"help_option_names": ["-h", "--help"]}
"""Settings that all commands share."""


class LazyGroup(QuickGroup):
    _is_listing = False
    """True while only the names and summaries of commands are needed."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - asked for by the library
        """Return the names of the commands, in the order in which a user first needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - asked for by the library
        """Return the command of that name, importing its module; None if it is unknown."""
        if cmd_name not in COMMANDS:
            return None
        command = COMMANDS[cmd_name]
        if self._is_listing:
            return TyperCommand(cmd_name, help=command.summary)
        with default_sigint():
            module = importlib.import_module(f"swf_temporal.cli.{command.module}")
        if hasattr(module, "GROUP"):
            return typer.main.get_command(module.GROUP)
        alone = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
        alone.command(name=cmd_name, epilog=module.EXAMPLES[cmd_name], context_settings=HABITS, cls=QuickCommand)(
            getattr(module, command.function)
        )
        return typer.main.get_command(alone)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command at the start of *args*; suggest a similar one if it is unknown."""
        near = None if args[0] in COMMANDS else nearest(args[0], COMMANDS)
        if near is not None:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near!r}?")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return completions: commands, without importing any, and options of `swf` itself."""
        self._is_listing = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._is_listing = False

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - asked for by the library
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in COMMANDS.items()])
