"""What a scenario says: what a definition runs with, and what is claimed to come of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from swf_temporal.data import JSON
from swf_temporal.errors import Severity
from swf_temporal.text.located import Object
from swf_temporal.text.origin import Source

Status = Literal["completed", "failed", "waiting", "cancelled"]

HOSTS: Final = ("simulation", "temporal")
"""Where a scenario runs unless it says otherwise."""

_TOO_MANY = 5
"""How many starts are told beyond those that are expected."""


class _Unsaid(Enum):
    UNSAID = "unsaid"

    def __repr__(self) -> str:
        return "UNSAID"


UNSAID: Final = _Unsaid.UNSAID
"""Stands for an expectation that a scenario does not express; null is an expectation like any other."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one attempt to call a function comes to."""

    returns: JSON = None
    computes: str | None = None
    """An expression on the arguments, which yields the result."""
    raises: Mapping[str, Any] | None = None
    """The facts of the CallFailed that is raised: code, message, status, name, body, retryable, retry_after."""
    takes: timedelta = timedelta()
    """How long the function takes to answer."""


class Kind(Enum):
    """What the name of a service is, and so how it is spoken to."""

    ORIGIN = "origin"
    """Of HTTP: `https://orders.example`."""
    DOCUMENT = "document"
    """A document, or a function, that does not say itself where its service of HTTP is."""
    GRPC = "grpc"
    """The proto file that describes it."""
    BROKER = "broker"
    """The URL of a broker: `mqtt://broker.example`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a service answers, or the message that a broker has."""

    status: int | str = 200
    """Of HTTP, or the name of gRPC's."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: JSON = None
    file: Path | None = None
    """A file whose content is the body."""


@dataclass(frozen=True, slots=True)
class Service:
    """A service that functions are really called at."""

    name: str
    kind: Kind
    replies: Mapping[str, tuple[Reply, ...]] = field(default_factory=dict)
    """For a request: its answers, one each time; the last repeats. For a broker: messages by their channel."""
    folder: Path = Path()
    """Where paths begin: the scenario's folder."""
    origin: str | None = None
    """Of a document: the service of HTTP that answers for it, where that is one with a name of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A definition that stands in the file of its scenario."""

    definition: Object
    source: Source
    """The file's text, so that problems are told where they stand in the file."""


@dataclass(frozen=True, slots=True)
class ExpectedProblem:
    """What reading a definition is claimed to say. Of the other facts only those that are given are compared."""

    code: str
    severity: Severity = Severity.ERROR
    facts: Mapping[str, str | None] = field(default_factory=dict)
    """`at`, as line and column; `message`; `hint`, null for none; `file`, as its path from the scenario's folder."""

    def __str__(self) -> str:
        """Return severity and code, and the facts that are given."""
        return ", ".join([f"{self.severity} {self.code}", *(f"{key} {fact!r}" for key, fact in self.facts.items())])


ExpectedRequests: TypeAlias = tuple[Mapping[str, JSON], ...] | Mapping[str, int | tuple[Mapping[str, JSON], ...]]
"""All requests, in order. Or for some of them: how often each was made, or what each brought, in order."""


@dataclass(frozen=True, slots=True)
class ExpectedStarts:
    """When instances are claimed to be started by the schedule."""

    at: tuple[datetime, ...]
    after: datetime
    before: datetime | None = None
    """Up to this time there are no others; without it, *at* has the first ones after *after*."""

    @property
    def most(self) -> int:
        """How many starts to ask for: where *at* is to be complete some more than it has, to tell what is too much."""
        return len(self.at) + (0 if self.before is None else _TOO_MANY)


@dataclass(frozen=True, slots=True)
class Expected:
    """What is claimed of the definitions, and of a run. Only what is said is compared."""

    status: Status = "completed"
    output: JSON | _Unsaid = UNSAID
    error: Mapping[str, JSON] = field(default_factory=dict)
    """Name, code, state and action are compared as they are; the message must contain what is given."""
    produced: tuple[Mapping[str, JSON], ...] | None = None
    """The events produced, in order; of each only the fields given."""
    calls: Mapping[str, int | tuple[JSON, ...]] = field(default_factory=dict)
    """For a function: how often it was called, every attempt counted, or with which arguments, in order."""
    requests: ExpectedRequests | None = None
    """What services were asked; of each request only the fields given, of headers only those given."""
    states: tuple[str, ...] | None = None
    """The states entered, in order."""
    delays: Mapping[str, tuple[timedelta, ...]] = field(default_factory=dict)
    """For a function: the pauses before its further attempts, in order."""
    elapsed: timedelta | None = None
    """How long the run took; only where time is virtual."""
    starts: ExpectedStarts | None = None
    problems: tuple[ExpectedProblem, ...] | None = None
    """All that is said when the definitions are read, in order."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One claim about a workflow, with all that is needed to put it to the test."""

    claim: str
    file: Path
    line: int
    workflow: Path | Written
    """A file, or the definition itself."""
    expect: Expected = Expected()
    spec: tuple[str, ...] = ()
    """The sections of the specification that it is about."""
    definitions: tuple[Path | Written, ...] = ()
    """Sub-workflows, and workflows to continue as."""
    input: JSON = field(default_factory=dict)
    functions: Mapping[str, tuple[Answer, ...]] = field(default_factory=dict)
    """For a function: its answers, one per attempt; the last repeats."""
    services: tuple[Service, ...] = ()
    """What functions reach that the scenario does not answer."""
    events: tuple[dict[str, Any], ...] = ()
    """Delivered when they are awaited."""
    early: tuple[dict[str, Any], ...] = ()
    """Delivered when the run starts, whether or not they are awaited yet."""
    secrets: Mapping[str, JSON] = field(default_factory=dict)
    chance: tuple[float, ...] = ()
    """What each call's attempts are dealt, from 0 to 1; the last repeats. Where it is empty, the call's id decides."""
    cancel: bool = False
    """Whether the run is cancelled when it waits for an event that does not come."""
    hosts: tuple[str, ...] = HOSTS
    why: str = ""
    """Why it cannot run on every host."""

    @property
    def is_refused(self) -> bool:
        """Whether a definition is claimed to be refused, so that there is nothing to run."""
        return any(problem.severity is Severity.ERROR for problem in self.expect.problems or ())

    def __str__(self) -> str:
        """Return where the scenario stands, and its claim."""
        return f"{self.file}:{self.line}: {self.claim}"
