"""Limits how much an instance does without waiting for anything outside, to detect one that never ends.

Three things are counted, from one execution to the next: the states that were entered, and the executions that were
begun, since the instance last waited; and how many instances wait for it, each for the next. Waiting is what lets the
world have a say: a call, an event, a sub-workflow, a variable, time that passes. The limits are the operator's. They
are asked for where an instance has come far, and what is answered is recorded, so that a replay decides alike.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Final
from urllib.parse import quote, unquote

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import PayloadTooLarge, StepLimitExceeded, TooManySubflows
from swf_temporal.base.records import Record
from swf_temporal.runtime.cycles import Rounds, named_states, too_deep, too_many_descendants, too_many_executions

STATES: Final = 10_000_000
EXECUTIONS: Final = 1_000
DEPTH: Final = 500
"""Of what a worker keeps in memory, such a tower of instances takes a quarter."""

DESCENDANTS: Final = 10_000
"""Of small sub-workflows that are begun at once, a worker and a small server take a minute or two."""

HELD_BYTES: Final = 1024 * 1024 * 1024
"""Of collected results, as JSON, that a worker keeps in memory for one run."""

MIN_STATES: Final = 1_000
MIN_EXECUTIONS: Final = 10
MIN_DEPTH: Final = 20
MIN_DESCENDANTS: Final = 1_000
MIN_HELD_BYTES: Final = 16 * 1024 * 1024
"""The least that may be set: how far an instance comes before it asks for limits."""

_TIMES_THE_SAME: Final = 5_000
"""That a state begins with the same data without waiting: then nothing can change any more but the clock."""
_STATES_OF_ONE_ROUND: Final = 2_000
"""By so many times less than states may run a state may begin with the same data, where that is more."""

_DEPTH, _STATES, _EXECUTIONS, _ASKS_AT = "depth", "states", "executions", "asksAtDepth"
_SPREAD: Final = "spread"
_WITHIN, _CONTINUED = "within:", "continued:"
"""Keys among the numbers that a run carries. Those of ids have a slash in them, and these have none."""


@dataclass(frozen=True, slots=True)
class InstanceLimits(Record):
    """The operator's limits. All are written: another release, which reads them, may have other defaults."""

    CAMEL_CASE: ClassVar[bool] = True

    states: int = field(default_factory=lambda: STATES)
    """How many states may be entered without waiting."""
    executions: int = field(default_factory=lambda: EXECUTIONS)
    """How many executions may be begun without waiting, each by the one before."""
    depth: int = field(default_factory=lambda: DEPTH)
    """How many sub-workflows may wait for one another."""
    held_bytes: int = field(default_factory=lambda: HELD_BYTES)
    """How many bytes of collected results a run may hold from one execution to the next."""
    descendants: int = field(default_factory=lambda: DESCENDANTS)
    """How many sub-workflows may be in progress beneath one instance, on all levels, by `Budget.spread`."""

    def check_held(self, size: int) -> None:
        """Raise PayloadTooLarge where a run holds more than that."""
        if size > self.held_bytes:
            raise PayloadTooLarge(
                f"the run holds {size:,} bytes of collected results, and a run may hold {self.held_bytes:,} "
                "(maxHeldBytes of its worker): collect less of each result, or let a service keep them"
            )


class Budget:
    """The part of the limits that one execution, and those before it, have used up."""

    def __init__(self, workflow_id: str, numbers: Mapping[str, int]) -> None:
        """Go on from the *numbers* that an execution of the workflow was begun with."""
        self._asks_at_depth = max(MIN_DEPTH, numbers.get(_ASKS_AT, 0))
        self._workflow = workflow_id
        self.depth = numbers.get(_DEPTH, 0)
        self._within = _of_prefix(_WITHIN, numbers)
        self._states = numbers.get(_STATES, 0)
        self._executions = numbers.get(_EXECUTIONS, 0)
        self._continued = _of_prefix(_CONTINUED, numbers)
        self._entered = 0
        self._met: dict[tuple[str, str], int] = {}
        self._rounds = Rounds()
        self._same: tuple[str, int] = ("", 0)
        self._asks_at = MIN_STATES
        self._spread = numbers.get(_SPREAD, 1)
        self._asks_at_spread = MIN_DESCENDANTS
        self._in_progress = 0

    # What happens

    @contextmanager
    def waiting_for_child(self) -> Iterator[None]:
        """Count a sub-workflow that is in progress for as long as the context lasts."""
        self._in_progress += 1
        try:
            yield
        finally:
            self._in_progress -= 1

    def enter(self, state: str) -> None:
        """Take note of a state that begins."""
        self._states += 1
        self._entered += 1
        self._met[self._workflow, state] = self._entered

    @property
    def is_suspicious(self) -> bool:
        """Whether so many states began without waiting that it matters with which data they do."""
        return self._states >= MIN_STATES

    def enter_with(self, state: str, data: JSON) -> None:
        """Take note of the data with which a state begins that is part of no branch or iteration."""
        times = self._rounds.count(state, data)
        if times > self._same[1]:
            self._same = state, times

    def waited(self) -> None:
        """Take note that something was waited for."""
        if self.is_suspicious:  # otherwise nothing was noted of rounds
            self._rounds, self._same, self._asks_at = Rounds(), ("", 0), MIN_STATES
        self._states = 0
        if self._executions:
            self._executions, self._continued = 0, {}

    # What is carried on

    def carried(self) -> dict[str, int]:
        """Return what the same run goes on with in another execution."""
        return {
            **_with_prefix(_WITHIN, self._within),
            **_with_prefix(_CONTINUED, self._continued),
            **self._depths(self.depth),
            **_named(_STATES, self._states),
            **_named(_EXECUTIONS, self._executions),
            **({_SPREAD: self._spread} if self._spread > 1 else {}),
        }

    def of_next(self) -> dict[str, int]:
        """Return what the execution begins with that this one continues as, or leaves behind when it ends."""
        executions = self._executions + 1
        continued = {**self._continued, self._workflow: executions}
        return {**self.carried(), **_with_prefix(_CONTINUED, continued), _EXECUTIONS: executions}

    def of_detached(self) -> dict[str, int]:
        """Return what a sub-workflow begins with whose parent does not wait for it."""
        dropped = (_DEPTH, _ASKS_AT, _SPREAD)
        return {key: n for key, n in self.of_next().items() if key not in dropped and _WITHIN not in key}

    def spread(self, workflow_id: str) -> int:
        """Estimate how many instances are in progress beneath the outermost one, if all are as many as these.

        These are the sub-workflows of this instance that are in progress, of which the last one is to be begun, those
        of its parent when this one was begun, and so on: their product. Where a workflow runs itself, directly or not,
        there is no end to the levels, so it counts squared; and beneath several, a single one counts as two: it is the
        first of more.
        """
        at_once = max(1, self._in_progress)
        if self._is_cycle(workflow_id):
            at_once = max(at_once, 2 if self._spread > 1 else 1) ** 2
        return self._spread * at_once

    def _is_cycle(self, workflow_id: str) -> bool:
        return workflow_id == self._workflow or workflow_id in self._within

    def of_child(self, spread: int = 1) -> dict[str, int]:
        """Return what a sub-workflow begins with that this instance waits for."""
        depth = self.depth + 1
        # One that was met before is met again: it stands where it was first.
        within = {**self._within, self._workflow: depth}
        spreads = {_SPREAD: spread} if spread > 1 else {}
        return {**_with_prefix(_WITHIN, within), **self._depths(depth), **spreads}

    def _depths(self, depth: int) -> dict[str, int]:
        asked = self._asks_at_depth if self._asks_at_depth > MIN_DEPTH else 0
        return {**_named(_DEPTH, depth), **_named(_ASKS_AT, asked)}

    def over(self, numbers: Mapping[str, int], mine: Mapping[str, int]) -> dict[str, int]:
        """Return the *numbers* that a run carries with *mine* in the place of those that it began with."""
        own = (_DEPTH, _STATES, _EXECUTIONS, _ASKS_AT, _SPREAD)
        kept = {key: n for key, n in numbers.items() if key not in own and not key.startswith((_WITHIN, _CONTINUED))}
        return {**kept, **mine}

    # Limits

    @property
    def asks_for_states(self) -> bool:
        """Whether so many states began without waiting that the limit has to be known."""
        return self._states >= self._asks_at or self._same[1] >= _TIMES_THE_SAME

    def check_states(self, limits: InstanceLimits) -> None:
        """Raise StepLimitExceeded where more states began without waiting than *limits* let them."""
        state, times = self._same
        most = max(_TIMES_THE_SAME, limits.states // _STATES_OF_ONE_ROUND)
        if times >= most:
            what = f"{state!r} began with the same data {most:,} times"
        elif self._states >= limits.states:
            what = f"{limits.states:,} states ran"
        else:
            self._asks_at = min(limits.states, 2 * self._states)
            return
        raise StepLimitExceeded(f"{what} without waiting for anything, in a cycle: {self._latest()}")

    @property
    def asks_for_executions(self) -> bool:
        """Whether so many executions were begun without waiting that the limit has to be known."""
        return self._executions >= MIN_EXECUTIONS

    def check_executions(self, limits: InstanceLimits) -> None:
        """Raise StepLimitExceeded where one more would be more executions without waiting than *limits* let be."""
        executions = self._executions + 1
        if executions > limits.executions:
            cycle = too_many_executions({**self._continued, self._workflow: executions}, executions)
            ran = f"{self._executions:,} executions were begun without waiting for anything, each by the one before"
            raise StepLimitExceeded(f"{ran}: {cycle}, with {self._latest()}")

    @property
    def asks_for_depth(self) -> bool:
        """Whether so many instances wait for this one that the limit has to be known."""
        return self.depth >= self._asks_at_depth

    def check_depth(self, limits: InstanceLimits) -> None:
        """Raise StepLimitExceeded where one more sub-workflow would be deeper than *limits* let it be."""
        depth = self.depth + 1
        if depth > limits.depth:
            raise StepLimitExceeded(too_deep({**self._within, self._workflow: depth}, depth, limits.depth))
        self._asks_at_depth = max(MIN_DEPTH, min(limits.depth, 2 * self.depth))

    def asks_for_descendants(self, spread: int) -> bool:
        """Tell whether so many instances may be in progress that the limit has to be known."""
        return spread >= self._asks_at_spread

    def check_descendants(self, workflow_id: str, spread: int, limits: InstanceLimits) -> None:
        """Raise TooManySubflows where one more of that workflow would be more than *limits* let be in progress."""
        if spread > limits.descendants:
            ancestors, depth = {**self._within, self._workflow: self.depth + 1}, self.depth + 1
            is_cycle = self._is_cycle(workflow_id)
            raise TooManySubflows(too_many_descendants(ancestors, depth, limits.descendants, is_cycle=is_cycle))
        self._asks_at_spread = max(MIN_DESCENDANTS, min(limits.descendants + 1, 2 * spread))

    def _latest(self) -> str:
        return named_states(self._met, self._entered)


def _of_prefix(prefix: str, numbers: Mapping[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for key, number in numbers.items():
        if key.startswith(prefix):
            name = key[len(prefix) :]
            found[unquote(name) if "%" in name else name] = number
    return found


def _with_prefix(prefix: str, numbers: Mapping[str, int]) -> dict[str, int]:
    return {prefix + _quoted(name): number for name, number in numbers.items()}


@lru_cache(maxsize=1024)
def _quoted(name: str) -> str:
    return quote(name, safe="")


def _named(key: str, number: int) -> dict[str, int]:
    return {key: number} if number else {}
