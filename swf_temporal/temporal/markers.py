"""Markers: what a run records at a place in its code, because its course depends on it and nothing else records it.

A marker is what the SDK calls a patch. There are two kinds. A *change id* says that a run took a place of the code as a
later release has it; one that passed the place before has none. Other markers say what depends on the configuration of
a worker. Nothing else in this package asks the SDK for patches.
"""

from temporalio import workflow


def is_marked(marker: str) -> bool:
    """Tell whether the history has *marker*, which it is given at this place if it is being written.

    Each place needs a marker of its own: what the SDK answered once for one, it answers for good.
    """
    return workflow.patched(marker)


def is_recorded(marker: str, *, wanted: bool) -> bool:
    """Tell whether something is *wanted* at this place, or was when the history was written."""
    return (wanted or workflow.unsafe.is_replaying()) and is_marked(marker)
