"""The `Definition` interface of Serverless Workflow definitions, for hosts and commands."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Self

from swf_temporal.base.calendars.moments import InvalidTime, ScheduleSpec
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, identity
from swf_temporal.base.errors import Position, Problem, Severity, UsageError
from swf_temporal.drawing.outline import Outline
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.languages.including import at_its_origin
from swf_temporal.languages.metadata import attributes_of, concurrency_of, people_of
from swf_temporal.languages.port import Concurrency, Definition, EventUse, FunctionUse, Language, Words
from swf_temporal.languages.serverless_workflow.execution.correlation import value_in
from swf_temporal.languages.serverless_workflow.execution.parameters import functions_of
from swf_temporal.languages.serverless_workflow.expressions import expressions_of
from swf_temporal.languages.serverless_workflow.model.states import EventState, expectations
from swf_temporal.languages.serverless_workflow.model.workflow import Correlation, Event, Workflow
from swf_temporal.languages.serverless_workflow.validation.context import nodes_of
from swf_temporal.languages.serverless_workflow.validation.references import event_references
from swf_temporal.languages.serverless_workflow.validation.schedules import compiled
from swf_temporal.languages.triggers import ConsumedEvent, CorrelationRule, EventStart
from swf_temporal.runtime.host import SEMANTICS
from swf_temporal.text.origin import Source, plain
from swf_temporal.text.parsing import pointers_in

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.execution.program import Program


def starting_events(workflow: Workflow) -> tuple[str, ...]:
    """Return the names of the events for which an instance waits first."""
    return tuple(dict.fromkeys(_references(_first(workflow))))


def consumed_events(workflow: Workflow) -> tuple[ConsumedEvent, ...]:
    """Return the events that states of *workflow* wait for."""
    used = Counter(use.name for use in event_references(nodes_of(workflow)) if use.kind == "consumed")
    elsewhere = used - Counter(_references(_first(workflow)))
    return tuple(_consumed(one, is_awaited=one.name in elsewhere) for one in workflow.events if one.name in used)


def event_start(workflow: Workflow) -> EventStart | None:
    """Return the events that start instances of *workflow*: those of its start state, if that is an event state.

    An instance takes all of its events itself, including the first.
    """
    first = _first(workflow)
    if first is None:
        return None
    names = set(starting_events(workflow))
    events = tuple(one for one in consumed_events(workflow) if one.name in names)
    several = bool(expectations(first)) or not first.exclusive
    return EventStart(events, "all" if several and len(names) > 1 else "any", goes_on=workflow.keep_active)


def _first(workflow: Workflow) -> EventState | None:
    first = next((one for one in workflow.states if one.name == workflow.start_state), None)
    return first if isinstance(first, EventState) else None


def _references(state: EventState | None) -> Sequence[str]:
    return [] if state is None else [ref for entry in state.on_events for ref in entry.event_refs]


def _consumed(event: Event, *, is_awaited: bool) -> ConsumedEvent:
    filters: dict[str, JSON] = {}
    rules = []
    for rule in event.correlation:
        value = rule.context_attribute_value
        is_calculated = value is not None and "${" in identity(value)
        if value is not None and not is_calculated:
            filters[rule.context_attribute_name] = value
        else:
            rules.append(CorrelationRule(rule.context_attribute_name, is_calculated, rule.path))
    # An event that is compared with an instance's data cannot start one: an instance started by hand waits for it.
    is_awaited = is_awaited or any(rule.is_calculated for rule in rules)
    return ConsumedEvent(event.name, event.type, event.source or None, filters, tuple(rules), is_awaited)


def spec_of(workflow: Workflow) -> ScheduleSpec:
    """Return the schedule of *workflow*. Raises UsageError if it has none, or an invalid one."""
    schedule = workflow.start.schedule
    if schedule is None:
        raise UsageError(f"the definition {workflow.id!r} has no schedule", "it is written under start: schedule:")
    try:
        return compiled(schedule)
    except InvalidTime as error:
        raise UsageError(f"the schedule of {workflow.id!r}: {error.message}", error.hint) from None


class ServerlessWorkflowDefinition(Definition):
    """A definition whose model is a `Workflow`."""

    def __init__(self, language: Language, workflow: Workflow, expressions: Expressions | None = None) -> None:
        self.language = language
        self._expressions = expressions
        self.workflow = workflow
        """The model, for this language's own code only."""
        self.id = workflow.id
        self.version = workflow.version
        self.name = workflow.name
        self.description = workflow.description
        self.source = workflow.source
        self.secrets = workflow.secrets
        self.id_position = workflow.where.value("id")

    @property
    def words(self) -> Words:
        """Its version's words for parts of an instance, for messages."""
        version = self.workflow.language_version
        return Words(
            state=version.state_word,
            handler=version.handler,
            slow_call=version.slow_call,
            input_schema="dataInputSchema",
            credentials="name an auth by 'authRef'",
        )

    def __eq__(self, other: object) -> bool:
        """Compare by model, which includes the text."""
        return isinstance(other, ServerlessWorkflowDefinition) and self.workflow == other.workflow

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<definition {self.id} {self.version or ''}>"

    @property
    def language_version(self) -> str:
        """The version of the specification as which it is read."""
        return self.workflow.language_version.name

    @property
    def input_schema(self) -> JSON:
        """The schema of `dataInputSchema`, which a caller may change: it is a copy."""
        declared = self.workflow.data_input_schema
        schema: JSON = None if declared is None else plain(declared.schema_)
        return schema

    @property
    def output_schema(self) -> JSON:
        """The schema of `dataOutputSchema`, a copy like that of the input."""
        declared = self.workflow.data_output_schema
        schema: JSON = None if declared is None else plain(declared.schema_)
        return schema

    @cached_property
    def functions(self) -> tuple[FunctionUse, ...]:
        places = {one.name: one.where.value("operation") for one in self.workflow.functions}
        return tuple(FunctionUse(one, places[one.name]) for one in functions_of(self.workflow))

    @cached_property
    def events(self) -> tuple[EventUse, ...]:
        """The events that it defines; an empty source counts as missing."""
        starting = set(starting_events(self.workflow))
        return tuple(
            EventUse(
                one.name,
                one.type,
                one.source or None,
                one.kind,
                starts=one.name in starting,
                data_schema=plain(one.metadata.get("dataSchema")),
                correlation=tuple(
                    CorrelationRule(rule.context_attribute_name, path=rule.path, value=rule.context_attribute_value)
                    for rule in one.correlation
                ),
                **people_of(plain(one.metadata)),
            )
            for one in self.workflow.events
        )

    @cached_property
    def consumed_events(self) -> tuple[ConsumedEvent, ...]:
        """The events that it waits for, with their correlation attributes."""
        return consumed_events(self.workflow)

    @cached_property
    def event_start(self) -> EventStart | None:
        """The events of its start state, if that is an event state; one that is not exclusive gathers them itself."""
        return event_start(self.workflow)

    def correlation_value(self, event: CloudEvent, rule: CorrelationRule) -> JSON:
        """Return the value of a context attribute or, in the first draft, at a path."""
        return value_in(Correlation(context_attribute_name=rule.attribute, path=rule.path), event)

    @cached_property
    def pointers(self) -> Mapping[str, str]:
        """The JSON Pointers of its states, by name."""
        return pointers_in(self.source.text, f"{self.words.state}s", "name")

    @property
    def concurrency(self) -> Concurrency | None:
        """Its limit in `metadata.concurrency`."""
        return concurrency_of(self.workflow.metadata)

    @property
    def search_attributes(self) -> Mapping[str, str]:
        """The types of its `metadata.searchAttributes`, by name."""
        return {name: one.type for name, one in attributes_of(self.workflow.metadata).items()}

    @property
    def has_schedule(self) -> bool:
        return self.workflow.start.schedule is not None

    @property
    def schedule_timezone(self) -> str | None:
        """The time zone of the schedule, as written."""
        schedule = self.workflow.start.schedule
        return None if schedule is None else schedule.timezone

    def schedule(self) -> "ScheduleSpec":
        """Return its schedule. Raises UsageError if it has none, or an invalid one."""
        return spec_of(self.workflow)

    @cached_property
    def outline(self) -> Outline:
        """Its states and their parts, in the words of its version."""
        from swf_temporal.languages.serverless_workflow.outlining import outline_of  # noqa: PLC0415 - not needed for loading

        return outline_of(self.workflow)

    @cached_property
    def program(self) -> "Program":
        """The program, with the semantics number of new runs."""
        from swf_temporal.languages.serverless_workflow.execution.program import Program  # noqa: PLC0415 - not needed for loading

        return Program(self.workflow, SEMANTICS, self.expressions)

    @property
    def expressions(self) -> Expressions:
        """The compiler of its expressions, with those that the rules compiled.

        Raises BadExpression if their language is not supported.
        """
        if self._expressions is None:
            self._expressions = expressions_of(self.workflow)
        return self._expressions

    def refusal_of(self, data: JSON) -> str | None:
        """Return why a run cannot start with *data*, or None if it can."""
        if self.workflow.data_input_schema is None:
            return None
        from swf_temporal.languages.serverless_workflow.execution.data_schemas import refusal_of  # noqa: PLC0415 - seldom needed

        return refusal_of(self.program, data)

    def with_source(self, source: Source) -> Self:
        """Return the same definition as if it had been read from *source*."""
        return type(self)(self.language, self.workflow.model_copy(update={"source": source}), self._expressions)

    def problem(
        self, code: str, message: str, position: Position, hint: str | None = None, severity: Severity = Severity.ERROR
    ) -> Problem:
        """Return a problem at *position*, in the document that it belongs to."""
        return at_its_origin(self.source.problem(code, message, position, hint, severity))
