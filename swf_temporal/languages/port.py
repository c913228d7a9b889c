"""All that others see of a definition language, of its definitions and of its programs.

Hosts, catalogue, client, schedules, scenarios and commands work with these alone. A language is a package with an
object that satisfies `Language`, and a line in `languages/known.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, Self

from swf_temporal.base.calls import Auth, Function
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, as_text
from swf_temporal.base.errors import Position, Problem, Severity, UsageError, WorkflowFault
from swf_temporal.languages.triggers import ConsumedEvent, CorrelationRule, EventStart
from swf_temporal.text.located import Object
from swf_temporal.text.origin import Fetch, Source, nothing

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
    """A function that a definition may call, and where its operation is written."""

    function: Function
    position: Position = START


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
    """The JSON Schema of its data, where the definition has one for people and programs that send it."""
    correlation: tuple[CorrelationRule, ...] = ()
    """The attributes that correlate it."""


MAX_PLACES: Final = 1000
"""How many instances a definition may let run at once, where it bounds that."""


@dataclass(frozen=True, slots=True)
class Concurrency:
    """How many instances of a definition run at once, as the definition says it."""

    limit: int
    """From 1 to `MAX_PLACES`."""
    key: str | None = None
    """An expression over the input: the limit counts for each of its values. None is for all instances together."""


ATTRIBUTE_TYPES: Final = ("Keyword", "Int", "Double", "Bool", "Datetime")
"""The types of search attributes that a definition may name, as Temporal calls them."""
MAX_ATTRIBUTES: Final = 20
"""How many a definition may name."""


@dataclass(frozen=True)
class Words:
    """The language's words for the parts that messages about an instance name."""

    state: str = "state"
    handler: str = "handler"
    """What a state handles an error by."""
    slow_call: str = "give it a timeout"
    """What an author can do about a call that holds its instance up."""
    input_schema: str = "the input schema"
    """What describes the input of an instance."""
    credentials: str = "give it credentials"
    """What an author can do about a call that a service wants credentials for."""


class Definition(ABC):
    """A definition, in whichever language it is written: what it needs, what it starts, and what it waits for."""

    language: "Language"
    """The language that it is written in."""
    id: str
    version: str | None = None
    namespace: str | None = None
    name: str | None = None
    description: str | None = None
    source: Source
    secrets: tuple[str, ...] = ()
    """The secrets that it declares."""
    id_position: Position = START
    """Where its id is written."""

    @property
    def language_version(self) -> str | None:
        """The version of the language, where there are several."""
        return None

    @property
    def digest(self) -> str:
        """The SHA-256 of the text that it was read from."""
        return self.source.digest

    @property
    def input_schema(self) -> JSON:
        """The JSON Schema that the input of an instance must fit, if there is one."""
        return None

    @property
    def output_schema(self) -> JSON:
        """The JSON Schema that the output of an instance must fit, if there is one."""
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
        """Return the event *name*, as it is consumed where it is produced as well.

        One that is defined in a document that was not found has its name as its type.
        """
        named = [one for one in self.events if one.name == name] or [EventUse(name, name)]
        return next((one for one in named if one.kind == "consumed"), named[0])

    @property
    def consumed_events(self) -> tuple[ConsumedEvent, ...]:
        """The kinds of events that its instances wait for, with what tells them apart."""
        return tuple(ConsumedEvent(one.name, one.type, one.source) for one in self.events if one.kind == "consumed")

    @property
    def event_start(self) -> EventStart | None:
        """How events start its instances, if they do."""
        return None

    @property
    def outline(self) -> "Outline":
        """Its parts, what they do and where they lead, in the words of the language."""
        from swf_temporal.drawing.outline import Outline  # noqa: PLC0415 - most are asked for their own

        return Outline()

    @property
    def pointers(self) -> Mapping[str, str]:
        """The JSON Pointers of its parts in its text, by their paths, as far as the language can tell."""
        return {}

    def picture(self, course: "DrawnCourse | None" = None, *about: str) -> "Picture":
        """Return it as it is drawn, from its outline, with what is given of runs on it: a course, or a coverage.

        *about* are further lines over it. Raises UsageError if the extra `drawing` is not installed.
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
        """Return the definitions that a *reference* in this one may mean, the likeliest first."""
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
        """Whether it says when it is to be started by itself."""
        return False

    @property
    def schedule_timezone(self) -> str | None:
        """The time zone that its schedule names for people, where that is more than the times need."""
        return None

    def schedule(self) -> "ScheduleSpec":
        """Return when it is to be started. Raises UsageError if it does not say, or cannot be understood."""
        raise UsageError(f"the definition {self.id!r} has no schedule")

    def refusal_of(self, data: JSON) -> str | None:  # noqa: ARG002 - for those that have a schema
        """Return why an instance would not even begin with *data*, or None if it would."""
        return None

    @property
    def is_latest(self) -> bool:
        """Whether it is meant where no version is asked for, whatever others there are."""
        return False

    @property
    def concurrency(self) -> Concurrency | None:
        """How many of its instances run at once; None is without a limit."""
        return None

    @property
    def search_attributes(self) -> Mapping[str, str]:
        """The search attributes that its instances have beside those that all have: by their names, their types."""
        return {}

    @property
    def shares_events(self) -> bool:
        """Whether events that an instance produces reach those that wait for them in the same namespace."""
        return False

    @property
    def words(self) -> Words:
        """What its language calls the parts that messages about an instance name."""
        return Words()

    def input_of(self, given: JSON | bytes) -> JSON:
        """Return the data of an instance that is begun with *given*, which is JSON unless the language says more."""
        return given  # type: ignore[return-value]  # the host that takes it says what is wrong with bytes

    def event_starts(self, events: Iterable[CloudEvent]) -> list[JSON]:  # noqa: ARG002 - for those that have such
        """Return the inputs of the instances that *events* start, in their order."""
        return []

    def has_attribute(self, event: CloudEvent, name: str, wanted: JSON) -> bool:
        """Tell whether the attribute *name* of *event* is as a filter wants it."""
        found = event.attribute(name)
        return found is not None and as_text(found) == as_text(wanted)

    def correlation_value(self, event: CloudEvent, rule: CorrelationRule) -> JSON:
        """Return the value by which *rule* tells to which instance *event* belongs; None if it has none."""
        return event.attribute(rule.attribute)

    def cancellation(self, *, by_parent: bool) -> WorkflowFault | None:  # noqa: ARG002 - as above
        """Return the error of an instance that was cancelled, from outside or by its parent, if there is one."""
        return None

    def placed_at(self, path: str) -> Self:  # noqa: ARG002 - for those that are known by their paths
        """Return the same definition as one that stands at *path* in its namespace."""
        return self

    @abstractmethod
    def with_source(self, source: Source) -> Self:
        """Return the same definition as if it had been read from *source*."""

    def problem(
        self, code: str, message: str, position: Position, hint: str | None = None, severity: Severity = Severity.ERROR
    ) -> Problem:
        """Return a problem at *position*, told where the author wrote it."""
        return self.source.problem(code, message, position, hint, severity)


@dataclass(frozen=True, slots=True)
class WrittenIn:
    """The version of its language that a definition is written in, and what shows it."""

    title: str
    """What people call it, with the language."""
    version: str
    key: str
    """What shows it: a key of this version, or that under which the definition says its version."""
    position: Position = START
    """Where the key stands."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of reading a definition: its problems, and the definition if no error keeps it from running."""

    definition: Definition | None
    problems: tuple[Problem, ...] = ()
    written_in: WrittenIn | None = None
    """The version of the language, where it is another than the usual one."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that keep the definition from running."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems that do not."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.WARNING)


class ShownExpression(NamedTuple):
    """An expression in a line of text, which an editor shows on sample data."""

    start: int
    end: int
    """The columns between which it stands, from 0."""
    evaluate: Callable[[JSON], "EvaluationOutcome"]
    """Returns what it yields for data. Raises BadExpression and SwfError."""


Addresses = Callable[[Iterable[Function]], Mapping[str, dict[str, Any]]]
"""Tells where functions lead, by their names, as far as that is known without calling anything."""


class Language(Protocol):
    """A definition language."""

    @property
    def name(self) -> str:
        """By which it is known in records and descriptions, such as `serverless-workflow`."""

    @property
    def title(self) -> str:
        """What people call it, with the versions that run here."""

    def looks_like(self, text: str) -> bool:
        """Tell whether *text*, which may be broken, seems to hold a definition in this language."""

    def recognises(self, root: Object) -> bool:
        """Tell whether *root* is a definition in this language."""

    def read(self, root: Object, source: Source, fetch: Fetch = nothing) -> Checked:
        """Return the definition that *root* is, which stands in *source*, with all that is to be said about it.

        Documents that it names are got by *fetch*. What travels with a run must not depend on them: where there were
        some, the definition's source is a text that has them in it.
        """

    def read_pinned(self, root: Object, source: Source) -> Checked:
        """Return the definition that a running instance carries, without asking whether it follows the rules."""

    def prepare(self, definition: Definition, semantics: int) -> "Program":
        """Return *definition* as a program of runs that began with the semantics number *semantics*."""

    def fill(self, given: "SecretTemplate", secrets: Mapping[str, JSON]) -> JSON:
        """Return arguments of a call with secrets filled in. Raises WorkflowFault where an expression fails."""

    def fill_auth(self, auth: Auth, secrets: Mapping[str, JSON]) -> JSON:
        """Return the properties of credentials with secrets filled in; a text is a token. Raises CallFailed."""

    def holds(self, condition: JSON, fault: WorkflowFault) -> bool:
        """Tell whether the condition of a retry rule holds of *fault*. Raises nothing: where it cannot be told, no."""

    def marks(self, root: Object) -> "list[Mark]":
        """Return the names in a document that may not run yet, in the order of the text, for editors."""

    def kind_of_names(self, key: str) -> "Kind | None":
        """Return of what kind the names are that are referred to under *key*; None if none are."""

    def expression_at(self, line: str, column: int) -> ShownExpression | None:
        """Return the expression that stands at *column* of a *line*, for editors; None if there is none."""

    def json_schema(self, title: str | None = None, version: str | None = None) -> dict[str, Any]:
        """Return the JSON Schema of definitions, for editors. Raises UsageError for a version that has none."""

    def upgrade(self, source: Source, to: str | None = None) -> "Upgraded":
        """Return the definition in *source* as the version *to* of the language would write it.

        Raises InvalidDefinition if there is none, and UsageError for versions that are not rewritten or written.
        """

    def migrate(self, source: Source, properties: Mapping[str, str], *, keeps_effects: bool = False) -> "Upgraded":
        """Return the definition in *source*, which another runtime ran with *properties*, as it means the same here.

        What has another effect here is reported or, if it *keeps_effects*, has the one of there, which its text says.
        One that is in a resource of Kubernetes is taken out of it. Raises InvalidDefinition if there is none.
        """
