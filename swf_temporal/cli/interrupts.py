"""Ctrl-C before there is anything to clean up.

Nothing heavy is imported here: this is what the program begins with.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from swf_temporal.base.exit_codes import ExitCode


@contextmanager
def default_sigint() -> Iterator[None]:
    """Let Ctrl-C end the process at once and silently, with exit code 130, as long as the context lasts.

    For while modules are imported: an exception that is raised in the midst of that is told as a traceback, or gets
    lost in a library. Where Ctrl-C is ignored, as in a background job of a script, it stays ignored.
    """
    is_main = threading.current_thread() is threading.main_thread()  # no other may say what a signal does
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: object) -> None:
    os._exit(ExitCode.INTERRUPTED)
