"""Accounts for the work of a run between two waits, and limits the data that one evaluation may make.

What is counted depends on the definition and its data alone, and is the same when a history is replayed: a run yields
where this says that it did much. So what an operation costs belongs to the semantics of definitions.
"""

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Final, TypeVar

from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.base.weighing import MAX_WRITTEN

T = TypeVar("T")

MIB: Final = 1 << 20
HELPER_COST: Final = 25
"""The cost of an evaluation in a helper process, which often compiles its expression first. Entering a state costs 1:
a tenth of a millisecond."""
_IN_PYTHON: Final = 10
"""How many times as long as jq a helper takes for its data whose engine is written in Python."""
_BYTES: Final = 1 << 10
"""Bytes that a helper reads or writes for a cost of 1."""
_COPIED: Final = 1 << 16
"""Bytes that are copied for a cost of 1."""


class Account:
    """What a run has done so far, or what is done outside of runs."""

    __slots__ = ("cost", "made", "made_limit", "seconds")

    def __init__(self) -> None:
        self.cost = 0
        """What was done, in states that could have been entered instead."""
        self.made = 0
        """Bytes of data that evaluations yielded."""
        self.made_limit = MAX_WRITTEN
        """The limit of `made` until the current evaluation ends."""
        self.seconds = 0.0
        """Processor time of helpers. It decides nothing of what a run does."""

    def begin_evaluation(self) -> None:
        """Let as much data be made as one evaluation may."""
        self.made_limit = self.made + MAX_WRITTEN

    def charge_helper(self, read: int, written: int, *, is_python: bool = False) -> None:
        """Count an evaluation in a helper process that *read* and has *written* so many bytes."""
        self.cost += HELPER_COST
        self.cost += (read * (_IN_PYTHON if is_python else 1) + written) // _BYTES
        self.made += written

    def charge_copy(self, size: int) -> None:
        """Count bytes that were made of data, here."""
        self.cost += size // _COPIED
        self.made += size


_account: ContextVar[Account] = ContextVar("account")


def current_account() -> Account:
    """Return the account of the run whose code is running, or else that of the task or thread."""
    try:
        return _account.get()
    except LookupError:
        account = Account()
        _account.set(account)
        return account


def charge_to(account: Account) -> None:
    """Let the current task, and all those that it creates, charge what they do to *account*."""
    _account.set(account)


def uncounted(work: Callable[[], T]) -> T:
    """Return what *work* comes to, which is done once in a process and charged to no run."""
    context = copy_context()
    context.run(charge_to, Account())
    return context.run(work)


def check_size(size: int) -> None:
    """Raise ExpressionLimitExceeded where *size* is more than is written at once for an expression, or by one."""
    if size > MAX_WRITTEN:
        raise ExpressionLimitExceeded(f"an expression met more than {MAX_WRITTEN // MIB} MiB of data", retryable=False)
