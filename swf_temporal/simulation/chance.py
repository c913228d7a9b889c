"""The jitter that a scenario decides."""

from collections.abc import Callable

from swf_temporal.runtime.retrying import JitterSource, jitter_of
from swf_temporal.simulation.description import Scenario


def chance_of(scenario: Scenario) -> Callable[[str], JitterSource]:
    """Return what deals the attempts of the call with a given key: every call the same, if *scenario* says what."""
    dealt = scenario.chance
    if not dealt:
        return jitter_of

    def draw(attempt: int) -> float:
        return dealt[min(attempt, len(dealt)) - 1]

    return lambda _key: draw
