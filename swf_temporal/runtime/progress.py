"""The record of a run that was suspended."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record
from swf_temporal.runtime.host import ContinueTimeout
from swf_temporal.runtime.inbox import InboxRecord


@dataclass(slots=True)
class Value(Record):
    """A value of a workflow where there may be none yet: null is one, too."""

    value: JSON


@dataclass(slots=True)
class ProgressRecord(Record):
    """The progress record of a run, which survives its suspension.

    A field that this release does not know belongs to a moment that has passed once the run goes on: it is passed over.
    """

    WHAT: ClassVar[str] = "a run's progress"

    frame: dict[str, Any] | None = None
    """How far the execution is: its own record, as its language stores it. None of an instance that has not begun."""
    input: JSON = None
    started: float | None = None
    """When the instance began, as seconds of the epoch."""
    inbox: InboxRecord | None = None
    numbers: dict[str, int] = field(default_factory=dict)
    """How often each id was given. Of iterations that are complete only the highest number is left."""
    limit: ContinueTimeout | None = None
    """What takes the place of the workflow's own timeout."""
    same: list[list[list[str | int]]] = field(default_factory=list)
    """Which places of the record have what others have: see `runtime/sharing.py`."""
    parts: list[int] = field(default_factory=list)
    """The numbers of the parts that an engine carries on beside the record, in their order: `runtime/outputs.py`."""
