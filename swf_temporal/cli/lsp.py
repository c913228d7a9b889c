"""`swf lsp`: the language server for definitions, which an editor starts."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from swf_temporal.base.errors import MissingExtra
from swf_temporal.base.exit_codes import ExitCode
from swf_temporal.cli.interrupts import default_sigint

EXAMPLES = {"lsp": "Example: swf lsp  # which the settings of an editor name; the page on editors has them"}


def lsp() -> None:
    """Serve an editor with problems, completion and renaming in definitions.

    It speaks the Language Server Protocol over stdin and stdout.
    """
    with default_sigint(), _quiet_sigterm():
        try:
            from swf_temporal.editing import serve
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
                raise
            raise MissingExtra("lsp", "the language server", error.name) from None
        serve()


@contextmanager
def _quiet_sigterm() -> Iterator[None]:
    """Let SIGTERM end the process at once, with exit code 0: there is nothing to clean up.

    A handler in Python runs once the main thread is back from what it waits for, which may be never if the signal came
    just before it began to wait. So a thread waits for the byte that is written when the signal comes.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def end() -> None:
        while signal.SIGTERM not in os.read(reading, 1):
            pass
        os._exit(ExitCode.SUCCESS)

    threading.Thread(target=end, daemon=True).start()
    handler = signal.signal(signal.SIGTERM, lambda *_: os._exit(ExitCode.SUCCESS))
    wakeup = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGTERM, handler)
