"""Markers: decisions that a run records at a place in its code, because nothing else in the history records them.

A marker is what the SDK calls a patch. There are two kinds. A *change id* says that a run executed a place of the code
in the version of a later release; a run that passed the place earlier has none. Other markers record effects of a
worker's configuration. Nothing else in this package uses the SDK's patches.
"""

from temporalio import workflow


def is_marked(marker: str) -> bool:
    """Return whether the history has *marker*, which is added here unless this is a replay.

    Each place needs a separate marker: the SDK's first answer for one is final.
    """
    return workflow.patched(marker)


def is_recorded(marker: str, *, wanted: bool) -> bool:
    """Return whether something is *wanted* here, or, on replay, was wanted when the history was written."""
    return (wanted or workflow.unsafe.is_replaying()) and is_marked(marker)
