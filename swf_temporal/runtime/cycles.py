"""Detects endless cycles of states and workflows, and names them in messages.

Counted, not timed: an instance is given up after the same number of steps on every machine.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from swf_temporal.base.data import JSON
from swf_temporal.base.grammar import listed
from swf_temporal.base.weighing import MAX_WRITTEN, json_size

LATEST: Final = 1_000
"""The number of latest steps among which all states of a cycle are looked for."""
_MAX_NAMES: Final = 10
"""The maximum number of names in a message."""

_K = TypeVar("_K")


class Rounds:
    """Counts how often a state begins with the same data.

    One state is remembered with its data. If it does not come again for long, it was not part of the cycle, or had
    other data there; then the present one is remembered instead, and for longer.
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
        if state == self._state and (data is self._data or (json_size(data) <= MAX_WRITTEN and data == self._data)):
            self._times, self._since = self._times + 1, 0
            return self._times
        if self._since >= self._patience:
            self._state, self._data, self._times, self._since = state, data, 1, 0
            self._patience = min(2 * self._patience, LATEST)
        return 0


def named_states(met: Mapping[tuple[str, str], int], steps: int) -> str:
    """Return the names of the states that ran lately, for messages.

    *met* has the step at which each was met last, by its workflow and its name, the first to be met first.
    """
    latest = _latest(met, steps)
    several = len({workflow for workflow, _ in latest}) > 1
    names = [f"{state!r} of {workflow!r}" if several else repr(state) for workflow, state in latest]
    return f"{'state' if len(names) == 1 else 'states'} {_listed(names)}"


def named_workflows(met: Mapping[str, int], steps: int, alone: str, together: str) -> str:
    """Return the names of the workflows that were met lately, with what one does, or several: `alone` or `together`."""
    names = [repr(name) for name in _latest(met, steps)]
    return f"{_listed(names)} {together}" if len(names) > 1 else f"{names[0]} {alone}"


def too_deep(ancestors: Mapping[str, int], depth: int, most: int) -> str:
    """Return the message for more than *most* sub-workflows that would wait for one another.

    *ancestors* has the greatest depth of each workflow among those that wait, the outermost first.
    """
    cycle = named_workflows(ancestors, depth, "runs itself", "run each other")
    return f"too many sub-workflows wait for one another: {cycle}, and no more than {most:,} levels are run"


def too_many_descendants(ancestors: Mapping[str, int], depth: int, most: int, *, is_cycle: bool) -> str:
    """Return the message for more than *most* sub-workflows that would be in progress beneath one instance.

    *ancestors* are as for `too_deep`.
    """
    alone, together = ("runs itself", "run each other") if is_cycle else ("runs them", "run them")
    who = named_workflows(ancestors, depth, alone, together)
    return f"too many sub-workflows would be in progress beneath one instance: {who}, and no more than {most:,} are run"


def too_many_executions(met: Mapping[str, int], executions: int) -> str:
    """Return which workflows were met lately among *executions*, each continued as the next, and what they do."""
    return named_workflows(met, executions, "continues as itself", "continue as each other")


def _latest(met: Mapping[_K, int], steps: int) -> list[_K]:
    return [one for one, step in met.items() if step > steps - LATEST]


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MAX_NAMES:
        names = [*names[:_MAX_NAMES], f"{len(names) - _MAX_NAMES} more"]
    return listed(names)
