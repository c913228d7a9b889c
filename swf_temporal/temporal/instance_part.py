"""Parts of an instance beside its interpretation: its place, its log, its search attributes, …

Each *part* has one file, which defines its hooks for the phases of an execution, and owns the record that it carries
over. The workflow has a tuple of parts (`instance_parts.py`), and calls them in that order.

Workers with different configurations may run an instance one after the other. So a setting that makes a difference is
recorded in the history by a marker: a replay follows only the marker. Without the setting there is no marker, and the
history is what it would be without these features.
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
    """The end of an execution."""

    how: How
    output: RawValue | None = None
    """The output, if it is completed."""
    failure: FailureError | None = None
    """The failure, if it has failed."""
    to: ContinuedAs | None = None
    """The target of its `continueAs`, if it ends with one."""


@dataclass(slots=True)
class Instance:
    """The facts that parts have about their execution."""

    pin: Pin
    is_continued: bool
    """True if it continues what another execution began."""
    is_long: Callable[[], bool]
    """Returns whether the execution is long enough to continue as new."""
    info: workflow.Info = field(default_factory=workflow.info)
    definition: Definition | None = None
    """The definition that it runs, once that is known."""
    host: "TemporalHost | None" = None
    """Its host, once the definition is known."""
    run: Run | None = None
    """The latest of its runs."""

    @property
    def is_call(self) -> bool:
        """Whether it makes one call instead of running a definition."""
        return self.pin.call is not None


class Part:
    """A part of an instance: each hook does nothing unless a subclass overrides it."""

    KEY: ClassVar[str] = ""
    """The key of its record in what is carried over; empty for a part that carries nothing."""
    SIGNALS: ClassVar[frozenset[str]] = frozenset()
    """The names of the signals that are for this part and carry no events."""

    def __init__(self, instance: Instance) -> None:
        """Initialize as a part of *instance*, of which only the pin is known yet: what it carries is not admitted."""
        self.instance = instance

    def carried(self, kind: type[R]) -> R:
        """Return the record of the type *kind* carried over by the previous execution. Raises MalformedRecord."""
        return kind.from_json(self.instance.pin.parts.get(self.KEY, {}))

    @property
    def notes(self) -> bool:
        """Whether it observes trace entries, once the definition is known."""
        return type(self).note is not Part.note

    async def admit(self) -> None:
        """Act before the definition is looked up. Raises WorkflowFault if the run must not begin."""

    def resume(self) -> None:
        """Read what it carries from the previous execution, if anything. Raises MalformedRecord."""

    def begin(self, definition: Definition, host: "TemporalHost") -> None:
        """Act when the definition, which runs on *host*, is known."""

    def attend(self, run: Run) -> None:
        """Act when a run begins: an execution whose run was suspended and resumed has another one."""

    async def prepare(self, definition: Definition, run: Run) -> None:
        """Act before the first step of a run. Raises WorkflowFault if it must not run."""

    def note(self, entry: TraceEntry) -> None:
        """Observe a trace entry."""

    def kept(self, *, is_new: bool) -> None:
        """Act when an event is kept because no state waits for it; one that is not new is a duplicate."""

    def signal(self, raw: RawValue | None) -> None:
        """Handle one of its signals."""

    def status(self) -> dict[str, Any]:
        """Return its fields in the status of the instance."""
        return {}

    def suspended(self, *, is_over: bool) -> None:
        """Act when a run was suspended or, if it *is_over*, has ended."""

    def refuses_to_leave(self) -> bool:
        """Return whether a suspended run resumes in this execution instead of continuing as new."""
        return False

    def stays(self, size: int, kept: int) -> None:
        """Act when the execution stays since its record is too large (*size* bytes); *kept* events are in the inbox."""

    def close(self) -> None:
        """Accept nothing any more: the instance is about to continue as another definition."""

    async def settle(self) -> None:
        """Finish work in progress: the execution is about to end."""

    async def hand_over(self, run: Run, to: ContinuedAs) -> None:
        """Act before the instance continues as another definition."""

    async def leave(self) -> None:
        """Act when the instance has reached its end, before that is reported to the engine."""

    async def end(self, ending: Ending) -> None:
        """Act on how the execution ends, as its last step."""

    def record(self, to: ContinuedAs | None = None) -> Record | None:  # noqa: ARG002 - as others need it
        """Return the record to carry over, to *to* if it continues as another definition; None for nothing."""
        return None

    def for_child(self) -> Record | None:
        """Return the initial record of the same part in a sub-workflow that is waited for; None for nothing."""
        return None


_NAME: Final = "swf_operator_options"


@dataclass(frozen=True, slots=True)
class OperatorOptions:
    ordered: bool = False
    """Whether events of an instance are delivered one after the other."""
    lifecycle: frozenset[str] = frozenset()
    """The kinds of lifecycle events that instances produce: `workflow`, `task`, `status`."""
    search_attributes: bool = False
    """Whether instances set search attributes."""
    only_known: bool = False
    """Whether a run may only bring definitions that its worker serves."""
    answers_all: bool = False
    """Whether the worker answers all functions, including those that name an activity of another worker."""
    parts: tuple[type["Part"], ...] | None = None
    """The parts of an instance; None is all of them."""


class OperatorOptionsInterceptor(Interceptor):
    """Passes the settings of a worker to its workflow code."""

    def __init__(self, operator_options: OperatorOptions) -> None:
        self._options = operator_options

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - the SDK's name
    ) -> type[WorkflowInboundInterceptor] | None:
        """Pass the settings on; nothing is intercepted."""
        operator_options = self._options
        input.unsafe_extern_functions[_NAME] = lambda: operator_options
        return None


def operator_options() -> OperatorOptions:
    known: Any = workflow.extern_functions().get(_NAME)
    return OperatorOptions() if known is None else known()
