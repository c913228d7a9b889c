"""How does time pass where nothing takes time?

An asyncio event loop whose time is virtual: when nothing is left to do until a timer is due, the loop's clock jumps
there. An hour passes in microseconds, and in the same order as it would have passed.
"""

import asyncio
import math
import selectors
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
"""When every simulation begins, so that it gives the same results every time."""
_RESOLUTION = 1e-6


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with a virtual clock."""

    def __init__(self, when_idle: Callable[[], bool], at_standstill: Callable[[], None]) -> None:
        """Make a loop that calls *when_idle* before time passes, and *at_standstill* when it cannot pass any more.

        *when_idle* returns whether it found something to do.
        """
        self._virtual = 0.0
        self._outside = 0
        super().__init__(_Jumping(self, when_idle, at_standstill))
        # What asyncio takes for equal moments. Its own figure is smaller than what a number tells apart after a month.
        self._clock_resolution = _RESOLUTION

    def time(self) -> float:
        """Return the virtual time, in seconds since the simulation began."""
        return self._virtual

    def now(self) -> datetime:
        """Return the virtual time as a date."""
        return EPOCH + timedelta(seconds=self._virtual)

    @property
    def stands_still(self) -> bool:
        """Whether time waits for something that really happens."""
        return self._outside > 0

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Let no time pass while something that another thread does is waited for."""
        self._outside += 1
        try:
            yield
        finally:
            self._outside -= 1

    def jump(self, seconds: float) -> None:
        """Let time pass."""
        self._virtual += seconds
        # After some centuries even that is less than what a number tells apart, and no timer would ever be due.
        self._clock_resolution = max(_RESOLUTION, math.ulp(self._virtual))


class _Jumping(selectors.DefaultSelector):
    """A selector that never waits: it lets the loop's time jump instead."""

    def __init__(self, loop: VirtualLoop, when_idle: Callable[[], bool], at_standstill: Callable[[], None]) -> None:
        super().__init__()
        self._loop = loop
        self._when_idle = when_idle
        self._at_standstill = at_standstill

    def select(self, timeout: float | None = None) -> list[Any]:
        """Return what is ready now; where the loop would wait, let time pass."""
        if timeout is not None and timeout <= 0:
            return []
        if self._loop.stands_still:
            return super().select(None)
        ready: list[Any] = super().select(0)
        if not ready and not self._when_idle():
            if timeout is None:
                self._at_standstill()
            else:
                self._loop.jump(timeout)
        return ready
