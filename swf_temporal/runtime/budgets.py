"""Limits how much an instance does without waiting for anything outside, to detect one that never ends.

Three things are counted, from one execution to the next: the states that were entered, and the executions that were
started, since the instance last waited; and how many instances wait for it, each for the next. Waiting means waiting
for something outside: a call, an event, a sub-workflow, a variable, or time. The operator sets the limits. They are
requested only once an instance has got far, and the answer is recorded, so that a replay decides alike.
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
"""A chain of that depth takes a quarter of what a worker keeps in memory."""

DESCENDANTS: Final = 10_000
"""If they are small and start at once, a worker and a small server need a minute or two for them."""

HELD_BYTES: Final = 1024 * 1024 * 1024
"""The size, as JSON, of the collected results that a worker keeps in memory for one run."""

MIN_STATES: Final = 1_000
MIN_EXECUTIONS: Final = 10
MIN_DEPTH: Final = 20
MIN_DESCENDANTS: Final = 1_000
MIN_HELD_BYTES: Final = 16 * 1024 * 1024
"""The minimum of each setting: an instance does not ask for limits before it has got that far."""

_TIMES_THE_SAME: Final = 5_000
"""How often a state may begin with the same data without waiting: nothing but the clock can change any more."""
_STATES_OF_ONE_ROUND: Final = 2_000
"""The limit of states is divided by this; if the quotient exceeds `_TIMES_THE_SAME`, it takes its place."""

_DEPTH, _STATES, _EXECUTIONS, _ASKS_AT = "depth", "states", "executions", "asksAtDepth"
_SPREAD: Final = "spread"
_WITHIN, _CONTINUED = "within:", "continued:"
"""Keys among the numbers that a run carries. Unlike the keys of ids, they contain no slash."""


@dataclass(frozen=True, slots=True)
class InstanceLimits(Record):
    """The operator's limits. All are stored: another release that reads them may have other defaults."""

    CAMEL_CASE: ClassVar[bool] = True

    states: int = field(default_factory=lambda: STATES)
    """How many states may be entered without waiting."""
    executions: int = field(default_factory=lambda: EXECUTIONS)
    """How many executions may start without waiting, each from the one before."""
    depth: int = field(default_factory=lambda: DEPTH)
    """How many sub-workflows may wait for one another."""
    held_bytes: int = field(default_factory=lambda: HELD_BYTES)
    """How many bytes of collected results a run may hold from one execution to the next."""
    descendants: int = field(default_factory=lambda: DESCENDANTS)
    """How many sub-workflows of one instance may be in progress, on all levels, as `Budget.spread` estimates."""

    def check_held(self, size: int) -> None:
        """Raise PayloadTooLarge if a run holds more than that."""
        if size > self.held_bytes:
            raise PayloadTooLarge(
                f"the run holds {size:,} bytes of collected results, and a run may hold {self.held_bytes:,} "
                "(maxHeldBytes of its worker): collect less of each result, or let a service keep them"
            )


class Budget:
    """The part of the limits that one execution and its predecessors have used up."""

    def __init__(self, workflow_id: str, numbers: Mapping[str, int]) -> None:
        """Continue from the *numbers* that an execution of the workflow started with."""
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
        """Record that a state begins."""
        self._states += 1
        self._entered += 1
        self._met[self._workflow, state] = self._entered

    @property
    def is_suspicious(self) -> bool:
        """True if enough states began without waiting that their data has to be compared."""
        return self._states >= MIN_STATES

    def enter_with(self, state: str, data: JSON) -> None:
        """Record the data with which a state begins that is not part of a branch or an iteration."""
        times = self._rounds.count(state, data)
        if times > self._same[1]:
            self._same = state, times

    def waited(self) -> None:
        """Record that the instance has waited for something."""
        if self.is_suspicious:  # otherwise no rounds were recorded
            self._rounds, self._same, self._asks_at = Rounds(), ("", 0), MIN_STATES
        self._states = 0
        if self._executions:
            self._executions, self._continued = 0, {}

    # What is carried over

    def carried(self) -> dict[str, int]:
        """Return the numbers with which the same run continues in another execution."""
        return {
            **_with_prefix(_WITHIN, self._within),
            **_with_prefix(_CONTINUED, self._continued),
            **self._depths(self.depth),
            **_named(_STATES, self._states),
            **_named(_EXECUTIONS, self._executions),
            **({_SPREAD: self._spread} if self._spread > 1 else {}),
        }

    def of_next(self) -> dict[str, int]:
        """Return the numbers of the execution that this one continues as, or starts when it ends."""
        executions = self._executions + 1
        continued = {**self._continued, self._workflow: executions}
        return {**self.carried(), **_with_prefix(_CONTINUED, continued), _EXECUTIONS: executions}

    def of_detached(self) -> dict[str, int]:
        """Return the numbers of a sub-workflow whose parent does not wait for it."""
        dropped = (_DEPTH, _ASKS_AT, _SPREAD)
        return {key: n for key, n in self.of_next().items() if key not in dropped and _WITHIN not in key}

    def spread(self, workflow_id: str) -> int:
        """Estimate how many instances the outermost one has in progress, if all its descendants have as many children.

        It is the product of the sub-workflows that this instance has in progress, including the one to be started, of
        those that its parent had when it started this one, and so on. A workflow that runs itself, directly or not, has
        no last level, so its number is squared; where an ancestor has several, a single one counts as two, the first
        of more.
        """
        at_once = max(1, self._in_progress)
        if self._is_cycle(workflow_id):
            at_once = max(at_once, 2 if self._spread > 1 else 1) ** 2
        return self._spread * at_once

    def _is_cycle(self, workflow_id: str) -> bool:
        return workflow_id == self._workflow or workflow_id in self._within

    def of_child(self, spread: int = 1) -> dict[str, int]:
        """Return the numbers of a sub-workflow that this instance waits for."""
        depth = self.depth + 1
        # A workflow that is met again keeps its first place.
        within = {**self._within, self._workflow: depth}
        spreads = {_SPREAD: spread} if spread > 1 else {}
        return {**_with_prefix(_WITHIN, within), **self._depths(depth), **spreads}

    def _depths(self, depth: int) -> dict[str, int]:
        asked = self._asks_at_depth if self._asks_at_depth > MIN_DEPTH else 0
        return {**_named(_DEPTH, depth), **_named(_ASKS_AT, asked)}

    def over(self, numbers: Mapping[str, int], mine: Mapping[str, int]) -> dict[str, int]:
        """Return the *numbers* that a run carries, with the limits that it began with replaced by *mine*."""
        own = (_DEPTH, _STATES, _EXECUTIONS, _ASKS_AT, _SPREAD)
        kept = {key: n for key, n in numbers.items() if key not in own and not key.startswith((_WITHIN, _CONTINUED))}
        return {**kept, **mine}

    # Limits

    @property
    def asks_for_states(self) -> bool:
        """True if enough states began without waiting that the limit has to be known."""
        return self._states >= self._asks_at or self._same[1] >= _TIMES_THE_SAME

    def check_states(self, limits: InstanceLimits) -> None:
        """Raise StepLimitExceeded if more states began without waiting than *limits* permit."""
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
        """True if enough executions started without waiting that the limit has to be known."""
        return self._executions >= MIN_EXECUTIONS

    def check_executions(self, limits: InstanceLimits) -> None:
        """Raise StepLimitExceeded if one more execution without waiting would exceed *limits*."""
        executions = self._executions + 1
        if executions > limits.executions:
            cycle = too_many_executions({**self._continued, self._workflow: executions}, executions)
            ran = f"{self._executions:,} executions were started without waiting for anything, each by the one before"
            raise StepLimitExceeded(f"{ran}: {cycle}, with {self._latest()}")

    @property
    def asks_for_depth(self) -> bool:
        """True if enough instances wait for this one that the limit has to be known."""
        return self.depth >= self._asks_at_depth

    def check_depth(self, limits: InstanceLimits) -> None:
        """Raise StepLimitExceeded if one more level of sub-workflows would exceed *limits*."""
        depth = self.depth + 1
        if depth > limits.depth:
            raise StepLimitExceeded(too_deep({**self._within, self._workflow: depth}, depth, limits.depth))
        self._asks_at_depth = max(MIN_DEPTH, min(limits.depth, 2 * self.depth))

    def asks_for_descendants(self, spread: int) -> bool:
        """Return whether enough instances may be in progress that the limit has to be known."""
        return spread >= self._asks_at_spread

    def check_descendants(self, workflow_id: str, spread: int, limits: InstanceLimits) -> None:
        """Raise TooManySubflows if *limits* do not permit that *spread* instances are in progress."""
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
