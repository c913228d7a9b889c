"""Decides when a run continues as new: before the server ends the execution, and when it can.

Theory of operation. The server suggests continuing as new from some 4,000 events on, or when an execution has nearly as
many updates as it may have; it refuses further signals at 10,000 and ends an execution at 51,200 events or 50 MiB. An
execution is looked at where its run takes a step and, since a run that waits takes none, where an event comes that
nothing waits for. It is looked at once in a workflow task, within which its history does not grow.

Before a run leaves, the calls that are under way have to end, and nothing else is begun until then. So one that is much
slower than others does not hold it up: the run stays, and does what it has to, up to `SLOW_CALL_MAX_EVENTS`. Those
that the definition marks as long-running hold nothing up: they outlast the execution (`temporal/outlasting.py`).

What does not fit into one payload cannot be carried over: the run then goes on where it is, and tries again after
`TRY_AGAIN` events, when it may hold less. Shortly before the server would end it, it fails instead.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from temporalio import workflow

from swf_temporal.base.errors import HistoryTooLong, PayloadTooLarge
from swf_temporal.base.grammar import counted
from swf_temporal.base.records import nested
from swf_temporal.languages.port import Words
from swf_temporal.runtime.limits import CARRY_LESS
from swf_temporal.runtime.outputs import Front
from swf_temporal.runtime.performing import size_of
from swf_temporal.runtime.run import Run
from swf_temporal.temporal.host import TemporalHost
from swf_temporal.temporal.outgoing import Slowest

MAX_EVENTS, MAX_BYTES = 40_000, 40 * 1024 * 1024
"""How many events and bytes an execution may have that should not continue as new.

The engine knows an execution alone, and not the next: with it, it ends the children that are to end with the run, and
only it, having been asked to, can end Canceled.
"""

LAST_EVENTS, LAST_BYTES = 47_000, 46 * 1024 * 1024
"""With how many events and bytes a run fails that cannot be carried over; servers end it at 51,200 and 50 MiB.

Up to 1,900 calls that are under way then still end, with two events each.
"""

SLOW_CALL_MAX_EVENTS, SLOW_CALL_MAX_BYTES = 30_000, 30 * 1024 * 1024
"""How many events and bytes an execution may have that goes on because a slow call is under way.

From there on it waits for the call. Some ten thousand events can come meanwhile: the server takes no more signals.
"""

ALL_SLOW_MAX_EVENTS: Final = 12_000
"""How many where later calls have not passed it: all may be slow, and then it is not worth more."""

SLOW_CALL: Final = timedelta(minutes=1)
"""For how long a call has been under way that is slow."""
MIN_LATER_CALLS: Final = 500
"""By how many later calls a slow one is overtaken that is not slow because all are."""

_EVENTS_OF_CALL: Final = 3
"""The least that a call adds to a history."""

TRY_AGAIN: Final = 2_000
"""After how many further events a run is to continue as new that could not be carried over."""


MAX_SIGNALS: Final = 1_000
"""How many signals an execution may get that should not continue as new.

A server that has more than a hundred signals to hand over while a workflow task is in progress fails the task, and the
worker replays the execution. That takes the longer the longer its history is, and once it takes so long that another
hundred signals come, no task ends any more until the server refuses signals. So a worker that is restarted, or stands
still for a moment, must be able to replay the execution in the time of a hundred signals.
"""


class LengthCheck:
    """Looks at how long one execution is."""

    def __init__(self, is_long: Callable[[], bool], words: Callable[[], Words]) -> None:
        """Look at an execution of which *is_long* tells whether it should continue as new.

        *words* gives those of its definition's language.
        """
        self._is_long = is_long
        self._words = words
        self._stepped_at: datetime | None = None
        self._came_at: datetime | None = None
        self._signals = 0
        self._again_from: int | None = None
        """From how many events on a run is looked at again that could not be carried over."""

    def at_step(self, run: Run, host: TemporalHost, at: datetime) -> None:
        """Suspend *run*, which takes a step *at* this time of *host*, if it should continue as new.

        Not one that is being cancelled, has sub-workflows that are to end with it, or waits for a slow call, as long as
        the server lets it live.
        """
        if at is not self._stepped_at:  # the host's time is one object as long as a workflow task lasts
            self._stepped_at = at
            if self._is_due() and self._can_leave(run, host):
                run.suspend()

    def at_signal(self) -> None:
        self._signals += 1

    def at_event(self, run: Run, host: TemporalHost) -> None:
        """Suspend *run*, which keeps an event that has come, if it should continue as new.

        Raises HistoryTooLong if it was to do so long ago, still waits for a call, and is about to be ended.
        """
        at = host.now()
        if at is not self._came_at:
            self._came_at = at
            if self._is_due() and self._can_leave(run, host):
                run.suspend()
            if run.is_suspending and self._is_at_its_end():
                self._give_up(host.slowest, at)

    def _can_leave(self, run: Run, host: TemporalHost) -> bool:
        if self.is_endangered():
            return True
        if run.execution.is_cancelled or host.has_children_to_end():
            return False
        return not self._waits_for(host.slowest, host.now())

    def _give_up(self, slowest: Slowest | None, at: datetime) -> None:
        if slowest is not None:
            seconds = (at - slowest.since).total_seconds()
            raise HistoryTooLong(
                f"the history has {workflow.info().get_current_history_length():,} events, and the run cannot go on in "
                f"a new one, because {slowest.name!r} has been under way for {seconds:,.0f} seconds: "
                f"{self._words().slow_call}"
            )

    def could_not_carry_over(self, size: int, most: int, run: Run) -> None:
        """Take note that the record of *run* is larger than *most*. Raises PayloadTooLarge if it cannot stay either."""
        length = workflow.info().get_current_history_length()
        _check_iterations(size, most, run)
        if self._again_from is not None and self._is_at_its_end():
            raise PayloadTooLarge(
                f"the history has {length:,} events, and the run cannot go on in a new one: what it has to carry over "
                f"takes {size:,} bytes of the {most:,} that a run can give on, "
                f"{run.inbox.size:,} of them for {counted(len(run.inbox.kept), 'event')} that no state has taken"
            )
        self._again_from = length + TRY_AGAIN

    def _is_due(self) -> bool:
        if self._signals < MAX_SIGNALS and not self._is_long():
            return False
        if self._again_from is None:
            return True
        return workflow.info().get_current_history_length() >= self._again_from or self._is_at_its_end()

    def is_endangered(self) -> bool:
        """Tell whether the server is about to end the execution because its history is too long."""
        info = workflow.info()
        return info.get_current_history_length() >= MAX_EVENTS or info.get_current_history_size() >= MAX_BYTES

    def _waits_for(self, slowest: Slowest | None, at: datetime) -> bool:
        """Tell whether the run stays because something is slow: then it is no use to wait until all has ended."""
        info = workflow.info()
        if slowest is None or info.get_current_history_size() >= SLOW_CALL_MAX_BYTES:
            return False
        # Busy workers may take many later calls first, while none takes long: such a call is soon waited for.
        is_slow = at - slowest.since >= SLOW_CALL
        most = ALL_SLOW_MAX_EVENTS if slowest.overtaken < MIN_LATER_CALLS else SLOW_CALL_MAX_EVENTS
        return is_slow and info.get_current_history_length() < most

    def _is_at_its_end(self) -> bool:
        info = workflow.info()
        return info.get_current_history_length() >= LAST_EVENTS or info.get_current_history_size() >= LAST_BYTES


def _check_iterations(size: int, most: int, run: Run) -> None:
    """Raise PayloadTooLarge where the iterations that are left are too many for the history that *run* cannot leave."""
    fronts = list(nested(run.execution.frame, Front))
    done, all_ = sum(front.count for front in fronts), sum(front.of for front in fronts)
    info = workflow.info()
    length, bytes_ = info.get_current_history_length(), info.get_current_history_size()
    more = (all_ - done) * _EVENTS_OF_CALL
    if not more or (length + more <= LAST_EVENTS and bytes_ + more * bytes_ // max(1, length) <= LAST_BYTES):
        return
    results = sum(size_of(front.results) for front in fronts)
    raise PayloadTooLarge(
        f"{done:,} of {all_:,} iterations are done, and the run cannot go on with the others: their results take "
        f"{results:,} bytes, and all that it has to carry on {size:,} of the {most:,} that it can; {CARRY_LESS}"
    )
