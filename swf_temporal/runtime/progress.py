"""The record of a run that was suspended."""

from typing import Any, TypeAlias, TypedDict

from swf_temporal.data import JSON
from swf_temporal.runtime.host import LimitRecord
from swf_temporal.runtime.inbox import InboxRecord

Frame: TypeAlias = dict[str, Any]
"""How far a path is, in the terms of its language."""


class ProgressRecord(TypedDict, total=False):
    """The progress record of a run, which survives its suspension; a language adds keys of its own.

    A field that this release does not know belongs to a moment that has passed once the run goes on: it is passed over.
    """

    frame: Frame
    """How far every path is, in the language's terms."""
    input: JSON
    started: float
    """When the instance began, as seconds of the epoch."""
    inbox: InboxRecord
    numbers: dict[str, int]
    """How often each id was given. Of iterations that are complete only the highest number is left."""
    same: list[list[list[str | int]]]
    """Which places of the record have what others have: see `runtime/sharing.py`."""
    parts: list[int]
    """The numbers of the parts that an engine carries on beside the record, in their order: `runtime/outputs.py`."""
    limit: LimitRecord | None
    """What takes the place of the workflow's own timeout."""
