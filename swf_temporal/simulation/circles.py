"""Gives up an instance that goes round in a circle that nothing ends, and names the circle.

Counted, not timed: a definition is given up after the same number of steps on every machine.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from swf_temporal.data import JSON
from swf_temporal.errors import StepLimitExceeded

MAX_STATES_WITHOUT_TIME = 10_000
"""Of one instance, before virtual time passes."""
MAX_TIMES_THE_SAME = 500
"""That a state begins with the same data in one moment. This tells most circles much sooner."""
MAX_EXECUTIONS = 2_000
"""That continue one another by `continueAs`, whether or not time passes."""

_LATEST = 1_000
"""Whatever belongs to the circle is among so many of the latest steps."""
_MAX_NAMES = 10
"""The number of names in a message."""

_K = TypeVar("_K")


class Course:
    """The states that one instance ran, through all of its executions."""

    def __init__(self) -> None:
        self._workflow = ""
        self._executions = 0
        self._entered = 0
        self._entered_before_now = 0
        self._now = -1.0
        # When each was met last, as a number of steps. The first to be met stands first.
        self._rounds = _Rounds()
        self._workflows: dict[str, int] = {}
        self._states: dict[tuple[str, str], int] = {}

    def begin(self, workflow_id: str) -> None:
        """Take note of an execution. Raises StepLimitExceeded where there were too many."""
        self._workflow = workflow_id
        self._rounds = _Rounds()
        self._executions += 1
        self._workflows[workflow_id] = self._executions
        if self._executions > MAX_EXECUTIONS:
            names = [repr(name) for name in _latest(self._workflows, self._executions)]
            circle = f"{_listed(names)} continue as each other" if len(names) > 1 else f"{names[0]} continues as itself"
            raise StepLimitExceeded(
                f"{MAX_EXECUTIONS:,} executions ran, each continued as the next, and a simulation runs no more: "
                f"{circle}, with {self.latest_states()}"
            )

    def enter(self, state: str, data: JSON, now: float) -> None:
        """Take note of a state, and what it begins with. Raises StepLimitExceeded where too many ran in one moment."""
        if now != self._now:
            self._now, self._entered_before_now, self._rounds = now, self._entered, _Rounds()
        self._entered += 1
        self._states[self._workflow, state] = self._entered
        if self._rounds.count(state, data) > MAX_TIMES_THE_SAME:
            raise StepLimitExceeded(
                f"{state!r} began with the same data {MAX_TIMES_THE_SAME} times without waiting for anything, in a "
                f"circle: {self.latest_states()}"
            )
        if self._entered - self._entered_before_now > MAX_STATES_WITHOUT_TIME:
            raise StepLimitExceeded(
                f"{MAX_STATES_WITHOUT_TIME:,} states ran without waiting for anything, in a circle: "
                f"{self.latest_states()}"
            )

    def latest_states(self) -> str:
        """Return the names of the states that ran lately, for messages."""
        latest = _latest(self._states, self._entered)
        several = len({workflow for workflow, _ in latest}) > 1
        names = [f"{state!r} of {workflow!r}" if several else repr(state) for workflow, state in latest]
        return f"{'state' if len(names) == 1 else 'states'} {_listed(names)}"


class _Rounds:
    """How often does a state begin with the same data?

    One state is remembered with its data. If it is long in coming again, it was before the circle, or had other data
    there; then the present one is remembered instead, and for longer.
    """

    def __init__(self) -> None:
        self._state: str | None = None
        self._data: JSON = None
        self._times = 0
        self._since = 0
        self._patience = 1

    def count(self, state: str, data: JSON) -> int:
        """Return how often *state* began with *data*, as far as these are the ones remembered."""
        self._since += 1
        if state == self._state and data == self._data:
            self._times, self._since = self._times + 1, 0
            return self._times
        if self._since >= self._patience:
            self._state, self._data, self._times, self._since = state, data, 1, 0
            self._patience = min(2 * self._patience, _LATEST)
        return 0


def _latest(met: Mapping[_K, int], steps: int) -> list[_K]:
    return [one for one, step in met.items() if step > steps - _LATEST]


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MAX_NAMES:
        names = [*names[:_MAX_NAMES], f"{len(names) - _MAX_NAMES} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
