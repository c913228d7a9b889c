"""The pin: the record that a run carries beside the user's own data, and the definitions in it.

It is the second argument of a workflow, if our client started it: the texts of the definitions that the run may need,
so that a changed file never changes a running instance. A run that was started with nothing but its data looks its
definition up once, by a local activity, and carries the same record from then on.

A pin also has the number of the semantics under which the run began (`runtime/semantics.py`), so that it keeps them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NotRequired, TypedDict, cast

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.definition_cache import of_definitions
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.loading import load, load_pinned
from swf_temporal.runtime.host import ContinueTimeout
from swf_temporal.runtime.progress import ProgressRecord
from swf_temporal.runtime.run import Program
from swf_temporal.runtime.semantics import SEMANTICS
from swf_temporal.temporal.call_records import CallRecord
from swf_temporal.temporal.endings import AwaitedRecord
from swf_temporal.temporal.formats import FIRST_FORMAT, check_format, check_number
from swf_temporal.temporal.record_types import check_type
from swf_temporal.weighing import json_size

RESOLVE = "resolve definitions"
"""The local activity that finds the definition of a workflow type."""

UNKNOWN = "unknown"
"""The field in its answer that says why there is none."""

LIMITS = "look limits up"
"""The local activity that says how long an instance may go on without waiting."""

LOOK_UP = "look definitions up"
"""The local activity that says which of the definitions of a run its worker serves."""

EVALUATE = "evaluate"
"""The local activity that makes an evaluation which its text and data do not bound."""

PUBLISH = "publish event"
"""The activity that sends a produced event."""

FIRST_SEMANTICS: Final = 1
"""The semantics number of a pin that says none."""


class PinnedRecord(TypedDict):
    text: str
    name: str
    sha256: NotRequired[str]
    """Missing where the text was not checked."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """The text of a definition, where it was read from, and the text's SHA-256."""

    text: str
    name: str
    sha256: str = ""

    def to_json(self) -> PinnedRecord:
        return {"text": self.text, "name": self.name, "sha256": self.sha256}

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> "Pinned":
        return Pinned(record["text"], record["name"], record.get("sha256", ""))


class PinRecord(TypedDict, total=False):
    """A Pin as it is stored: what says nothing is missing."""

    definitions: list[PinnedRecord]
    version: str
    events: list[dict[str, JSON]]
    inbox: dict[str, Any]
    progress: dict[str, Any]
    numbers: dict[str, int]
    limit: dict[str, Any]
    call: CallRecord
    thread: dict[str, str]
    hops: int
    untaken: bool
    inherited: bool
    outlasting: dict[str, AwaitedRecord]
    mailboxes: list[str]
    place: str
    above: list[str]
    first: str
    semantics: int
    """That of the definitions; missing where it is the first."""
    format: int
    """Missing in records of the first format."""


_KNOWN: Final = frozenset(PinRecord.__annotations__)
"""The fields of a pin."""


@dataclass(slots=True)
class Pin:
    """The record that a run carries from its start on, and from one execution to the next."""

    definitions: list[Pinned] = field(default_factory=list)
    version: str | None = None
    events: list[dict[str, JSON]] = field(default_factory=list)
    """Records of events that were sent with the start."""
    inbox: dict[str, Any] = field(default_factory=dict)
    """What came before a `continueAs`: see `runtime.inbox.InboxRecord`."""
    progress: dict[str, Any] | None = None
    """Where a continued run goes on: see `runtime.progress.ProgressRecord`."""
    numbers: dict[str, int] = field(default_factory=dict)
    """How often ids were given in the executions before this one."""
    limit: ContinueTimeout | None = None
    """What a `continueAs` sets in place of the workflow's own timeout."""
    call: CallRecord | None = None
    """The call that this run consists in: one that was invoked `async`, or one that is long-running."""
    thread: Mapping[str, str] = field(default_factory=dict)
    """The variables that a sub-workflow shares with its caller: by their keys, the instances that made them."""
    hops: int = 0
    """How many instances stand before this one in a chain that events have started."""
    untaken: bool = False
    """Whether the log has said that no sink takes an event of this run."""
    inherited: bool = False
    """Whether a run of ours has begun this one as a part of itself, and not a client, an event or a schedule."""
    outlasting: Mapping[str, AwaitedRecord] = field(default_factory=dict)
    """The children that earlier executions began and this one waits for, by the ids of their calls."""
    mailboxes: Sequence[str] = ()
    """The mailboxes in which earlier executions have subscribed, by their ids: the run leaves them when it ends."""
    place: str | None = None
    """The id of what has given the run a place, or lets it wait for one: see `place_records.py`."""
    above: Sequence[str] = ()
    """Those of the instances above this one that wait for it."""
    first: str | None = None
    """The execution in which the run began, if that is not this one. The keys of local calls name it: a workflow task
    that was lost may be made up for in another execution."""
    semantics: int = field(default_factory=lambda: SEMANTICS)
    """The semantics number of the run: that of the client, or of the worker, that it has its definitions from."""
    format: int = FIRST_FORMAT
    """The format of this pin, and of all that it holds."""
    others: Mapping[str, JSON] = field(default_factory=dict)
    """Fields that this release does not know. They are facts about the run: every execution carries them on."""
    resolved_size: int = 0
    """The size of what this execution has from a worker: its history has it, and no other execution."""

    def to_json(self) -> PinRecord:
        """Return the pin as JSON, without what says nothing."""
        record = {
            **self.others,
            "definitions": [one.to_json() for one in self.definitions],
            "version": self.version,
            "events": self.events,
            "inbox": self.inbox,
            "progress": self.progress,
            "numbers": dict(self.numbers),
            "limit": None if self.limit is None else self.limit.to_json(),
            "call": self.call,
            "thread": dict(self.thread),
            "hops": self.hops or None,
            "untaken": self.untaken or None,
            "inherited": self.inherited or None,
            "outlasting": dict(self.outlasting),
            "mailboxes": list(self.mailboxes),
            "place": self.place,
            "above": list(self.above),
            "first": self.first,
            "semantics": self.semantics if self.definitions and self.semantics != FIRST_SEMANTICS else None,
            "format": None if self.format == FIRST_FORMAT else self.format,
        }
        return cast("PinRecord", {key: value for key, value in record.items() if value not in (None, [], {})})

    def add_resolved(self, found: "Pin") -> None:
        """Take what a worker has *found* for the workflow type: the definitions, and what goes with them."""
        self.definitions, self.semantics, self.format = found.definitions, found.semantics, found.format
        self.others = {**self.others, **found.others}
        self.resolved_size = json_size(found.to_json())

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> "Pin":
        """Return the pin that `to_json` wrote, in this release or another.

        Raises NewerRecord for one that only a newer release can go on with, and ValueError for one that none writes.
        """
        check_type(record, PinRecord, "the run's record")
        number = check_format(record, "a run's record")
        progress = record.get("progress", {})
        check_format(progress, "a run's progress")
        check_type(progress, ProgressRecord, "the run's progress")
        if "limit" in record:
            check_type(record["limit"], ContinueTimeout, "the run's limit")
        for event in record.get("events", ()):
            CloudEvent.from_record(event)
        semantics = record.get("semantics", FIRST_SEMANTICS)
        check_number("the semantics of a run", semantics, SEMANTICS)
        return Pin(
            definitions=[Pinned.from_json(one) for one in record.get("definitions", ())],
            version=record.get("version"),
            events=list(record.get("events", ())),
            inbox=dict(record.get("inbox", {})),
            progress=record.get("progress"),
            numbers=dict(record.get("numbers", {})),
            limit=ContinueTimeout.from_json(record["limit"]) if "limit" in record else None,
            call=record.get("call"),
            thread=dict(record.get("thread", {})),
            hops=record.get("hops", 0),
            untaken=record.get("untaken", False),
            inherited=record.get("inherited", False),
            outlasting=dict(record.get("outlasting", {})),
            mailboxes=list(record.get("mailboxes", ())),
            place=record.get("place"),
            above=list(record.get("above", ())),
            first=record.get("first"),
            semantics=semantics,
            format=number,
            others={key: value for key, value in record.items() if key not in _KNOWN},
        )


def pinned(workflows: Sequence[Definition]) -> list[Pinned]:
    return [Pinned(workflow.source.text, workflow.source.name, workflow.digest) for workflow in workflows]


@of_definitions
def catalogue_of(definitions: tuple[Pinned, ...]) -> Catalogue:
    """Return the definitions that a run carries.

    One with a digest was checked when the run was started; one without came from another client, unchecked.
    """
    return Catalogue(
        load_pinned(one.text, name=one.name) if one.sha256 else load(one.text, name=one.name) for one in definitions
    )


@of_definitions
def program_of(
    definitions: tuple[Pinned, ...], workflow_id: str, version: str | None, semantics: int
) -> tuple[Definition, Program]:
    """Return the definition *workflow_id* among those that a run carries, and its program."""
    definition = catalogue_of(definitions).find(workflow_id, version)
    return definition, definition.language.prepare(definition, semantics)
