"""Fails an instance that runs in an endless cycle, and names the states of the cycle.

Counted, not timed: a definition is given up after the same number of steps on every machine.
"""

from collections.abc import Callable

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import StepLimitExceeded
from swf_temporal.runtime.cycles import Rounds, named_states, too_many_executions

MAX_TIMES_THE_SAME = 500
"""That a state begins with the same data in one moment. This tells most cycles much sooner."""
MAX_STEPS = 10_000
"""States and retries of a simulation that does not set another limit. They take about a second."""
MAX_EXECUTIONS = 2_000
"""That continue one another by `continueAs`, whether or not time passes."""


class Steps:
    """Counts the states and retries of all instances of a simulation."""

    def __init__(self, most: int = MAX_STEPS) -> None:
        self._most = most
        self._begun = 0

    def count(self, lately: Callable[[], str]) -> None:
        """Take note of a step. Raises StepLimitExceeded, with what *lately* says, where there were too many."""
        self._begun += 1
        if self._begun > self._most:
            raise StepLimitExceeded(
                f"{self._most:,} states and retries ran, which is the most that max_steps allows: {lately()}"
            )


class StateHistory:
    """The states that one instance ran, through all of its executions."""

    def __init__(self) -> None:
        self._workflow = ""
        self._executions = 0
        self._entered = 0
        self._now = -1.0
        # When each was met last, as a number of steps. The first to be met stands first.
        self._rounds = Rounds()
        self._workflows: dict[str, int] = {}
        self._states: dict[tuple[str, str], int] = {}

    def begin(self, workflow_id: str) -> None:
        """Take note of an execution. Raises StepLimitExceeded where there were too many."""
        self._workflow = workflow_id
        self._rounds = Rounds()
        self._executions += 1
        self._workflows[workflow_id] = self._executions
        if self._executions > MAX_EXECUTIONS:
            cycle = too_many_executions(self._workflows, self._executions)
            raise StepLimitExceeded(
                f"{MAX_EXECUTIONS:,} executions ran, each continued as the next, and a simulation runs no more: "
                f"{cycle}, with {self.latest_states()}"
            )

    def enter(self, state: str, data: JSON, now: float) -> None:
        """Take note of a state and its data. Raises StepLimitExceeded where both came too often in one moment."""
        if now != self._now:
            self._now, self._rounds = now, Rounds()
        self._entered += 1
        self._states[self._workflow, state] = self._entered
        if self._rounds.count(state, data) > MAX_TIMES_THE_SAME:
            raise StepLimitExceeded(
                f"{state!r} began with the same data {MAX_TIMES_THE_SAME} times without waiting for anything, in a "
                f"cycle: {self.latest_states()}"
            )

    def latest_states(self) -> str:
        """Return the names of the states that ran lately, for messages."""
        return named_states(self._states, self._entered)
