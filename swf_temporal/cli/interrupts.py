"""Handling of Ctrl-C while there is nothing to clean up.

This module is imported first, so it must not import anything heavy.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from swf_temporal.base.exit_codes import ExitCode


@contextmanager
def default_sigint() -> Iterator[None]:
    """Let Ctrl-C end the process at once and silently, with exit code 130, within the context.

    It is for importing modules: a KeyboardInterrupt in the middle of an import is shown as a traceback, or swallowed by
    a library. If Ctrl-C is ignored, as in a background job of a script, it stays ignored.
    """
    is_main = threading.current_thread() is threading.main_thread()  # only this thread may set signal handlers
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
