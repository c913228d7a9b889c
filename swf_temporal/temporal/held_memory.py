"""What the runs of a worker hold in memory: how much each may, and all of them together.

Theory of operation. What is read of payloads, what jq yields and what expressions make is counted as bytes of the
thread that does it (`guarding/spending.py`), so it is known by how much the data of a run can have grown in an
activation. A run that has grown by `STEP` is weighed at its next step; one that holds more than it may fails. That it
did is recorded by a marker of this very step: what is held depends on the worker, and a replay has to fail at the same
place.

What all runs hold together is bounded without failing any. Runs that wait are removed from the worker's memory, those
first that have been idle for the longest time: their next event has them replayed. Where that is not enough, a run that
grows makes room for those that grew before it: its workflow task is tried again when they are done.
"""

import gc
import threading  # noqa: TID251 - it watches activations, from outside of them
import time  # noqa: TID251 - likewise
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from swf_temporal.errors import PayloadTooLarge
from swf_temporal.temporal.constants import CACHED_BYTES
from swf_temporal.weighing import memory_of

MIB: Final = 1024 * 1024
STEP: Final = 16 * MIB
"""Bytes by which a run grows before it is weighed again, or half of what it held if that is more."""
OF_ONE_RUN: Final = 128 * MIB
"""Bytes of memory that a run may hold where nothing large leaves it: a history holds 50 MiB at most."""
GARBAGE: Final = 64 * MIB
"""Bytes that removed runs have left, and from which on the garbage collector is called."""
_COUNTED: Final = MIB
"""Bytes from which on a run is one of those that hold something."""
_SEVERAL: Final = 2
_RECENT: Final = 5.0
"""Seconds for which a run is left where it is that was at work."""


class NoRoom(Exception):  # noqa: N818 - named for what it is about
    """Other runs hold what memory there is: the workflow task is to be tried again."""


@dataclass(slots=True)
class _Held:
    """The memory that one run holds."""

    size: int = 0
    """As it was weighed."""
    grown: int = 0
    """Since then."""
    given: int = 0
    """What its execution was started with, beside that: the parts of its progress, which are not read until the end."""
    since: float = field(default_factory=time.monotonic)
    ended: float = 0.0
    """When it was at work last; 0 while it is."""
    shares: set[str] = field(default_factory=set)
    """What it holds together with other runs: see `HeldMemory.share`."""
    is_to_go: bool = False

    @property
    def all(self) -> int:
        """About how many bytes the run holds."""
        return self.given + self.size + max(0, self.grown)


@dataclass(slots=True)
class _Shared:
    """Memory that several runs hold together."""

    size: int
    runs: int = 0


class HeldMemory:
    """The memory that the runs of a worker hold. May be used from several threads at once."""

    def __init__(self, of_one: int = OF_ONE_RUN, of_all: int = CACHED_BYTES) -> None:
        self.of_one = of_one
        """Bytes of memory that a run may hold."""
        self.of_all = max(of_all, 2 * of_one)
        """Bytes of memory that all may hold together."""
        self.evict: Callable[[str], None] | None = None
        """Removes a run from the worker's memory, if that can be done."""
        self._runs: dict[str, _Held] = {}
        self._total = 0
        """About how many bytes they hold: kept up to date, since it is asked for after every activation."""
        self._shared: dict[str, _Shared] = {}
        self._garbage = 0
        """About how many bytes removed runs have left since garbage was collected."""
        self._lock = threading.Lock()

    def begin(self, run_id: str, given: int = 0) -> None:
        """Take note that an activation of the run begins, which is *given* so many bytes as the run's input."""
        held = self._runs.get(run_id)
        if held is not None:
            held.ended = 0.0
        elif given >= _COUNTED:
            with self._lock:
                self._runs[run_id] = _Held(given=given)
                self._total += given

    def end(self, run_id: str, made: int) -> None:
        """Take note that an activation ended in which so many bytes were *made*."""
        if made < _COUNTED and run_id not in self._runs:
            return
        with self._lock:
            held = self._runs.setdefault(run_id, _Held())
            self._change(held, held.size, held.grown + made)
            held.ended = time.monotonic()
        self._make_room()

    def share(self, run_id: str, what: str, size: int) -> None:
        """Take note that the run holds *what*, which takes so many bytes however many runs hold it."""
        with self._lock:
            held = self._runs.setdefault(run_id, _Held())
            if what in held.shares:
                return
            held.shares.add(what)
            shared = self._shared.setdefault(what, _Shared(size))
            shared.runs += 1
            if shared.runs == 1:
                self._total += shared.size

    def counts(self, run_id: str) -> bool:
        """Tell whether the run is one of those that hold something."""
        return run_id in self._runs

    def forget(self, run_id: str) -> None:
        """Take note that the run was removed from the worker's memory."""
        with self._lock:
            held = self._runs.pop(run_id, None)
            if held is not None:
                self._garbage += held.all
                self._total -= held.all + self._let_go(held, self._shared)

    @property
    def is_littered(self) -> bool:
        """Whether removed runs have left much."""
        return self._garbage >= GARBAGE

    def collect_garbage(self) -> None:
        """Free what removed runs have left, if that is much.

        Tasks and the exceptions that end them refer to each other, and so to the data: only the garbage collector frees
        these, and it counts objects, not bytes. A worker has it look seldom.
        """
        if self.is_littered:
            self._garbage = 0
            gc.collect()

    def has_grown(self, run_id: str, made: int) -> bool:
        """Tell whether the run has grown much since it was weighed; it has *made* so much in this activation."""
        held = self._runs.get(run_id)
        if held is None:
            return made >= STEP
        return made + held.grown >= max(STEP, held.size // 2)

    def weigh(self, run_id: str, made: int, roots: Callable[[], Iterable[object]]) -> int:
        """Return what the run holds, which has *made* so much in this activation: if it has grown much, and else 0."""
        if not self.has_grown(run_id, made):
            return 0
        size = memory_of(roots())
        with self._lock:
            held = self._runs.setdefault(run_id, _Held())
            self._change(held, size, -made)  # what it made is added when the activation ends
        return size

    def check_room(self, run_id: str) -> None:
        """Raise NoRoom where the run is to make room for others that grew before it, and are at work."""
        with self._lock:
            own = self._runs.get(run_id)
            if own is None or self._total <= self.of_all:
                return
            for one_id, one in self._runs.items():
                if one_id != run_id and one.since < own.since and one.size >= STEP and _is_at_work(one):
                    raise NoRoom(f"{self._total:,} bytes are held by the runs of this worker")

    def _change(self, held: _Held, size: int, grown: int) -> None:
        """Set what is known of a run. Whoever calls this has the lock."""
        self._total -= held.all
        held.size, held.grown = size, grown
        self._total += held.all

    @staticmethod
    def _let_go(held: _Held, shared: dict[str, _Shared]) -> int:
        """Return how many bytes of what is *shared* no other run holds, and count the run no more."""
        freed = 0
        for what in held.shares:
            shared[what].runs -= 1
            if not shared[what].runs:
                freed += shared.pop(what).size
        return freed

    def _make_room(self) -> None:
        if self.evict is None or len(self._runs) < _SEVERAL or self._total <= self.of_all:
            return
        with self._lock:
            total = self._total
            shared = {what: replace(one) for what, one in self._shared.items()}
            idle = sorted((one.ended, run_id) for run_id, one in self._runs.items() if not _is_at_work(one))
            for _, run_id in idle:
                if total <= self.of_all:
                    return
                one = self._runs[run_id]
                total -= one.all + self._let_go(one, shared)
                if not one.is_to_go:
                    one.is_to_go = True
                    self.evict(run_id)


def held_too_much(most: int = OF_ONE_RUN) -> PayloadTooLarge:
    """Return the fault of a run that holds more than *most* bytes of memory."""
    return PayloadTooLarge(
        f"the data of the run take more memory than the {most // MIB:,} MiB that a run may hold in its worker: "
        "keep less of what actions and expressions yield"
    )


def _is_at_work(held: _Held) -> bool:
    return held.ended == 0.0 or time.monotonic() - held.ended < _RECENT
