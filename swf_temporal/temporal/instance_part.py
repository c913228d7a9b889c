"""What belongs to an instance beside its interpretation: its place, its log, its search attributes, …

Each such *part* has one file, which says what it does at each moment of an execution, and owns what is carried over of
it. The workflow knows a tuple of parts (`instance_parts.py`), and calls them in its order.

Workers of different configurations may run one instance after the other. So what is asked for is written into the
history, by a marker, where it makes a difference: a replay goes by the marker alone. Where nothing is asked for there
is no marker, and the history is what it would be without these settings.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, TypeVar

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import FailureError
from temporalio.worker import Interceptor, WorkflowInboundInterceptor, WorkflowInterceptorClassInput

from swf_temporal.base.records import Record
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import ContinuedAs, TraceEntry
from swf_temporal.runtime.run import Run
from swf_temporal.temporal.records import Pin

if TYPE_CHECKING:
    from swf_temporal.temporal.host import TemporalHost


R = TypeVar("R", bound=Record)
How: TypeAlias = Literal["completed", "failed", "cancelled", "continued"]


@dataclass(slots=True)
class Ending:
    """How an execution ends."""

    how: How
    output: RawValue | None = None
    """Of one that is completed."""
    failure: FailureError | None = None
    """Of one that has failed."""
    to: ContinuedAs | None = None
    """As what it continues, if that is what its definition asks for."""


@dataclass(slots=True)
class Instance:
    """What parts know of the execution that they belong to."""

    pin: Pin
    is_continued: bool
    """Whether it goes on with what another execution began."""
    is_long: Callable[[], bool]
    """Tells whether the execution is long enough to continue as new."""
    info: workflow.Info = field(default_factory=workflow.info)
    definition: Definition | None = None
    """What it runs, once that is known."""
    host: "TemporalHost | None" = None
    """As the definition."""
    run: Run | None = None
    """The latest of its runs."""

    @property
    def is_call(self) -> bool:
        """Whether it makes one call, and runs no definition."""
        return self.pin.call is not None


class Part:
    """A part of an instance: it does nothing at any moment unless its class says otherwise."""

    KEY: ClassVar[str] = ""
    """Under which its record stands in what is carried over; empty for one that carries nothing."""
    SIGNALS: ClassVar[frozenset[str]] = frozenset()
    """The names of the signals that are for it, and no events."""

    def __init__(self, instance: Instance) -> None:
        """Belong to *instance*, of which nothing is known yet but its pin."""
        self.instance = instance

    def carried(self, kind: type[R]) -> R:
        """Return what the execution before has carried over, of which *kind* is the record. Raises MalformedRecord."""
        return kind.from_json(self.instance.pin.parts.get(self.KEY, {}))

    @property
    def notes(self) -> bool:
        """Whether it looks at the entries of the trace, once the definition is known."""
        return type(self).note is not Part.note

    async def admit(self) -> None:
        """Act before the definition is looked at. Raises WorkflowFault for what does not begin."""

    def begin(self, definition: Definition, host: "TemporalHost") -> None:
        """Act when the definition is known, which runs on *host*."""

    def attend(self, run: Run) -> None:
        """Act when a run begins: the execution has another one where it is suspended and goes on."""

    async def prepare(self, definition: Definition, run: Run) -> None:
        """Act before the first step of a run. Raises WorkflowFault for what is not run."""

    def note(self, entry: TraceEntry) -> None:
        """Look at an entry of the trace."""

    def kept(self, *, is_new: bool) -> None:
        """Learn that an event has come that no state waits for; one that is not new came before."""

    def signal(self, raw: RawValue | None) -> None:
        """Take one of its signals."""

    def status(self) -> dict[str, Any]:
        """Return what it adds to the status of the instance."""
        return {}

    def suspended(self, *, is_over: bool) -> None:
        """Act when a run was suspended, or, if it *is_over*, when it has ended."""

    def refuses_to_leave(self) -> bool:
        """Tell whether the execution goes on in place of another one, where it was suspended."""
        return False

    def stays(self, size: int, kept: int) -> None:
        """Learn that the execution goes on since its record has too many bytes, with that many events in the inbox."""

    def close(self) -> None:
        """Take nothing any more: the instance is about to go on as another definition."""

    async def settle(self) -> None:
        """Finish what is under way: the execution is about to end."""

    async def hand_over(self, run: Run, to: ContinuedAs) -> None:
        """Act before the instance goes on as another definition."""

    async def leave(self) -> None:
        """Act when the instance has come to its end, before the engine is told."""

    async def end(self, ending: Ending) -> None:
        """Act when the execution ends so: the last that it does."""

    def record(self, to: ContinuedAs | None = None) -> Record | None:  # noqa: ARG002 - as others need it
        """Return what is carried over, also where the instance goes on as another definition; None for nothing."""
        return None

    def for_child(self) -> Record | None:
        """Return the record with which the same part of a sub-workflow begins that is waited for; None for nothing."""
        return None


_NAME: Final = "swf_operator_options"


@dataclass(frozen=True, slots=True)
class OperatorOptions:
    ordered: bool = False
    """Whether events of an instance are delivered one after the other."""
    lifecycle: frozenset[str] = frozenset()
    """Which lifecycle events instances produce: `workflow`, `task`, `status`."""
    search_attributes: bool = False
    """Whether instances set search attributes."""
    only_known: bool = False
    """Whether a run may bring no definition along but those that its worker serves."""
    answers_all: bool = False
    """Whether the worker answers all functions, those too that name an activity of another worker."""
    parts: tuple[type["Part"], ...] | None = None
    """What belongs to an instance beside its interpretation; None is all that there is."""


class OperatorOptionsInterceptor(Interceptor):
    """Gives workflow code the settings of its worker."""

    def __init__(self, operator_options: OperatorOptions) -> None:
        self._options = operator_options

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - the SDK's name
    ) -> type[WorkflowInboundInterceptor] | None:
        """Hand the settings over; nothing is intercepted."""
        operator_options = self._options
        input.unsafe_extern_functions[_NAME] = lambda: operator_options
        return None


def operator_options() -> OperatorOptions:
    known: Any = workflow.extern_functions().get(_NAME)
    return OperatorOptions() if known is None else known()
