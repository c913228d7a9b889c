"""Markers: what a run records at a place in its code, because its course depends on it and nothing else records it.

A marker is what the SDK calls a patch. There are two kinds. A *change id* says that a run took a place of the code as a
later release has it; one that passed the place before has none. Other markers say what depends on a worker: on its
configuration, or on how long something took. Nothing else in this package asks the SDK for patches.
"""

from temporalio import workflow

from swf_temporal.temporal.activations import here, seconds


def is_marked(marker: str) -> bool:
    """Tell whether the history has *marker*, which it is given at this place if it is being written.

    Each place needs a marker of its own: what the SDK answered once for one, it answers for good.
    """
    return workflow.patched(marker)


def is_recorded(marker: str, *, wanted: bool) -> bool:
    """Tell whether something is *wanted* at this place, or was when the history was written."""
    if not wanted and _is_unmarked(marker):
        return False
    return (wanted or workflow.unsafe.is_replaying()) and is_marked(marker)


def has_time(limit: float, marker: str) -> bool:
    """Tell whether the activation in this thread is known to have lasted less than *limit* seconds.

    Of a replay, whether its history is known to have no *marker* of that kind. A run asks at every step: asking the SDK
    whether it replays takes several times as long.
    """
    stretch = here.stretch
    if stretch is None:
        return False
    if stretch.is_replaying:
        return marker not in stretch.markers.kinds
    return seconds() < limit


def replays_without(marker: str) -> bool:
    """Tell whether the activation that runs in this thread is known to be a replay of a history without *marker*.

    A replay asks at every step, too: the SDK would remember each marker that it is asked for.
    """
    stretch = here.stretch
    return stretch is not None and stretch.is_replaying and marker not in stretch.markers


def _is_unmarked(marker: str) -> bool:
    """Tell whether the activation in this thread is known to be no replay, or one of a history without *marker*."""
    stretch = here.stretch
    return stretch is not None and not (stretch.is_replaying and marker in stretch.markers)
