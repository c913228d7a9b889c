"""The `Definition` interface of DSL 1.0 definitions, for hosts and commands."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Self

from swf_temporal.base.calls import Function
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, as_text
from swf_temporal.base.errors import UsageError, WorkflowFault
from swf_temporal.base.strict_json import write_json
from swf_temporal.drawing.outline import Outline, WorkflowRef
from swf_temporal.expressions.compiled import NOTHING
from swf_temporal.expressions.patterns import PatternTooSlow
from swf_temporal.languages.dsl.execution.filters import (
    Filter,
    decides,
    filters_of,
    has_patterns,
    is_plain,
    read_event,
    static_filters,
    value_of,
)
from swf_temporal.languages.dsl.execution.requests import is_uri_of_data
from swf_temporal.languages.dsl.model.node import Node
from swf_temporal.languages.dsl.model.parts import DataSchema, EventStrategy
from swf_temporal.languages.dsl.model.workflow import (
    BUILT_IN,
    CallFunction,
    EmitTask,
    ListenTask,
    NamedTask,
    RunTask,
    TaskBase,
    Workflow,
)
from swf_temporal.languages.dsl.model.zigflow import (
    ACTIVITY,
    QUERY,
    UPDATE,
    Message,
    ZigflowWorkflow,
    activity_at,
    messages_of,
)
from swf_temporal.languages.dsl.names import id_of, own_function
from swf_temporal.languages.dsl.schedules import spec_of
from swf_temporal.languages.metadata import attributes_of, concurrency_of, people_of
from swf_temporal.languages.port import Concurrency, Definition, EventUse, FunctionUse, Language, Words
from swf_temporal.languages.triggers import ConsumedEvent, CorrelationRule, EventStart
from swf_temporal.runtime.correlation import Taken, assigned, usable
from swf_temporal.text.origin import Object, Source, plain

if TYPE_CHECKING:
    from swf_temporal.base.calendars.moments import ScheduleSpec
    from swf_temporal.languages.dsl.execution.program import DslProgram


_WORDS: Final = Words(
    state="task",
    handler="catch",
    uncaught="no try task around it catches it",
    slow_call="give its task a timeout",
    input_schema="input.schema",
    credentials="name an authentication policy at its endpoint",
)


class DslDefinition(Definition):
    """A definition whose model is a `Workflow`."""

    def __init__(self, language: Language, workflow: Workflow, root: Object, source: Source) -> None:
        self.language = language
        self.workflow = workflow
        """The model, for this language's own code only."""
        self._root = root
        document = workflow.document
        self.namespace = document.namespace
        self.id = id_of(document.namespace, document.name)
        self.version = document.version
        self.name = document.title
        self.description = document.summary
        self.source = source
        self.secrets = workflow.use.secrets
        self.id_position = document.where.value("name")

    def __eq__(self, other: object) -> bool:
        """Compare by text."""
        return isinstance(other, DslDefinition) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<definition {self.id} {self.version}>"

    @property
    def language_version(self) -> str:
        """The version of the language that it states."""
        return self.workflow.document.dsl

    @cached_property
    def written(self) -> JSON:
        """The definition as JSON."""
        written: JSON = plain(self._root)
        return written

    @property
    def input_schema(self) -> JSON:
        """The schema of its input."""
        return _schema(None if self.workflow.input is None else self.workflow.input.schema_)

    @property
    def output_schema(self) -> JSON:
        """The schema of its output."""
        return _schema(None if self.workflow.output is None else self.workflow.output.schema_)

    @cached_property
    def functions(self) -> tuple[FunctionUse, ...]:
        """The calls that its tasks make, each by the name of the task."""
        return tuple(_functions(self.workflow))

    @cached_property
    def sub_workflows(self) -> "tuple[WorkflowRef, ...]":
        """The definitions that its tasks run, those of its functions and extensions included."""
        from swf_temporal.languages.dsl.outline import reference_to  # noqa: PLC0415 - not needed for loading

        running = (task.run.workflow for task in tasks_in(self.workflow) if isinstance(task, RunTask))
        return tuple(dict.fromkeys(reference_to(one) for one in running if one is not None))

    @cached_property
    def events(self) -> tuple[EventUse, ...]:
        """The kinds of events that it consumes, emits, and is started by."""
        found: list[EventUse] = []
        schedule = self.workflow.schedule
        if schedule is not None and schedule.on is not None:
            found += [_event_use(one, starts=True) for one in filters_of(schedule.on)]
        for task in tasks_in(self.workflow):
            if isinstance(task, ListenTask):
                found += [_event_use(one, task.metadata) for one in _awaited(task.listen.to)]
            elif isinstance(task, EmitTask):
                given = task.emit.event.with_
                kind = given.get("type") if isinstance(given, dict) else None
                if isinstance(kind, str) and "${" not in kind:
                    found.append(EventUse(kind, kind, kind="produced"))
        return tuple(dict.fromkeys(found))

    @cached_property
    def consumed_events(self) -> tuple[ConsumedEvent, ...]:
        """The events that its tasks wait for."""
        listening = [task for task in tasks_in(self.workflow) if isinstance(task, ListenTask)]
        return tuple(_consumed(one) for task in listening for one in _awaited(task.listen.to))

    @cached_property
    def event_start(self) -> EventStart | None:
        """The events that start it. Those of `all` are gathered before it begins."""
        schedule = self.workflow.schedule
        if schedule is None or schedule.on is None:
            return None
        # Their expressions see the event alone, so that they decide before there is an instance.
        filters = [(one, {**static_filters(one), **one.expressions}) for one in filters_of(schedule.on)]
        events = tuple(replace(_consumed(one, is_awaited=False), filters=given) for one, given in filters)
        return EventStart(events, "any" if schedule.on.all is None else "all", gathers_itself=False)

    def event_starts(self, events: Iterable[CloudEvent]) -> list[JSON]:
        """Return the inputs of the instances that *events* start, in order: arrays of events."""
        return inputs_of_starts(self.workflow, self.program, events)

    def has_attribute(self, event: CloudEvent, name: str, wanted: JSON) -> bool:
        """Return True if an attribute matches the value of a filter, where a text may be a regular expression."""
        return is_meant(Filter.of({name: wanted}), event, self.program)

    def correlation_value(self, event: CloudEvent, rule: CorrelationRule) -> JSON:
        """Return the value of the expression that a correlation is made from."""
        if rule.path is None:
            return event.attribute(rule.attribute)
        found = self.program.expressions.expression(rule.path)(event.to_json(), {"__now": 0.0})
        return found or None

    @property
    def concurrency(self) -> Concurrency | None:
        """Its limit in `document.metadata.concurrency`."""
        return concurrency_of(self.workflow.document.metadata)

    @property
    def search_attributes(self) -> Mapping[str, str]:
        """The types of its `document.metadata.searchAttributes`, by name."""
        return {name: one.type for name, one in attributes_of(self.workflow.document.metadata).items()}

    @property
    def has_schedule(self) -> bool:
        schedule = self.workflow.schedule
        return schedule is not None and (schedule.every is not None or schedule.cron is not None)

    def schedule(self) -> "ScheduleSpec":
        """Return its schedule. Raises UsageError if it has none, or an invalid one."""
        schedule = self.workflow.schedule
        if schedule is None or not self.has_schedule:
            raise UsageError(
                f"the definition {self.id!r} has no schedule", "it is written under schedule: every or cron"
            )
        return spec_of(schedule, self.id)

    @cached_property
    def outline(self) -> Outline:
        """Its tasks, beginning with the first."""
        from swf_temporal.languages.dsl.outline import outline_of  # noqa: PLC0415 - not needed for loading

        return outline_of(self.workflow)

    @cached_property
    def program(self) -> "DslProgram":
        """The program, with the semantics number of new runs."""
        from swf_temporal.languages.dsl.execution.program import DslProgram  # noqa: PLC0415 - not needed for loading
        from swf_temporal.runtime.host import SEMANTICS  # noqa: PLC0415 - as above

        return DslProgram(self.workflow, self.written, SEMANTICS)

    def refusal_of(self, data: JSON) -> str | None:
        """Return why an instance cannot start with *data*, or None if it can."""
        declared = self.workflow.input
        if declared is None or declared.schema_ is None:
            return None
        violations = self.program.schema(declared.schema_).violations({} if data is None else data)
        return f"the input does not fit its schema: {'; '.join(violations)}" if violations else None

    def with_source(self, source: Source) -> Self:
        """Return the same definition as if it had been read from *source*."""
        return type(self)(self.language, self.workflow, self._root, source)

    def input_of(self, given: JSON | bytes) -> JSON:
        """Return the data of an instance that is started with *given*; an object without properties if that is none."""
        return {} if given is None else super().input_of(given)

    @property
    def words(self) -> Words:
        """The language's words for parts of an instance, for messages."""
        return _WORDS


class ZigflowDefinition(DslDefinition):
    """A definition whose model is a `ZigflowWorkflow`: its id is its workflow type, as zigflow's clients name it."""

    workflow: ZigflowWorkflow

    def __init__(self, language: Language, workflow: ZigflowWorkflow, root: Object, source: Source) -> None:
        super().__init__(language, workflow, root, source)
        document = workflow.document
        self.namespace = None
        self.id = document.name
        self.id_position = document.where.value("workflowType")

    @property
    def task_queue(self) -> str:
        """The task queue that its clients name."""
        return self.workflow.document.namespace

    @cached_property
    def functions(self) -> tuple[FunctionUse, ...]:
        """The calls that its tasks make, each by the name of the task."""
        activities = [
            FunctionUse(Function(name, "custom", activity_at(task.with_)), task.where.value("call"))
            for name, task in _named_tasks(self.workflow)
            if isinstance(task, CallFunction) and task.call == ACTIVITY
        ]
        return (*super().functions, *activities)

    @cached_property
    def events(self) -> tuple[EventUse, ...]:
        """The signals and updates that its tasks listen to."""
        return tuple(dict.fromkeys(EventUse(one.id, one.id) for one in self._messages if one.type != QUERY))

    @cached_property
    def updates(self) -> frozenset[str]:
        """The names of the updates that its tasks listen to."""
        return frozenset(one.id for one in self._messages if one.type == UPDATE)

    @cached_property
    def queries(self) -> frozenset[str]:
        """The names of the queries that its tasks listen to."""
        return frozenset(one.id for one in self._messages if one.type == QUERY)

    @cached_property
    def consumed_events(self) -> tuple[ConsumedEvent, ...]:
        """The signals and updates that its tasks wait for."""
        return tuple(ConsumedEvent(one.name, one.type) for one in self.events)

    @property
    def _messages(self) -> list[Message]:
        listening = [task for task in tasks_in(self.workflow) if isinstance(task, ListenTask)]
        return [one for task in listening for one in messages_of(task)]

    @cached_property
    def program(self) -> "DslProgram":
        """The program, with the semantics number of new runs."""
        from swf_temporal.languages.dsl.execution.zigflow import ZigflowProgram  # noqa: PLC0415 - not needed for loading
        from swf_temporal.runtime.host import SEMANTICS  # noqa: PLC0415 - as above

        return ZigflowProgram(self.workflow, self.written, SEMANTICS)

    def with_source(self, source: Source) -> Self:
        """Return the same definition as if it had been read from *source*, with the others of its text."""
        found = super().with_source(source)
        found.others = self.others
        return found

    def input_of(self, given: JSON | bytes) -> JSON:
        """Return the data of an instance that is started with *given*, which may be null."""
        return Definition.input_of(self, given)


def _schema(declared: DataSchema | None) -> JSON:
    schema: JSON = None if declared is None else plain(declared.document)
    return schema


def tasks_in(node: Any) -> Iterator[TaskBase]:
    """Yield all tasks in *node*, each before those in it."""
    if isinstance(node, NamedTask):
        node = node.task
    if isinstance(node, TaskBase):
        yield node
    if isinstance(node, Node):
        for name, value in node:
            if name != "where":
                yield from tasks_in(value)
    elif isinstance(node, dict):
        for value in node.values():
            yield from tasks_in(value)
    elif isinstance(node, tuple):
        for value in node:
            yield from tasks_in(value)


def _named_tasks(node: Any, name: str = "") -> Iterator[tuple[str, TaskBase]]:
    if isinstance(node, NamedTask):
        yield node.name, node.task
        node = node.task
    if isinstance(node, Node):
        for key, value in node:
            if key != "where":
                yield from _named_tasks(value, key)
    elif isinstance(node, dict):
        for key, value in node.items():
            if isinstance(value, TaskBase):
                yield key, value
            yield from _named_tasks(value, key)
    elif isinstance(node, tuple):
        for value in node:
            yield from _named_tasks(value, name)


_TYPES = {"http": "request", "openapi": "openapi", "grpc": "rpc", "asyncapi": "asyncapi", "mcp": "mcp", "a2a": "a2a"}
"""The types of functions that the built-in calls use."""


def _functions(workflow: Workflow) -> Iterator[FunctionUse]:
    seen: set[str] = set()
    for name, task in _named_tasks(workflow):
        if name in seen:
            continue
        called = getattr(task, "call", None)
        if called in BUILT_IN and not isinstance(task, CallFunction):
            seen.add(name)
            function = Function(name, _TYPES[called], _operation(task))
            yield FunctionUse(function, task.where.value("call"), depends_on_data=_depends_on_data(task))
        elif isinstance(task, CallFunction) and task.call not in workflow.use.functions and own_function(task.call):
            seen.add(name)
            yield FunctionUse(Function(name, "custom", own_function(task.call)), task.where.value("call"))
        elif isinstance(task, RunTask) and task.run.workflow is None:
            kind = next(one for one in ("container", "script", "shell") if getattr(task.run, one) is not None)
            seen.add(name)
            yield FunctionUse(Function(name, kind), task.where.value("run"))


def _operation(task: Any) -> JSON:
    """Return the operation of a call, as far as it is known without an instance."""
    given, endpoint = task.with_, _document(task)
    if endpoint is None:
        return None
    if hasattr(given, "operation_id"):
        return f"{endpoint}#{given.operation_id}"
    if hasattr(given, "service"):
        return f"{endpoint}#{given.service.name}#{given.method}"
    place = {"channel": given.channel} if given.operation is None else {"operation": given.operation}
    return {"document": endpoint, **place, "action": "send" if given.subscription is None else "receive"}


def _depends_on_data(task: Any) -> bool:
    """Return whether the URI of a call's document is an expression, or has names of properties in it."""
    document = _document(task)
    return document is not None and is_uri_of_data(document)


def _document(task: Any) -> str | None:
    """Return the URI of the document that describes a call's operation, as written; None if there is none."""
    resource = getattr(task.with_, "document", None) or getattr(task.with_, "proto", None)
    if resource is None:
        return None
    return resource.endpoint if isinstance(resource.endpoint, str) else resource.endpoint.uri


def _awaited(strategy: EventStrategy) -> list[Filter]:
    ending = filters_of(strategy.until) if isinstance(strategy.until, EventStrategy) else []
    return [*filters_of(strategy), *ending]


def _text_of(one: Filter, name: str) -> str | None:
    """Return the type or the source of a filter, unless it is a pattern."""
    return as_text(one.values[name]) if is_plain(one, name) else None


def _rules(one: Filter) -> tuple[CorrelationRule, ...]:
    return tuple(
        CorrelationRule(name, is_calculated=rule.expect is not None, path=rule.from_, value=rule.expect)
        for name, rule in one.correlate.items()
    )


def _event_use(one: Filter, metadata: Mapping[str, Any] = MappingProxyType({}), *, starts: bool = False) -> EventUse:
    source, said = _text_of(one, "source"), plain(metadata)
    use = EventUse(one.name, _text_of(one, "type"), source, starts=starts, correlation=_rules(one), **people_of(said))
    return replace(use, data_schema=said.get("dataSchema"))


def _consumed(one: Filter, *, is_awaited: bool = True) -> ConsumedEvent:
    kind, source = _text_of(one, "type"), _text_of(one, "source")
    return ConsumedEvent(one.name, kind, source, static_filters(one), _rules(one), is_awaited)


# The inputs of the instances that events start (section "Event-driven scheduling")


def inputs_of_starts(workflow: Workflow, program: "DslProgram", events: Iterable[CloudEvent]) -> list[JSON]:
    """Return the input of each instance that *events* start, in order: an array of events."""
    schedule = workflow.schedule
    if schedule is None or schedule.on is None:
        return []
    filters, how = filters_of(schedule.on), schedule.read or ("envelope" if program.expects_envelopes else "data")
    if schedule.on.all is None:
        return [[read_event(event, how)] for event in events if any(is_meant(one, event, program) for one in filters)]
    return _together(filters, how, program, events)


def is_meant(one: Filter, event: CloudEvent, program: "DslProgram") -> bool:
    """Return whether *event* fits a filter whose expressions see the event alone."""
    try:
        if not (one.fits(event) and has_patterns(one, event)):
            return False
    except PatternTooSlow:
        return False
    for name, expression in one.expressions.items():
        value = value_of(event, name)
        try:
            found: Any = program.expressions.template(expression)(value, {"__now": 0.0})
        except WorkflowFault:
            return False
        if not decides(None if found is NOTHING else found, value):
            return False
    return True


def _together(filters: list[Filter], how: str, program: "DslProgram", events: Iterable[CloudEvent]) -> list[JSON]:
    """Return the inputs of the instances for which there is an event of every kind, with equal correlation values."""
    refs = [str(index) for index in range(len(filters))]
    groups: dict[str, tuple[Taken, list[CloudEvent]]] = {}
    found: list[JSON] = []

    def fits(ref: str, event: JSON) -> bool:
        return isinstance(event, dict) and is_meant(filters[int(ref)], CloudEvent.from_record(event), program)

    for event in events:
        like = [ref for ref in refs if is_meant(filters[int(ref)], event, program)]
        if not like:
            continue
        key = _key(filters[int(like[0])], event, program)
        taken, arrived = groups.get(key, ({}, []))
        ref = next((one for one in usable(refs, taken, fits) if one in like), like[0])
        groups[key] = taken, arrived = assigned(event.to_json(), ref, refs, taken, fits), [*arrived, event]
        if len(taken) == len(refs):
            kept = [one for one in arrived if one.to_json() in taken.values()]
            found.append([read_event(one, how) for one in kept])
            del groups[key]
    return found


def _key(one: Filter, event: CloudEvent, program: "DslProgram") -> str:
    """Return a text that events which belong together have in common."""
    values: dict[str, JSON] = {}
    for name, rule in one.correlate.items():
        value = program.expressions.expression(rule.from_)(event.to_json(), {"__now": 0.0})
        values[name] = as_text(value) if value else None
    return write_json(values)
