"""The interface of a definition language, its definitions and its programs.

Hosts, catalogue, client, schedules, scenarios and commands use only this. A language is a package with an object that
implements `Language`, and a line in `languages/known.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, Self

from swf_temporal.base.calls import Auth, Function
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, as_text
from swf_temporal.base.errors import Position, Problem, Severity, UsageError, WorkflowFault
from swf_temporal.languages.triggers import ConsumedEvent, CorrelationRule, EventStart
from swf_temporal.text.origin import Fetch, Object, Source, nothing

if TYPE_CHECKING:
    from swf_temporal.base.calendars.moments import ScheduleSpec
    from swf_temporal.drawing.building import DrawnCourse
    from swf_temporal.drawing.model import Picture
    from swf_temporal.drawing.outline import Outline, WorkflowRef
    from swf_temporal.expressions.compiled import EvaluationOutcome
    from swf_temporal.languages.base import Upgraded
    from swf_temporal.languages.marks import Kind, Mark
    from swf_temporal.runtime.host import SecretTemplate
    from swf_temporal.runtime.run import Program

START: Final = Position()
"""The beginning of a text."""


@dataclass(frozen=True, slots=True)
class FunctionUse:
    """A function that a definition may call, and the position of its operation."""

    function: Function
    position: Position = START
    depends_on_data: bool = False
    """Whether data of an instance decide which document the operation names, so that only a call can read it."""


@dataclass(frozen=True, slots=True)
class EventUse:
    """A kind of event that a definition consumes or produces, by the name that it has there."""

    name: str
    type: str | None = None
    source: str | None = None
    kind: Literal["consumed", "produced"] = "consumed"
    starts: bool = False
    """Whether an instance begins by waiting for it."""
    data_schema: JSON = field(default=None, hash=False)
    """The JSON Schema of its data for senders, if the definition has one."""
    correlation: tuple[CorrelationRule, ...] = ()
    """The attributes that correlate it."""
    roles: tuple[str, ...] = ()
    """Who may answer, for people and their front ends: nothing here enforces it."""
    assignee: str | None = None
    """The person whose answer is awaited."""
    assignee_attribute: str | None = None
    """The correlating attribute whose value names that person instead."""


MAX_PLACES: Final = 1000
"""The largest limit of concurrent instances that a definition may set."""


@dataclass(frozen=True, slots=True)
class Concurrency:
    """The limit of concurrent instances of a definition, as the definition sets it."""

    limit: int
    """From 1 to `MAX_PLACES`."""
    key: str | None = None
    """An expression over the input: the limit applies to each of its values. None means to all instances together."""


ATTRIBUTE_TYPES: Final = ("Keyword", "Int", "Double", "Bool", "Datetime")
"""The types of search attributes that a definition may use, as Temporal calls them."""
MAX_ATTRIBUTES: Final = 20
"""The maximum number of search attributes of a definition."""


@dataclass(frozen=True, kw_only=True)
class Words:
    """The language's words for parts of an instance, for messages."""

    state: str = "state"
    handler: str = "handler"
    """The part of a state that handles an error."""
    uncaught: str = "no {handler} of {state!r} covers {error}"
    """That no handler handles the error with which an instance failed in *state*."""
    slow_call: str = "give it a timeout"
    """Advice for authors about a call that delays its instance."""
    input_schema: str = "the input schema"
    """The schema of the input of an instance."""
    credentials: str = "give it credentials"
    """Advice for authors about a call for which a service requires credentials."""


_KEPT: Final = "is kept"
"""The entry of a definition's attributes that says that it has all of them."""


class Definition(ABC):
    """A definition in any language: what it needs, what it starts, and what it waits for."""

    language: "Language"
    """Its language."""
    id: str
    version: str | None = None
    namespace: str | None = None
    name: str | None = None
    description: str | None = None
    source: Source
    secrets: tuple[str, ...] = ()
    """The secrets that it declares."""
    id_position: Position = START
    """The position of its id."""
    others: "tuple[Definition, ...]" = ()
    """The other definitions in the same text, if its language allows several."""

    @property
    def updates(self) -> frozenset[str]:
        """The names of the updates that its instances answer, beside `deliver`."""
        return frozenset()

    @property
    def queries(self) -> frozenset[str]:
        """The names of the queries that its instances answer, beside those of every instance."""
        return frozenset()

    @property
    def task_queue(self) -> str | None:
        """The task queue that it names, if its language names one."""
        return None

    @property
    def language_version(self) -> str | None:
        """The version of the language, if there are several."""
        return None

    @property
    def digest(self) -> str:
        """The SHA-256 of the text that it was read from."""
        return self.source.digest

    @property
    def input_schema(self) -> JSON:
        """The JSON Schema for the input of an instance, if there is one."""
        return None

    @property
    def output_schema(self) -> JSON:
        """The JSON Schema for the output of an instance, if there is one."""
        return None

    @property
    def functions(self) -> tuple[FunctionUse, ...]:
        """The functions that it may call."""
        return ()

    @property
    def events(self) -> tuple[EventUse, ...]:
        """The kinds of events that it consumes and produces."""
        return ()

    def event(self, name: str) -> EventUse:
        """Return the event *name*; the consumed one if it is both consumed and produced.

        If its definition is in a document that was not found, its name is its type.
        """
        named = [one for one in self.events if one.name == name] or [EventUse(name, name)]
        return next((one for one in named if one.kind == "consumed"), named[0])

    @property
    def consumed_events(self) -> tuple[ConsumedEvent, ...]:
        """The kinds of events that its instances wait for, with their filters and correlation."""
        return tuple(ConsumedEvent(one.name, one.type, one.source) for one in self.events if one.kind == "consumed")

    @property
    def event_start(self) -> EventStart | None:
        """The events that start its instances, if any do."""
        return None

    @property
    def outline(self) -> "Outline":
        """Its parts with their work and transitions, in the words of the language."""
        from swf_temporal.drawing.outline import Outline  # noqa: PLC0415 - most definitions have their own

        return Outline()

    @property
    def pointers(self) -> Mapping[str, str]:
        """The JSON Pointers of its parts in its text, by path, as far as the language knows them."""
        return {}

    def picture(self, course: "DrawnCourse | None" = None, *about: str) -> "Picture":
        """Return a picture of it, drawn from its outline, optionally with the course of a run or coverage of runs.

        *about* are further lines above it. Raises UsageError if the extra `drawing` is not installed.
        """
        from swf_temporal.drawing.building import picture_of  # noqa: PLC0415 - most definitions are never drawn
        from swf_temporal.drawing.outline import WorkflowRef  # noqa: PLC0415 - as above

        called, title = str(WorkflowRef(self.id or "", self.version)), self.name or self.id or "workflow"
        lines = [one for one in (called, self.description) if one and one != title]
        return picture_of(self.outline, title, [*lines, *about], course)

    def _repr_html_(self) -> str | None:
        """Return its picture, for notebooks."""
        from swf_temporal.drawing.svg import notebook_html  # noqa: PLC0415 - as above

        return notebook_html(lambda: [self.picture()])

    def meant_by(self, reference: "WorkflowRef") -> "tuple[WorkflowRef, ...]":
        """Return the definitions that a *reference* in this one may mean, the most likely first."""
        return (reference,)

    @cached_property
    def sub_workflows(self) -> "tuple[WorkflowRef, ...]":
        """The definitions that it may start and wait for."""
        found = (what for use, what in self.outline.users() if use == "runs")
        return tuple(dict.fromkeys(meant for reference in found for meant in self.meant_by(reference)))

    @cached_property
    def continuations(self) -> "tuple[WorkflowRef, ...]":
        """The definitions that an instance may continue as."""
        return tuple(what for use, what in self.outline.users() if use == "continues as")

    @property
    def has_schedule(self) -> bool:
        """Whether it has a schedule."""
        return False

    @property
    def schedule_timezone(self) -> str | None:
        """The time zone that its schedule names for display, if the times do not depend on it."""
        return None

    def schedule(self) -> "ScheduleSpec":
        """Return its schedule. Raises UsageError if it has none, or an invalid one."""
        raise UsageError(f"the definition {self.id!r} has no schedule")

    def refusal_of(self, data: JSON) -> str | None:  # noqa: ARG002 - overridden by languages with schemas
        """Return why an instance cannot start with *data*, or None if it can."""
        return None

    @property
    def is_latest(self) -> bool:
        """Whether it is the one to use when no version is given, regardless of others."""
        return False

    @property
    def concurrency(self) -> Concurrency | None:
        """The limit of its concurrent instances; None means no limit."""
        return None

    @property
    def search_attributes(self) -> Mapping[str, str]:
        """The additional search attributes of its instances: their types by name."""
        return {}

    @property
    def shares_events(self) -> bool:
        """Whether events that an instance produces reach waiting instances in the same namespace."""
        return False

    @property
    def words(self) -> Words:
        """Its language's words for parts of an instance, for messages."""
        return Words()

    def input_of(self, given: JSON | bytes) -> JSON:
        """Return the data of an instance started with *given*, which is JSON unless the language allows more."""
        return given  # type: ignore[return-value]  # the host reports bytes as invalid

    def event_starts(self, events: Iterable[CloudEvent]) -> list[JSON]:  # noqa: ARG002 - overridden by languages with such starts
        """Return the inputs of the instances that *events* start, in order."""
        return []

    def has_attribute(self, event: CloudEvent, name: str, wanted: JSON) -> bool:
        """Return True if the attribute *name* of *event* matches the value *wanted* of a filter."""
        found = event.attribute(name)
        return found is not None and as_text(found) == as_text(wanted)

    def correlation_value(self, event: CloudEvent, rule: CorrelationRule) -> JSON:
        """Return the value of *event* that *rule* compares; None if it has none."""
        return event.attribute(rule.attribute)

    def cancellation(self, *, by_parent: bool) -> WorkflowFault | None:  # noqa: ARG002 - as above
        """Return the error of an instance that was cancelled, from outside or by its parent, if there is one."""
        return None

    def placed_at(self, path: str) -> Self:  # noqa: ARG002 - overridden by languages that identify definitions by path
        """Return the same definition, located at *path* in its namespace."""
        return self

    @abstractmethod
    def with_source(self, source: Source) -> Self:
        """Return the same definition as if it had been read from *source*."""

    def problem(
        self, code: str, message: str, position: Position, hint: str | None = None, severity: Severity = Severity.ERROR
    ) -> Problem:
        """Return a problem at *position* in the text that the author wrote."""
        return self.source.problem(code, message, position, hint, severity)

    def keep(self) -> Self:
        """Return this definition, which cannot be changed from now on: it is shared by all who load its text."""
        vars(self)[_KEPT] = True
        return self

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute while the definition is made. Raises AttributeError afterwards."""
        if _KEPT in vars(self):
            raise AttributeError(f"a definition cannot be changed: {name!r} cannot be set; load another text instead")
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled as its text, as a run carries it, which is read again."""
        return _read_again, (self.language, self.source.text, self.source.name)


def _read_again(language: "Language", text: str, name: str) -> Definition:
    """Return the definition that was pickled."""
    from swf_temporal.text.parsing import read_object  # noqa: PLC0415 - heavy, and only where there are pickles

    source = Source(text, name)
    found = language.read_pinned(read_object(source)[0], source).definition
    if found is None:
        raise UsageError(f"the definition {name!r} was pickled by another release, and this one cannot read it")
    return found


@dataclass(frozen=True, slots=True)
class WrittenIn:
    """The language version of a definition, and the evidence for it."""

    title: str
    """Its name for people, with that of the language."""
    version: str
    key: str
    """The evidence: a key of this version, or the one that holds the version."""
    position: Position = START
    """The position of the key."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of reading a definition: its problems, and the definition unless one of them is an error."""

    definition: Definition | None
    problems: tuple[Problem, ...] = ()
    written_in: WrittenIn | None = None
    """The version of the language, if it is not the usual one."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that prevent the definition from running."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems that do not prevent it from running."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.WARNING)


class ShownExpression(NamedTuple):
    """An expression in a line of text, which an editor shows on sample data."""

    start: int
    end: int
    """The columns of its start and end, from 0."""
    evaluate: Callable[[JSON], "EvaluationOutcome"]
    """Returns its value for data. Raises BadExpression and SwfError."""


Addresses = Callable[[Iterable[FunctionUse]], Mapping[str, dict[str, Any]]]
"""Returns the destinations of functions, by name, as far as they are known without a call."""


class Language(Protocol):
    """A definition language."""

    @property
    def name(self) -> str:
        """Its name in records and descriptions, such as `serverless-workflow`."""

    @property
    def title(self) -> str:
        """Its name for people, with the supported versions."""

    def looks_like(self, text: str) -> bool:
        """Return True if *text*, which may be broken, seems to be a definition in this language."""

    def recognises(self, root: Object) -> bool:
        """Return True if *root* is a definition in this language."""

    def read(self, root: Object, source: Source, fetch: Fetch = nothing) -> Checked:
        """Return the definition *root*, which is part of *source*, with all its problems.

        Documents that it names are read by *fetch*. The definition that a run carries must not depend on them: if there
        are some, the definition's source is a text that includes them.
        """

    def read_pinned(self, root: Object, source: Source) -> Checked:
        """Return the definition that a running instance carries, without validating it."""

    def prepare(self, definition: Definition, semantics: int) -> "Program":
        """Return *definition* as a program of runs that began with the semantics number *semantics*."""

    def fill(self, given: "SecretTemplate", secrets: Mapping[str, JSON]) -> JSON:
        """Return arguments of a call with secrets filled in. Raises WorkflowFault if an expression fails."""

    def fill_auth(self, auth: Auth, secrets: Mapping[str, JSON]) -> JSON:
        """Return the properties of credentials with secrets filled in; a text is a token. Raises CallFailed."""

    def holds(self, condition: JSON, fault: WorkflowFault) -> bool:
        """Return True if the condition of a retry rule holds for *fault*; False if it cannot be evaluated."""

    def marks(self, root: Object) -> "list[Mark]":
        """Return the names in a document that may not run yet, in the order of the text, for editors."""

    def kind_of_names(self, key: str) -> "Kind | None":
        """Return the kind of the names that *key* refers to; None if it refers to none."""

    def standard_names(self, kind: "Kind") -> Sequence[str]:
        """Return the names of that kind that the language itself defines, such as directives beside tasks."""

    def expression_at(self, line: str, column: int) -> ShownExpression | None:
        """Return the expression at *column* of a *line*, for editors; None if there is none."""

    def json_schema(self, title: str | None = None, version: str | None = None) -> dict[str, Any]:
        """Return the JSON Schema of definitions, for editors. Raises UsageError for a version that has none."""

    def upgrade(
        self, source: Source, to: str | None = None, namespace: str | None = None, fetch: Fetch = nothing
    ) -> "Upgraded":
        """Return the definition in *source*, rewritten in the version *to* of the language.

        *namespace* is that of the result, if definitions of that version are in one. *fetch* returns the documents that
        the definition has parts in, if these become parts of the result.

        Raises InvalidDefinition if it is not a definition, and UsageError for unsupported versions.
        """

    def migrate(
        self,
        source: Source,
        properties: Mapping[str, str],
        fetch: Fetch = nothing,
        *,
        keeps_effects: bool = False,
        application: str = "",
    ) -> "Upgraded":
        """Rewrite the definition in *source*, which another runtime ran with *properties*, to mean the same here.

        *fetch* returns the documents that it names.

        Parts whose effect differs here are reported or, with *keeps_effects*, rewritten to have the original effect.
        A definition in a Kubernetes resource is extracted. With *application*, the names of its services begin with it,
        as other applications have services of the same names. Raises InvalidDefinition if it is not a definition.
        """
