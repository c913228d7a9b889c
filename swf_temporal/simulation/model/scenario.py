"""A scenario: a definition, everything that it runs with, and the expected outcome."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    PrivateAttr,
    StrictBool,
    ValidationInfo,
    model_validator,
)

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import Severity
from swf_temporal.simulation.model.expectations import Expected, ExpectedProblem
from swf_temporal.simulation.model.part import (
    Duration,
    Json,
    Moment,
    OptionalKey,
    ScenarioFile,
    ScenarioPart,
    ScriptedFunction,
    StubAnswer,
    beside,
    file_of,
)
from swf_temporal.simulation.model.services import Services
from swf_temporal.text.fetching.resources import ReadingMode
from swf_temporal.text.model_errors import validation_error, wrong_form
from swf_temporal.text.origin import Object, Source

HOSTS: Final = ("simulation", "temporal")
"""The default hosts of a scenario."""
_OF_A_RUN = (
    "input",
    "startTime",
    "functions",
    "services",
    "events",
    "secrets",
    "environment",
    "memo",
    "chance",
    "cancel",
    "hosts",
    "why",
)


@dataclass(frozen=True, slots=True, eq=False)
class InlineDefinition:
    """A definition in the file of its scenario."""

    definition: Object
    source: Source
    """The file's text, so that problems are reported with their positions in the file."""


def _definition(value: Any, info: ValidationInfo) -> Path | InlineDefinition:
    if isinstance(value, Object):
        return InlineDefinition(value, file_of(info).source)
    if not isinstance(value, str):
        raise validation_error("a workflow is the path of its file, or the definition itself")
    return beside(value, info)


def _event(value: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(value.get("early", False), bool):
        raise validation_error("'early' must be true or false", "early")
    CloudEvent.from_json(_without_early(value), default_id="-")
    return value


def _without_early(event: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in event.items() if key != "early"}


def _chance(value: Any) -> Any:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        hint = "0 subtracts all of the jitter, 0.5 changes nothing, 1 adds all of it"
        raise validation_error("an entry of 'chance' must be a number from 0 to 1", hint=hint)
    return value


_Definition: TypeAlias = Annotated[
    Path | InlineDefinition, PlainValidator(_definition, json_schema_input_type=str | dict[str, Any])
]
_Chance: TypeAlias = Annotated[float, Field(ge=0, le=1), BeforeValidator(_chance)]


class Cancellation(ScenarioPart):
    """A cancellation of a run from outside."""

    after: Duration
    """The time from its start."""


def _cancellation(value: Any) -> Any:
    if not isinstance(value, bool | dict | Cancellation):
        raise wrong_form("true, or an object such as {after: PT5S}")
    return value


_Cancellation: TypeAlias = Annotated[Cancellation | StrictBool, BeforeValidator(_cancellation)]


class Scenario(ScenarioPart):
    """One claim about a workflow, with everything that is needed to check it."""

    claim: str = Field(alias="scenario")
    """The claim, in a sentence."""
    spec: tuple[str, ...] = ()
    """The sections of the specification that it is about."""
    workflow: _Definition
    """The path of a definition, relative to this file, or the definition itself."""
    definitions: tuple[_Definition, ...] = ()
    """Sub-workflows, and workflows to continue as."""
    mode: OptionalKey[ReadingMode] = None
    """The runtime whose behaviour the definitions are read and run with."""
    input: Json = Field(default_factory=dict)
    start_time: OptionalKey[Moment] = None
    """When the run begins; by default, at the beginning of 2024 in UTC."""
    functions: dict[str, ScriptedFunction] = Field(default_factory=dict)
    """For a function: its results."""
    services: Services = Field(default_factory=dict)
    """The services that functions really call."""
    all_events: tuple[Annotated[dict[str, Json], AfterValidator(_event)], ...] = Field(default=(), alias="events")
    """CloudEvents; those with `early` are delivered when the run starts, others when they are awaited."""
    secrets: dict[str, Json] = Field(default_factory=dict)
    environment: dict[str, str] = Field(default_factory=dict)
    """The variables of the worker's environment that definitions may see, where their language has any."""
    memo: dict[str, Json] = Field(default_factory=dict)
    """The memo of the instance: in the mode of SonataFlow its `headers` and `identity` are in `$WORKFLOW`."""
    chance: tuple[_Chance, ...] = Field(default=(), min_length=1)
    """The jitter of each call's attempts, from 0 to 1; the last repeats. By default, it follows from the call's id."""
    cancel: _Cancellation = False
    """Whether the run is cancelled when it waits for an event that does not come; or the time after which it is."""
    expect: Expected = Expected()
    hosts: tuple[Literal["simulation", "temporal"], ...] = Field(default=HOSTS, min_length=1)
    why: str = ""
    """Why it cannot run on every host."""

    _place: ScenarioFile | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:
        """Keep the position of the scenario, if it was read from a file."""
        self._place = context

    @model_validator(mode="after")
    def _says_why(self) -> Self:
        if "hosts" in self.model_fields_set and not self.why:
            raise validation_error("a scenario that runs on some hosts only needs `why`", "hosts", at_key=True)
        return self

    @model_validator(mode="after")
    def _runs_nowhere(self) -> Self:
        """Refuse expectations of a run if the definition is expected to be refused."""
        shown: list[tuple[str, ...]] = [(key,) for key in self.given if key in _OF_A_RUN]
        shown += [("expect", key) for key in self.expect.given if key != "problems"]
        for path in shown if self.is_refused else ():
            message = f"a definition that is refused does not run: {path[-1]!r} would have no effect"
            raise validation_error(message, *path, at_key=True)
        return self

    @property
    def file(self) -> Path:
        return Path() if self._place is None else self._place.path

    @property
    def line(self) -> int:
        return 1 if self._place is None else self._place.line

    @property
    def answers(self) -> dict[str, tuple[StubAnswer, ...]]:
        """For a function: its answers, one per attempt; the last repeats."""
        return {name: script.answers for name, script in self.functions.items()}

    @property
    def events(self) -> tuple[dict[str, Any], ...]:
        """The events that are delivered when they are awaited."""
        return tuple(_without_early(event) for event in self.all_events if not event.get("early"))

    @property
    def early(self) -> tuple[dict[str, Any], ...]:
        """The events that are delivered when the run starts, whether or not they are awaited yet."""
        return tuple(_without_early(event) for event in self.all_events if event.get("early"))

    @property
    def cancels_waiting(self) -> bool:
        """Whether the run is cancelled when it waits for an event that does not come."""
        return self.cancel is True

    @property
    def cancel_after(self) -> timedelta | None:
        """The time from its start after which the run is cancelled, whatever it does then."""
        return self.cancel.after if isinstance(self.cancel, Cancellation) else None

    @property
    def is_refused(self) -> bool:
        """Whether a definition is expected to be refused, so that there is nothing to run."""
        return any(problem.file not in self.broken_files for problem in self._expected_errors)

    @property
    def broken_files(self) -> frozenset[str]:
        """The files of further definitions that are expected to have errors: the others run without them."""
        further = {self.name_of(one) for one in self.definitions if isinstance(one, Path)}
        return frozenset(problem.file for problem in self._expected_errors if problem.file in further)

    @property
    def _expected_errors(self) -> list[ExpectedProblem]:
        return [problem for problem in self.expect.problems or () if problem.severity is Severity.ERROR]

    def name_of(self, path: Path) -> str:
        """Return the name of the file at *path* in a scenario: its path relative to the scenario's folder."""
        folder = self.file.parent
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)

    def __str__(self) -> str:
        """Return the position of the scenario, and its claim."""
        return f"{self.file}:{self.line}: {self.claim}"
