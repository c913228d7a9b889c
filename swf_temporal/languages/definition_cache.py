"""Caches of what is made of definitions, bounded by the length of the texts that these were read from.

A definition in memory takes up to sixty times as much as its text, and every instance may bring one of its own. So
the number of entries alone would not keep a worker from running out of memory.
"""

import threading  # noqa: TID251 - what is remembered is what would be read again
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar

MAX_TEXT: Final = 8 * 1024 * 1024
"""Characters of text whose definitions are remembered."""
_MAX_ENTRIES: Final = 512

_Function = TypeVar("_Function", bound=Callable[..., Any])

_clearing: list[Callable[[], None]] = []
_lock = threading.Lock()
_read = 0


def of_definitions(function: _Function) -> _Function:
    """Let *function* remember what it returned, until so many definitions were read that they would take too much."""
    remembering = lru_cache(maxsize=_MAX_ENTRIES)(function)
    _clearing.append(remembering.cache_clear)
    return remembering  # type: ignore[return-value]  # it is called as the function is


def note_read(text: str) -> None:
    """Take note that a definition is read from *text*; what was remembered is forgotten where it would be too much."""
    global _read  # noqa: PLW0603 - as the caches are, it is of the process
    with _lock:
        _read += len(text)
        if _read <= MAX_TEXT:
            return
        _read = len(text)
    forget()


def forget() -> None:
    for clear in _clearing:
        clear()
