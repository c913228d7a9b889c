"""Workers of benchmarks end with whoever started them, even if that is killed."""

import os
import select
import threading


def end_with_input() -> None:
    """End this process once nobody can write to its standard input any more, a pipe, whatever it does then.

    Who only reads it does not notice while it does something else: while it connects to a server that is gone, too,
    for twenty seconds.
    """
    threading.Thread(target=_wait_and_end, name="ending", daemon=True).start()


def _wait_and_end() -> None:
    closed = select.poll()
    closed.register(0, 0)  # what is always told: that it is closed
    closed.poll()
    os._exit(0)
