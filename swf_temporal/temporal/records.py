"""The pin: the record that a run carries beside the user's own data, and the definitions in it.

It is the second argument of a workflow, if our client started it: the texts of the definitions that the run may need,
so that a changed file never changes a running instance. A run that was started with nothing but its data looks its
definition up once, by a local activity, and carries the same record from then on.

A pin also has the number of the semantics under which the run began (`runtime/host.py`), so that it keeps them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from temporalio import workflow

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.records import FIRST_FORMAT, MalformedRecord, Record, check_number
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.definition_cache import of_definitions
from swf_temporal.languages.loading import load, load_pinned
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import SEMANTICS, ContinueTimeout
from swf_temporal.runtime.inbox import InboxRecord
from swf_temporal.runtime.progress import ProgressRecord
from swf_temporal.runtime.run import Program
from swf_temporal.temporal.call_records import CallRecord
from swf_temporal.temporal.endings import AwaitedRecord

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
"""The semantics number of a pin that says none: one without definitions, too, as these bring it."""

CARRIED = "what an instance carried"
"""The activity that finds out what an instance goes on with, where a worker does not take a client's word for it."""

NOT_CARRIED = "NotCarried"
"""The type of its failure where the instance cannot go on so."""


@dataclass(frozen=True, slots=True)
class Wanted(Record):
    """From where a person lets an instance go on."""

    CAMEL_CASE: ClassVar[bool] = True

    latest: str
    """The latest of its executions by then."""
    state: str | None = None
    """None where it goes on from where it failed."""
    action: str | None = None
    patch: JSON = None
    """The JSON merge patch that changes its data; None for none."""
    drops_events: bool = False
    """Whether it is not given the events again that have come since."""


@dataclass(frozen=True, slots=True)
class Pinned(Record):
    """The text of a definition, where it was read from, and the text's SHA-256."""

    text: str
    name: str
    sha256: str = ""
    """Empty where the text was not checked."""


@dataclass(slots=True)
class StartRecord(Record):
    """What a run begins with, beside its input. Later executions have it in their progress."""

    events: list[CloudEvent] = field(default_factory=list)
    """Those that were sent with the start."""
    inbox: InboxRecord | None = None
    """What came before a `continueAs`."""
    numbers: dict[str, int] = field(default_factory=dict)
    """How often ids were given in the executions before this one."""
    limit: ContinueTimeout | None = None
    """What a `continueAs` sets in place of the workflow's own timeout."""


@dataclass(slots=True)
class Lineage(Record):
    """What an instance comes from: by this, its calls, sub-workflows, variables and events are told apart."""

    thread: dict[str, str] = field(default_factory=dict)
    """The variables that a sub-workflow shares with its caller: by their keys, the instances that made them."""
    hops: int = 0
    """How many instances stand before this one in a chain that events have started."""
    is_part: bool = False
    """Whether a run of ours has begun this one as a part of itself, and not a client, an event or a schedule."""
    first: str | None = None
    """The execution that the keys of calls name, if it is not this one: that in which the run began, or its parent's.
    A call that is made once more, in whichever execution, has the key that it had."""
    origin: str | None = None
    """The first run of the instance, if that is not the first of this chain: see `origin_of`."""


@dataclass(slots=True)
class BegunAgain(Record):
    """Where an instance was when a person let it go on: it does so in another execution, which has this."""

    run: str
    """The execution in which it was there."""
    entries: int
    """How many entries of that execution's trace belong to the instance: what came later is done again."""
    wanted: Wanted
    results: dict[str, JSON] = field(default_factory=dict)
    """What calls and sub-workflows yielded that were under way there and have completed since, by their ids."""
    children: dict[str, "Pin"] = field(default_factory=dict)
    """The pins with which sub-workflows go on that have failed, by the ids of their calls: others begin anew."""
    has_begun: bool = False
    """Whether the instance has gone on: an execution before this one has done so."""


@dataclass(slots=True)
class Pin(Record):
    """The record that a run carries from its start on, and from one execution to the next."""

    WHAT: ClassVar[str] = "a run's record"
    UNKNOWN: ClassVar[str] = "others"

    definitions: list[Pinned] = field(default_factory=list)
    version: str | None = None
    start: StartRecord = field(default_factory=StartRecord)
    progress: dict[str, Any] | None = None
    """Where a continued run goes on: a `ProgressRecord` as JSON, in which each value stands once."""
    call: CallRecord | None = None
    """The call that this run consists in: one that was invoked `async`, or one that is long-running."""
    lineage: Lineage = field(default_factory=Lineage)
    outlasting: dict[str, AwaitedRecord] = field(default_factory=dict)
    """The children that earlier executions began and this one waits for, by the ids of their calls."""
    parts: dict[str, JSON] = field(default_factory=dict)
    """What parts of the instance carry over, each under its own key: see `instance_part.py`."""
    again: BegunAgain | None = None
    semantics: int = FIRST_SEMANTICS
    """The semantics number of the run: that of the client, or of the worker, that it has its definitions from."""
    format: int = FIRST_FORMAT
    """The format of this pin, and of all that it holds."""
    others: dict[str, JSON] = field(default_factory=dict)
    """Fields that this release does not know. They are facts about the run: every execution carries them on."""

    def add_resolved(self, found: "Pin") -> None:
        """Take what a worker has *found* for the workflow type: the definitions, and what goes with them."""
        self.definitions, self.semantics, self.format = found.definitions, found.semantics, found.format
        self.others = {**self.others, **found.others}

    def check(self) -> None:
        """Raise NewerRecord for semantics that this release does not know, and ValueError for no progress of a run."""
        check_number("the semantics of a run", self.semantics, SEMANTICS)
        try:
            ProgressRecord.from_json(self.progress or {})
        except MalformedRecord as error:
            raise error.inside("progress") from None


def pin_of(definitions: Sequence[Pinned], version: str | None = None) -> Pin:
    """Return the pin of a run that begins now with these *definitions*, by the meaning that they have now."""
    return Pin(list(definitions), version, semantics=SEMANTICS)


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


def origin_of(pin: Pin) -> str:
    """Return the id of the first run of the instance that asks, also where it goes on in another."""
    return pin.lineage.origin or workflow.info().first_execution_run_id
