"""The timeouts of states and of the instance.

An instance has two moments of its own. At the first, the soft one, the state that is running then meets an error that
it can catch, once. At the second, the hard one, the instance ends. States that wait have a moment, too.
"""

from dataclasses import dataclass
from typing import Final

from swf_temporal.base.durations import parse_duration
from swf_temporal.languages.direktiv.model.states import (
    ActionState,
    ConsumeEventState,
    DelayState,
    EventsAndState,
    EventsXorState,
    ForeachState,
    GenerateEventState,
    GetterState,
    ParallelState,
    SetterState,
    State,
)
from swf_temporal.languages.direktiv.model.workflow import Timeouts

SOFT: Final = 15 * 60.0
"""Seconds until the soft timeout of a workflow that does not say."""
BETWEEN: Final = 5 * 60.0
"""Seconds from the soft timeout to the hard one of a workflow that does not say."""
STATE: Final = 15 * 60.0
"""Seconds that an action, a wait for events, variables, or an event to send may take where the state does not say."""
GRACE: Final = 5.0
"""Seconds beyond what a state may take; states that wait for nothing have no more."""


@dataclass(frozen=True, slots=True)
class InstanceTimeouts:
    """The two timeouts of an instance, in seconds from its start."""

    soft: float
    hard: float


def timeouts_of(timeouts: Timeouts | None) -> InstanceTimeouts:
    interrupt = None if timeouts is None else _seconds(timeouts.interrupt)
    kill = None if timeouts is None else _seconds(timeouts.kill)
    soft = SOFT if interrupt is None else interrupt
    return InstanceTimeouts(soft, soft + BETWEEN if kill is None else kill)


def seconds_of(state: State) -> float:
    """Return how many seconds *state* may take."""
    match state:
        case ActionState(async_=True):
            return GRACE
        case (
            ActionState() | ForeachState() | ParallelState() | ConsumeEventState() | EventsAndState() | EventsXorState()
        ):
            timeout = _seconds(state.timeout)
            return (STATE if timeout is None else timeout) + GRACE
        case DelayState():
            return parse_duration(state.duration).total_seconds() + GRACE
        case GetterState() | SetterState() | GenerateEventState():
            # What holds variables, or takes events, may be away for a while, which is to fail no instance.
            return STATE + GRACE
        case _:
            return GRACE


def _seconds(duration: str | None) -> float | None:
    return parse_duration(duration).total_seconds() if duration else None
