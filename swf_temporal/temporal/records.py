"""The pin: the record that a run carries beside the user's own data, and the definitions in it.

It is the second argument of a workflow, if our client started it: the texts of the definitions that the run may need,
so that a changed file never changes a running instance. A run that was started with only its data looks up its
definition once, by a local activity, and carries the same record from then on.

A pin also has the number of the semantics under which the run began (`runtime/host.py`), so that it keeps them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, TypeVar

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import NewerRecord, PayloadUnavailable
from swf_temporal.base.records import FIRST_FORMAT, MalformedRecord, Record, check_number
from swf_temporal.base.strict_json import read_json, read_written
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load, load_pinned, of_definitions
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import SEMANTICS, ContinueTimeout
from swf_temporal.runtime.inbox import InboxRecord
from swf_temporal.runtime.progress import ProgressRecord
from swf_temporal.runtime.run import Program
from swf_temporal.temporal.call_records import CallRecord
from swf_temporal.temporal.endings import AwaitedRecord

WRONG_INPUT: Final = "WrongInput"
"""The error type of a workflow whose input is wrong."""

R = TypeVar("R", bound=Record)


class RecordInput(Generic[R]):
    """The start record of a workflow, or what is wrong with it, since `__init__` must not fail."""

    def __init__(self, written: Any, kind: type[R]) -> None:
        """Read *written* as a record of a class whose fields all have defaults."""
        self.record = kind()
        self._wrong: MalformedRecord | NewerRecord | None = None
        try:
            self.record = kind.from_json(written)
        except (MalformedRecord, NewerRecord) as error:
            self._wrong = error

    def check(self) -> None:
        """Raise NewerRecord, or the error with which the workflow fails, if the record was wrong."""
        if isinstance(self._wrong, NewerRecord):
            raise self._wrong
        if self._wrong is not None:
            raise wrong_input(str(self._wrong))


def wrong_input(reason: str) -> ApplicationError:
    """Return the error with which a workflow fails whose input is wrong."""
    return ApplicationError(f"the input of the workflow is wrong: {reason}", type=WRONG_INPUT, non_retryable=True)


RESOLVE = "resolve definitions"
"""The local activity that finds the definition of a workflow type."""

UNKNOWN = "unknown"
"""The field of its answer that says why there is no definition."""

LIMITS = "look limits up"
"""The local activity that returns the limits of instances that run without waiting."""

ENVIRONMENT = "look environment up"
"""The local activity that returns the variables of the environment that definitions may see."""

LOOK_UP = "look definitions up"
"""The local activity that returns which definitions of a run its worker serves."""

EVALUATE = "evaluate"
"""The local activity for an evaluation whose cost is not bounded by its text and data."""

PUBLISH = "publish event"
"""The activity that sends a produced event."""

FIRST_SEMANTICS: Final = 1
"""The semantics number of a pin without one, also of a pin without definitions, which bring the number."""

CARRIED = "what an instance carried"
"""The activity that determines what a restarted instance carries, if the worker does not trust the client's word."""

NOT_CARRIED = "NotCarried"
"""The type of its failure if the instance cannot be restarted so."""


@dataclass(frozen=True, slots=True)
class Wanted(Record):
    """The point from which an operator restarts an instance."""

    CAMEL_CASE: ClassVar[bool] = True

    latest: str
    """The latest of its executions at that time."""
    state: str | None = None
    """None to restart where it failed."""
    action: str | None = None
    patch: JSON = None
    """The JSON merge patch that changes its data; None for none."""
    drops_events: bool = False
    """True if it does not get the events received since then again."""


@dataclass(frozen=True, slots=True)
class Pinned(Record):
    """The text of a definition, where it was read from, and the text's SHA-256."""

    text: str
    name: str
    sha256: str = ""
    """Empty if the text was not checked."""


@dataclass(slots=True)
class StartRecord(Record):
    """The start of a run, beside its input. Later executions have this in their progress."""

    events: list[CloudEvent] = field(default_factory=list)
    """The events that were sent with the start."""
    inbox: InboxRecord | None = None
    """The events from before a `continueAs`."""
    numbers: dict[str, int] = field(default_factory=dict)
    """The id counters of earlier executions."""
    limit: ContinueTimeout | None = None
    """The timeout that a `continueAs` sets in place of the workflow's own."""


@dataclass(slots=True)
class Lineage(Record):
    """The origin of an instance, which distinguishes its calls, sub-workflows, variables and events."""

    thread: dict[str, str] = field(default_factory=dict)
    """The variables that a sub-workflow shares with its caller: the instances that created them, by their keys."""
    hops: int = 0
    """The number of instances before this one in a chain started by events."""
    is_part: bool = False
    """True if a run of ours started this one as a part of itself, and not a client, an event or a schedule."""
    first: str | None = None
    """The execution that idempotency keys name, if not this one: the first of the run, or the parent's.
    A call that is repeated, in any execution, keeps its key."""
    origin: str | None = None
    """The first run of the instance, if that is not the first of this chain: see `origin_of`."""
    variables: dict[str, JSON] = field(default_factory=dict)
    """The variables of the iterations of its callers, if their language shares them."""


@dataclass(slots=True)
class BegunAgain(Record):
    """The point from which an operator restarted an instance: the new execution has this record."""

    run: str
    """The execution that contains that point."""
    entries: int
    """The number of that execution's trace entries that belong to the instance: what followed is done again."""
    wanted: Wanted
    results: dict[str, JSON] = field(default_factory=dict)
    """The results of calls and sub-workflows in progress there that have completed since, by their ids."""
    children: dict[str, "Pin"] = field(default_factory=dict)
    """The pins with which failed sub-workflows are resumed, by the ids of their calls: others start anew."""
    has_begun: bool = False
    """True if an execution before this one has already resumed the instance."""


@dataclass(slots=True)
class Pin(Record):
    """The record that a run carries from its start, and from one execution to the next."""

    WHAT: ClassVar[str] = "a run's record"
    UNKNOWN: ClassVar[str] = "others"

    definitions: list[Pinned] = field(default_factory=list)
    version: str | None = None
    start: StartRecord = field(default_factory=StartRecord)
    progress: dict[str, Any] | None = None
    """The progress of a continued run: a `ProgressRecord` as JSON, in which each value occurs once."""
    call: CallRecord | None = None
    """The only call of this run: one that was invoked `async`, or one that is long-running."""
    lineage: Lineage = field(default_factory=Lineage)
    outlasting: dict[str, AwaitedRecord] = field(default_factory=dict)
    """The children that earlier executions started and this one waits for, by the ids of their calls."""
    parts: dict[str, JSON] = field(default_factory=dict)
    """The records that parts of the instance carry over, each under its own key: see `instance_part.py`."""
    again: BegunAgain | None = None
    semantics: int = FIRST_SEMANTICS
    """The semantics number of the run: that of the client or worker that supplied its definitions."""
    format: int = FIRST_FORMAT
    """The format of this pin and its contents."""
    others: dict[str, JSON] = field(default_factory=dict)
    """Fields that this release does not know. They are facts about the run: every execution carries them over."""

    def add_resolved(self, found: "Pin") -> None:
        """Add what a worker has *found* for the workflow type: the definitions, and the fields that belong to them."""
        self.definitions, self.semantics, self.format = found.definitions, found.semantics, found.format
        self.others = {**self.others, **found.others}

    def check(self) -> None:
        """Raise NewerRecord for semantics that this release does not know, and ValueError for an invalid progress."""
        check_number("the semantics of a run", self.semantics, SEMANTICS)
        try:
            ProgressRecord.from_json(self.progress or {})
        except MalformedRecord as error:
            raise error.inside("progress") from None


def pin_of(definitions: Sequence[Pinned], version: str | None = None) -> Pin:
    """Return the pin of a run that begins now with these *definitions*, under the current semantics."""
    return Pin(list(definitions), version, semantics=SEMANTICS)


def pinned(workflows: Sequence[Definition]) -> list[Pinned]:
    return [Pinned(workflow.source.text, workflow.source.name, workflow.digest) for workflow in workflows]


@of_definitions
def catalogue_of(definitions: tuple[Pinned, ...]) -> Catalogue:
    """Return the definitions that a run carries.

    One with a digest was checked when the run was started; one without was sent by another client, unchecked.
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
    """Return the id of the first run of this instance, also if it was restarted in another."""
    return pin.lineage.origin or workflow.info().first_execution_run_id


UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RuntimeError)
"""Errors that are raised if a payload is not JSON, is nested too deeply, or has another form."""

_JSON = b"json/plain"


NOT_A_RECORD: Final = "what follows the input of a workflow is a record that its client makes"
"""The beginning of the message about a record that cannot be read."""


def read_input(
    args: Sequence[RawValue], *, is_child: bool
) -> tuple[JSON, Pin, str | NewerRecord | PayloadUnavailable | None]:
    """Return a workflow's data and pin, or what is wrong with them."""
    try:
        data = value_of(args[0], read_written if is_child else read_json) if args else {}
    except UNREADABLE as error:
        return {}, Pin(), f"the input of a workflow is one JSON value: {error}"
    except PayloadUnavailable as error:
        return {}, Pin(), error
    try:
        pin = Pin.from_json(value_of(args[1], read_written)) if len(args) > 1 else Pin()
    except UNREADABLE as error:
        return {}, Pin(), f"{NOT_A_RECORD}: {error}"
    except (NewerRecord, PayloadUnavailable) as error:
        return {}, Pin(), error
    return {} if data is None else data, pin, None


def value_of(raw: RawValue, read: Callable[[bytes], Any] = read_json) -> Any:
    """Return the JSON in *raw*, which anyone may have written. Raises one of `UNREADABLE`."""
    if raw.payload.metadata.get("encoding") == _JSON:
        return read(raw.payload.data)
    value: JSON | bytes = workflow.payload_converter().from_payload(raw.payload)
    if isinstance(value, bytes):
        raise ValueError("these are bytes")  # noqa: TRY004 - data, not code
    return value
