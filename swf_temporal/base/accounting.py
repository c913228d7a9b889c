"""Accounts for the work of a run between two waits, and limits the data that one evaluation may make.

The cost depends on the definition and its data alone, and is the same on every replay: a run yields control when it is
high. So the costs of operations belong to the semantics of definitions.

Data share their parts: `[., .]` is two references, and thirty of these nested in one another are a billion elements
once they are serialized. So the size of JSON is estimated before it is written, and memory counts shared parts once.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextvars import ContextVar, copy_context
from itertools import islice
from typing import Any, Final, TypeVar

from swf_temporal.base.errors import ExpressionLimitExceeded

MAX_WRITTEN: Final = 64 * 1024 * 1024
"""The default limit of JSON that is written at once, in bytes."""

_PLAIN: Final = frozenset({int, float, bool, type(None)})
_TEXT_BYTES, _ARRAY_BYTES, _OBJECT_BYTES = 56, 64, 64
_ELEMENT_BYTES, _MEMBER_BYTES, _NUMBER_BYTES = 8, 48, 16
_WIDE: Final = 4
"""The bytes for each character of a text that is not ASCII."""
_BRACKETS, _OF_MEMBER, _QUOTES = 1, 4, 2
"""The bytes of JSON syntax: of an object or an array, less the comma after the last element; of a key, with its comma;
and of a text."""
_FEW: Final = 16
"""Up to this number of elements, checking first whether all are plain takes longer than measuring each."""
_AT_ONCE: Final = 1 << 16
"""The number of elements that are checked in one call, which blocks all other threads."""


def json_size(value: Any, enough: int = MAX_WRITTEN, sizes: dict[int, int] | None = None) -> int:
    """Return a lower bound of the size of *value* as JSON, in bytes.

    Each object and array is measured once, however often it occurs; measuring stops when the size reaches *enough*.
    A value that is nested too deeply to be written has size 0. The sizes of all objects and arrays are stored in
    *sizes*, by their `id`.
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
    """Return a lower bound of the size of *items* as JSON; *sizes* has those of the objects and arrays among them."""
    if _are_plain(items):
        return len(items)
    return sum(sizes[id(item)] if id(item) in sizes else len(item) if type(item) is str else 1 for item in items)


def memory_of(values: Iterable[object]) -> int:
    """Return the approximate memory of *values* in bytes; shared parts count once."""
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
    """Return whether all are numbers, true, false or null."""
    if len(items) <= _AT_ONCE:
        return _PLAIN.issuperset(map(type, items))
    rest = iter(items)
    return all(_PLAIN.issuperset(map(type, islice(rest, _AT_ONCE))) for _ in range(0, len(items), _AT_ONCE))


def _json_size(value: dict[str, Any] | list[Any], known: dict[int, int], enough: int) -> int:
    """Return the size of an object or an array; *known* has the sizes of those that were measured before."""
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
"""The factor by which helpers whose engine is written in Python are slower at reading data than jq."""
_BYTES: Final = 1 << 10
"""The number of bytes that a helper reads or writes for a cost of 1."""
_COPIED: Final = 1 << 16
"""The number of bytes that are copied for a cost of 1."""


class Account:
    """The work of a run so far, or the work outside of runs."""

    __slots__ = ("cost", "made", "made_limit", "seconds")

    def __init__(self) -> None:
        self.cost = 0
        """The cost of all work; entering a state costs 1."""
        self.made = 0
        """The size of the data that evaluations yielded, in bytes."""
        self.made_limit = MAX_WRITTEN
        """The limit of `made` until the current evaluation ends."""
        self.seconds = 0.0
        """The processor time of helpers. It does not influence the run."""

    def begin_evaluation(self) -> None:
        """Allow as much further data as one evaluation may make."""
        self.made_limit = self.made + MAX_WRITTEN

    def charge_helper(self, read: int, written: int, *, is_python: bool = False) -> None:
        """Count an evaluation in a helper process; *read* and *written* are in bytes."""
        self.cost += HELPER_COST
        self.cost += (read * (_IN_PYTHON if is_python else 1) + written) // _BYTES
        self.made += written

    def charge_copy(self, size: int) -> None:
        """Count *size* bytes of data that were copied in this process."""
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
    """Make the current task, and all tasks that it creates, charge their work to *account*."""
    _account.set(account)


def uncounted(work: Callable[[], T]) -> T:
    """Return the result of *work*, which is done once per process, without charging it to a run."""
    context = copy_context()
    context.run(charge_to, Account())
    return context.run(work)


def check_size(size: int) -> None:
    """Raise ExpressionLimitExceeded if *size* is more than the input or the output of an expression may have."""
    if size > MAX_WRITTEN:
        raise ExpressionLimitExceeded(f"an expression met more than {MAX_WRITTEN // MIB} MiB of data", retryable=False)
