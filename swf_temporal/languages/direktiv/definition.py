"""The `Definition` interface of Direktiv definitions, for hosts and commands."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError, WorkflowFault
from swf_temporal.drawing.outline import Outline, WorkflowRef
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.lane import attributes_match, instance_data
from swf_temporal.languages.direktiv.model import (
    GenerateEventState,
    ScheduledStart,
    SubflowFunction,
    Workflow,
    actions_of,
    kinds_awaited,
)
from swf_temporal.languages.direktiv.names import NAMELESS, called, candidates, name_at, split_name
from swf_temporal.languages.direktiv.starts import compiled, consumed_events, event_start, inputs_of_starts
from swf_temporal.languages.port import Definition, EventUse, FunctionUse, Language, Words
from swf_temporal.languages.triggers import ConsumedEvent, EventStart
from swf_temporal.text.origin import Object, Source, written
from swf_temporal.text.parsing import pointers_in

if TYPE_CHECKING:
    from swf_temporal.base.calendars.moments import ScheduleSpec

_SLOW_CALL: Final = "give its state a timeout, or call it with async: true, which does not wait for it"


class DirektivDefinition(Definition):
    """A definition whose model is a `Workflow`."""

    def __init__(self, language: Language, workflow: Workflow, root: Object, source: Source) -> None:
        self.language = language
        self.workflow = workflow
        """The model, for this language's own code only."""
        self._root = root
        self.id, self.version = split_name(workflow.id or NAMELESS)
        self.description = workflow.description
        self.source = source
        self.secrets = tuple(
            dict.fromkeys(name for state in workflow.states for action in actions_of(state) for name in action.secrets)
        )
        self.id_position = workflow.where.value("id")

    def __eq__(self, other: object) -> bool:
        """Compare by text."""
        return isinstance(other, DirektivDefinition) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<definition {self.id}>"

    @cached_property
    def functions(self) -> tuple[FunctionUse, ...]:
        """The functions that it defines, except sub-workflows."""
        return tuple(
            FunctionUse(called(one), one.where.value("id"))
            for one in self.workflow.functions
            if not isinstance(one, SubflowFunction)
        )

    @cached_property
    def events(self) -> tuple[EventUse, ...]:
        """The kinds of events that it waits for, generates, and is started by."""
        found = [EventUse(one.type, one.type, starts=True) for one in self.workflow.start_events]
        for state in self.workflow.states:
            found += [EventUse(type_, type_) for type_, *_ in kinds_awaited(state)]
            if isinstance(state, GenerateEventState):
                found.append(EventUse(state.event.type, state.event.type, state.event.source, kind="produced"))
        return tuple(dict.fromkeys(found))

    @cached_property
    def consumed_events(self) -> tuple[ConsumedEvent, ...]:
        """The events that its states wait for; context values from an instance's data are not known here."""
        return consumed_events(self.workflow)

    @cached_property
    def event_start(self) -> EventStart | None:
        """The events that start it. Those of `eventsAnd` are gathered before it begins."""
        return event_start(self.workflow)

    def meant_by(self, reference: WorkflowRef) -> tuple[WorkflowRef, ...]:
        """Return all definitions that *reference* may mean from the location of this one."""
        names, _ = candidates(reference.id, self.id)
        return tuple(WorkflowRef(name, reference.version) for name in names)

    @property
    def has_schedule(self) -> bool:
        return isinstance(self.workflow.start, ScheduledStart)

    def schedule(self) -> "ScheduleSpec":
        """Return its schedule. Raises UsageError if it has none, or an invalid one."""
        if not isinstance(self.workflow.start, ScheduledStart):
            return super().schedule()
        from swf_temporal.base.calendars.moments import InvalidTime  # noqa: PLC0415 - heavy

        try:
            return compiled(self.workflow.start.cron)
        except InvalidTime as error:
            raise UsageError(f"the schedule of {self.id!r} cannot be understood: {error}") from None

    @cached_property
    def pointers(self) -> Mapping[str, str]:
        """The JSON Pointers of its states, by their ids."""
        return pointers_in(self.source.text, "states", "id")

    @cached_property
    def outline(self) -> Outline:
        """Its states, beginning with the one in which instances start."""
        from swf_temporal.languages.direktiv.outline import outline_of  # noqa: PLC0415 - not needed for loading

        return outline_of(self.workflow)

    def with_source(self, source: Source) -> Self:
        """Return the same definition as if it had been read from *source*."""
        return type(self)(self.language, self.workflow, self._root, source)

    def placed_at(self, path: str) -> Self:
        """Return the same definition with the id *path*, unless it sets its own id."""
        if self.workflow.id is not None:
            return self
        path = name_at(path)
        named = self.workflow.model_copy(update={"id": path})
        # The text that a run carries has lost its location, so it must include the id.
        text = written({"id": path, **self._root})
        return type(self)(self.language, named, self._root, Source(text, self.source.name))

    def input_of(self, given: JSON | bytes) -> JSON:
        """Return the data of an instance that is started with *given*; None, for no body, counts as an empty text."""
        return instance_data("" if given is None or given == b"" else given)

    def event_starts(self, events: Iterable[CloudEvent]) -> list[JSON]:
        """Return the inputs of the instances that *events* start, in order."""
        return inputs_of_starts(self.workflow.start, events)

    def has_attribute(self, event: CloudEvent, name: str, wanted: JSON) -> bool:
        """Return True if an attribute matches the value of a filter or a context, where a text is a glob."""
        return attributes_match({name: wanted}, event)

    def cancellation(self, *, by_parent: bool) -> WorkflowFault:
        """Return the error of an instance that was cancelled from outside, or because its parent ended."""
        if by_parent:
            return codes.uncatchable(codes.CANCELLED_BY_PARENT, "cancelled by parent workflow")
        return codes.uncatchable(codes.CANCELLED_BY_API, "cancelled by api request")

    @property
    def words(self) -> Words:
        """The language's words for parts of an instance, for messages."""
        return Words(handler="catch", slow_call=_SLOW_CALL)

    @property
    def is_latest(self) -> bool:
        """Whether it is the one to use when no version is given: the one without a ref is."""
        return self.version is None

    @property
    def shares_events(self) -> bool:
        """True: events that an instance produces reach waiting instances in the same namespace."""
        return True
