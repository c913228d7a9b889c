"""Accounts for the work of a run between two waits, and limits the data that one evaluation may make.

What is counted depends on the definition and its data alone, and is the same when a history is replayed: a run yields
where this says that it did much. So what an operation costs belongs to the semantics of definitions.

Data share their parts: `[., .]` is two references, and thirty of these within one another are a billion elements once
they are written. So what is written is weighed before; and what is held is weighed by what is there once.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextvars import ContextVar, copy_context
from itertools import islice
from typing import Any, Final, TypeVar

from swf_temporal.base.errors import ExpressionLimitExceeded

MAX_WRITTEN: Final = 64 * 1024 * 1024
"""Bytes of JSON that are written at once, if nothing else says how many may be."""

_PLAIN: Final = frozenset({int, float, bool, type(None)})
_TEXT_BYTES, _ARRAY_BYTES, _OBJECT_BYTES = 56, 64, 64
_ELEMENT_BYTES, _MEMBER_BYTES, _NUMBER_BYTES = 8, 48, 16
_WIDE: Final = 4
"""Bytes for each character of a text that is not ASCII."""
_BRACKETS, _OF_MEMBER, _QUOTES = 1, 4, 2
"""Bytes of JSON around what is in an object or an array, less the comma after the last; around each key, with that; and
around a text."""
_FEW: Final = 16
"""So many elements are looked at one by one: it takes longer to find out whether all are plain."""
_AT_ONCE: Final = 1 << 16
"""Elements of which one call finds out whether they are plain. No other thread gets on while it does."""


def json_size(value: Any, enough: int = MAX_WRITTEN, sizes: dict[int, int] | None = None) -> int:
    """Return how many bytes *value* takes as JSON at least: nothing that is written in full takes fewer.

    Each object and array is looked at once, however often it occurs, and none once there is *enough*. What is nested so
    deeply that it cannot be written counts as nothing. *sizes* is given those of the objects and arrays that were met,
    by their `id`.
    """
    kind = type(value)
    if kind is str:
        return len(value) + _QUOTES
    if kind in _PLAIN:
        return 1
    known = {} if sizes is None else sizes
    try:
        size = _json_size(value, known, enough)
    except RecursionError:
        return 0
    known[id(value)] = size
    return size


def size_of_items(items: Collection[Any], sizes: Mapping[int, int]) -> int:
    """Return how many bytes *items* take as JSON at least; *sizes* are those of the objects and arrays among them."""
    if _are_plain(items):
        return len(items)
    return sum(sizes[id(item)] if id(item) in sizes else len(item) if type(item) is str else 1 for item in items)


def memory_of(values: Iterable[object]) -> int:
    """Return about how many bytes of memory *values* hold together; what they share counts once."""
    seen: set[int] = set()
    total = 0
    stack: list[Any] = list(values)
    while stack:
        value = stack.pop()
        if type(value) in _PLAIN:
            total += _NUMBER_BYTES
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, str):
            total += _TEXT_BYTES + len(value) * (1 if value.isascii() else _WIDE)
        elif isinstance(value, dict):
            total += _OBJECT_BYTES + _MEMBER_BYTES * len(value)
            stack.extend(value.values())
        elif isinstance(value, list):
            total += _ARRAY_BYTES + _ELEMENT_BYTES * len(value)
            if not _are_plain(value):
                stack.extend(value)
    return total


def _are_plain(items: Collection[Any]) -> bool:
    """Tell whether all are numbers, true, false or null."""
    if len(items) <= _AT_ONCE:
        return _PLAIN.issuperset(map(type, items))
    rest = iter(items)
    return all(_PLAIN.issuperset(map(type, islice(rest, _AT_ONCE))) for _ in range(0, len(items), _AT_ONCE))


def _json_size(value: dict[str, Any] | list[Any], known: dict[int, int], enough: int) -> int:
    """Return the size of an object or an array; *known* are the sizes of those that were met."""
    if isinstance(value, dict):
        total = _BRACKETS + _OF_MEMBER * len(value) + sum(map(len, value))
        items: Collection[Any] = value.values()
    else:
        total = _BRACKETS + len(value)
        items = value
    if len(items) > _FEW and _are_plain(items):
        return total + len(items)
    for item in items:
        kind = type(item)
        if kind in _PLAIN:
            total += 1
        elif kind is str:
            total += len(item) + _QUOTES
        else:
            size = known.get(id(item))
            if size is None:
                size = known[id(item)] = _json_size(item, known, enough)
            total += size
            if total > enough:
                return total
    return total


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
