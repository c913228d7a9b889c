"""Caches of values derived from definitions, limited by the total length of the definitions' texts.

A definition in memory takes up to sixty times as much as its text, and every instance may bring its own. A limit on the
number of entries alone would not prevent a worker from running out of memory.
"""

import threading  # noqa: TID251 - reading again would yield the same values
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar

MAX_TEXT: Final = 8 * 1024 * 1024
"""The maximum number of characters of text whose definitions are cached."""
_MAX_ENTRIES: Final = 512

_Function = TypeVar("_Function", bound=Callable[..., Any])

_clearing: list[Callable[[], None]] = []
_lock = threading.Lock()
_read = 0


def of_definitions(function: _Function) -> _Function:
    """Cache the results of *function* until too much text of definitions was read."""
    cached = lru_cache(maxsize=_MAX_ENTRIES)(function)
    _clearing.append(cached.cache_clear)
    return cached  # type: ignore[return-value]  # it is called like the function


def note_read(text: str) -> None:
    """Count a definition that is read from *text*; clear the caches when they would become too large."""
    global _read  # noqa: PLW0603 - per process, like the caches
    with _lock:
        _read += len(text)
        if _read <= MAX_TEXT:
            return
        _read = len(text)
    forget()


def forget() -> None:
    for clear in _clearing:
        clear()
