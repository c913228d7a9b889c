"""The program `swf`: its arguments, and its error messages.

The module of a command is only imported when the command is called: `swf --help` and `swf validate` must be fast, and
need only a few of the imports.
"""

import errno
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, NoReturn

import typer

from swf_temporal import __version__
from swf_temporal.base.client_errors import AlreadyStartedError, InstanceEndedError, InstanceNotFoundError
from swf_temporal.base.errors import InvalidDefinition, SwfError, WorkflowFault
from swf_temporal.base.exit_codes import ExitCode
from swf_temporal.base.files import NO_MORE_FILES
from swf_temporal.base.grammar import counted
from swf_temporal.cli.lazy import HABITS, LazyGroup

app = typer.Typer(
    name="swf",
    cls=LazyGroup,
    invoke_without_command=True,
    no_args_is_help=True,
    context_settings=HABITS,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog='Example: swf run hello.yaml --input \'{"name": "Ada"}\'',
)


_HINTS: Mapping[type[SwfError], str] = {
    AlreadyStartedError: "choose another --id",
    InstanceNotFoundError: "see `swf list`",
    InstanceEndedError: "`swf result` shows its result",
}
"""Hints of the command line that replace the hints of errors, which are written for programs."""


_OF_THE_MACHINE: Final = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO),
    *(errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.ENAMETOOLONG, *NO_MORE_FILES),
)
"""Errors of the machine, such as a full disk or a read-only folder, which are not bugs."""


def main() -> NoReturn:
    """Run the command in the arguments, and end the process with its exit code, one of `ExitCode`."""
    code = code_of(sys.argv[1:])
    if "swf_temporal.temporal.tracing" in sys.modules:
        from swf_temporal.temporal.tracing import flush  # loaded where there may be spans

        flush()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or ExitCode.FAILURE
    # Temporal's native library can crash during interpreter shutdown, so skip the shutdown.
    os._exit(code)


def code_of(arguments: Sequence[str]) -> int:
    """Run the command in *arguments*; return its exit code."""
    try:
        typer.main.get_command(app).main(list(arguments), prog_name="swf")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except InvalidDefinition as error:
        _say(f"{error}\n\nnothing was done: {counted(len(error.problems), 'problem')}")
        return ExitCode.USAGE
    except WorkflowFault as fault:
        _say(f"error: {fault.message}")
        return ExitCode.USAGE
    except SwfError as error:
        hint = _HINTS.get(type(error))
        _say(f"error: {error}" if hint is None else f"error: {error.args[0].splitlines()[0]}\n  {hint}")
        return ExitCode.USAGE
    except OSError as error:
        if error.errno not in _OF_THE_MACHINE:
            return _bug(error)
        where = f"{error.filename} cannot be used: " if error.filename else ""
        _say(f"error: {where}{error.strerror}")
        return ExitCode.USAGE
    except Exception as error:  # noqa: BLE001 - reported to the user as a bug
        return _bug(error)
    return ExitCode.SUCCESS


def _bug(error: Exception) -> int:
    if os.environ.get("SWF_DEBUG"):
        traceback.print_exc()
    text = " ".join(str(error).split())
    _say(f"error: {type(error).__name__}: {text}\nthis is a bug in swf; SWF_DEBUG=1 shows where it happened")
    return ExitCode.BUG


def _say(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201 - errors are reported without any library


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"swf {__version__}")
        raise typer.Exit


@app.callback()
def swf(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Run Serverless Workflow definitions durably on Temporal."""
