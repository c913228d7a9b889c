"""Accounts for the evaluations that a thread asks for, and limits the data that one of them may make."""

import threading
from typing import Final

from swf_temporal.errors import ExpressionLimitExceeded
from swf_temporal.weighing import MOST_WRITTEN

MIB: Final = 1 << 20


class Spent:
    """The cost of the evaluations that one thread asked for."""

    def __init__(self) -> None:
        self.seconds = 0.0
        """Processor time of helpers."""
        self.answers = 0
        """How many answers helpers gave."""
        self.made = 0
        """Bytes of what evaluations yielded, and of the payloads that were read."""
        self.most = MOST_WRITTEN
        """The limit of `made` until the current evaluation ends."""


class _Here(threading.local):
    def __init__(self) -> None:
        self.spent = Spent()


_here = _Here()


def begin_evaluation() -> None:
    """Let this thread make as much data as one evaluation may."""
    spent = _here.spent
    spent.most = spent.made + MOST_WRITTEN


def spent_here() -> Spent:
    """Return the account of the thread that asks; others may read it, too."""
    return _here.spent


def check_size(size: int) -> None:
    """Raise ExpressionLimitExceeded where *size* is more than is written at once for an expression, or by one."""
    if size > MOST_WRITTEN:
        raise ExpressionLimitExceeded(f"an expression met more than {MOST_WRITTEN // MIB} MiB of data", retryable=False)
