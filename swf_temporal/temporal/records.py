"""The pin: the record that a run carries beside the user's own data, and the definitions in it.

It is the second argument of a workflow, if our client started it: the texts of the definitions that the run may need,
so that a changed file never changes a running instance. A run that was started with nothing but its data looks its
definition up once, by a local activity, and carries the same record from then on.

A pin also has the number of the semantics under which the run began (`runtime/semantics.py`), so that it keeps them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NotRequired, TypedDict

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.definition_cache import of_definitions
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.loading import load, load_pinned
from swf_temporal.records import Record
from swf_temporal.runtime.host import ContinueTimeout
from swf_temporal.runtime.progress import ProgressRecord
from swf_temporal.runtime.run import Program
from swf_temporal.runtime.semantics import SEMANTICS
from swf_temporal.temporal.call_records import CallRecord
from swf_temporal.temporal.endings import AwaitedRecord
from swf_temporal.temporal.formats import FIRST_FORMAT, check_format, check_number
from swf_temporal.temporal.record_types import check_type

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


CARRIED = "what an instance carried"
"""The activity that finds out what an instance goes on with, where a worker does not take a client's word for it."""

NOT_CARRIED = "NotCarried"
"""The type of its failure where the instance cannot go on so."""


class Wanted(TypedDict):
    """From where a person lets an instance go on."""

    latest: str
    """The latest of its executions by then."""
    state: str | None
    """None where it goes on from where it failed."""
    action: str | None
    patch: JSON
    """The JSON merge patch that changes its data; None for none."""
    dropsEvents: bool
    """Whether it is not given the events again that have come since."""


class BegunAgain(TypedDict):
    """Where an instance was when a person let it go on: it does so in another execution, which has this."""

    run: str
    """The execution in which it was there."""
    entries: int
    """How many entries of that execution's trace belong to the instance: what came later is done again."""
    wanted: Wanted


class PinnedRecord(TypedDict):
    text: str
    name: str
    sha256: NotRequired[str]
    """Missing where the text was not checked."""


@dataclass(frozen=True, slots=True)
class Pinned(Record):
    """The text of a definition, where it was read from, and the text's SHA-256."""

    text: str
    name: str
    sha256: str = ""

    def to_json(self) -> PinnedRecord:  # type: ignore[override]  # which is what messages to mailboxes have
        return {"text": self.text, "name": self.name, "sha256": self.sha256}


@dataclass(slots=True)
class Pin(Record):
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
    thread: dict[str, str] = field(default_factory=dict)
    """The variables that a sub-workflow shares with its caller: by their keys, the instances that made them."""
    hops: int = 0
    """How many instances stand before this one in a chain that events have started."""
    untaken: bool = False
    """Whether the log has said that no sink takes an event of this run."""
    inherited: bool = False
    """Whether a run of ours has begun this one as a part of itself, and not a client, an event or a schedule."""
    outlasting: dict[str, AwaitedRecord] = field(default_factory=dict)
    """The children that earlier executions began and this one waits for, by the ids of their calls."""
    parts: dict[str, JSON] = field(default_factory=dict)
    """What parts of the instance carry over, each under its own key: see `instance_part.py`."""
    first: str | None = None
    """The execution that the keys of calls name, if it is not this one: that in which the run began, or its parent's.
    A call that is made once more, in whichever execution, has the key that it had."""
    origin: str | None = None
    """The first run of the instance, where a person has let it go on in another: see `origin_of`."""
    again: BegunAgain | None = None
    """Where it was before, in the execution with which it goes on."""
    results: dict[str, JSON] = field(default_factory=dict)
    """What calls and sub-workflows yielded that were under way there and have completed since, by their ids."""
    children: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The pins with which sub-workflows go on that have failed, by the ids of their calls: others begin anew."""
    semantics: int = field(default_factory=lambda: SEMANTICS)
    """The semantics number of the run: that of the client, or of the worker, that it has its definitions from."""
    format: int = FIRST_FORMAT
    """The format of this pin, and of all that it holds."""
    others: dict[str, JSON] = field(default_factory=dict)
    """Fields that this release does not know. They are facts about the run: every execution carries them on."""

    def to_json(self) -> dict[str, Any]:
        """Return the pin as JSON, without what says nothing."""
        written = Record.to_json(self)
        if not self.definitions or self.semantics == FIRST_SEMANTICS:
            written.pop("semantics", None)
        others = written.pop("others", None)
        return {**others, **written} if others else written

    def add_resolved(self, found: "Pin") -> None:
        """Take what a worker has *found* for the workflow type: the definitions, and what goes with them."""
        self.definitions, self.semantics, self.format = found.definitions, found.semantics, found.format
        self.others = {**self.others, **found.others}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> "Pin":
        """Return the pin that `to_json` wrote, in this release or another.

        Raises NewerRecord for one that only a newer release can go on with, and ValueError for one that none writes.
        """
        check_type(written, Pin, "the run's record")
        check_format(written, "a run's record")
        progress = written.get("progress") or {}
        check_format(progress, "a run's progress")
        check_type(progress, ProgressRecord, "the run's progress")
        for event in written.get("events", ()):
            CloudEvent.from_record(event)
        check_number("the semantics of a run", written.get("semantics", FIRST_SEMANTICS), SEMANTICS)
        others = {key: value for key, value in written.items() if key not in Pin.__dataclass_fields__}
        return super(Pin, cls).from_json({"semantics": FIRST_SEMANTICS, **written, "others": others})


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
