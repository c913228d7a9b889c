"""The `noop` state: nothing but what every state does."""

from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import Leaving
from swf_temporal.languages.direktiv.model.states import NoopState


def run(state: NoopState, lane: Lane) -> Leaving:
    """Leave at once."""
    return Leaving(lane.data, state.transform, state.transition)
