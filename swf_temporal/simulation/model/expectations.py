"""The expectations of a scenario. Only those that are given are compared."""

import re
from typing import Annotated, Any, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    StrictInt,
    Tag,
    WithJsonSchema,
    model_validator,
)

from swf_temporal.base.errors import Severity
from swf_temporal.simulation.model.part import Duration, Json, Moment, OptionalKey, ScenarioPart
from swf_temporal.simulation.result import Status
from swf_temporal.text.model_errors import WRONG_FORM, validation_error, wrong_form
from swf_temporal.text.origin import Array, Object

_MAX_UNEXPECTED = 5
"""The maximum number of unexpected starts that are listed."""
_ASKED = re.compile(r"[A-Z]+ /\S*|\w+/\w+|(SEND|RECEIVE) .*\S.*")
"""A request of HTTP, a method of gRPC, or a message."""


def _asked(value: str) -> str:
    """Refuse a request of an impossible form: the claim that it was not made would always hold."""
    if not _ASKED.fullmatch(value):
        raise validation_error(
            f"{value!r} is not a request", hint="such as GET /orders/7, Orders/Get or SEND lights/1/measured"
        )
    return value


def _form(value: Any) -> str | None:
    forms = {list: "list", tuple: "list", Array: "list", dict: "object", Object: "object", int: "number"}
    return forms.get(type(value))


def _by_form(expected: str) -> Discriminator:
    """Return a discriminator by the form of the value, so that errors are about that form alone."""
    return Discriminator(_form, custom_error_type=WRONG_FORM, custom_error_message=expected)


def _request_in_full(value: Any) -> Any:
    if not isinstance(value, str | dict):
        raise wrong_form("a text such as GET /orders/7, or an object with what to compare")
    return {"request": value} if isinstance(value, str) else value


def _is_list(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise wrong_form("a list of durations such as [PT10S, PT20S], one for each further attempt")
    return value


def _text_or_null(value: Any) -> Any:
    if not isinstance(value, str | None):
        raise wrong_form("a text, or null if it must be missing")
    return value


_TextOrNull: TypeAlias = Annotated[
    str | None, BeforeValidator(_text_or_null), WithJsonSchema({"type": ["string", "null"]})
]
_Delays: TypeAlias = Annotated[tuple[Duration, ...], BeforeValidator(_is_list)]


class ExpectedError(ScenarioPart):
    """The expected error of a run."""

    name: Json = None
    code: Json = None
    state: Json = None
    action: Json = None
    message: Json = None
    """Must be part of the actual message."""


class ExpectedRequest(ScenarioPart):
    """An expected request to a service."""

    service: OptionalKey[str] = None
    request: OptionalKey[Annotated[str, AfterValidator(_asked)]] = None
    query: OptionalKey[dict[str, Json]] = None
    headers: OptionalKey[dict[str, _TextOrNull]] = None
    """null for a header that must be missing."""
    body: Json = None


_Count: TypeAlias = Annotated[StrictInt, Tag("number")]
_Requests: TypeAlias = tuple[
    Annotated[ExpectedRequest, BeforeValidator(_request_in_full, json_schema_input_type=str | ExpectedRequest)], ...
]
_CountOrRequests: TypeAlias = Annotated[
    _Count | Annotated[_Requests, Tag("list")], _by_form("the number of requests, or a list of their contents")
]
_CountOrArguments: TypeAlias = Annotated[
    _Count | Annotated[tuple[Json, ...], Tag("list")], _by_form("the number of its calls, or a list of their arguments")
]
ExpectedRequests: TypeAlias = Annotated[
    Annotated[_Requests, Tag("list")]
    | Annotated[dict[Annotated[str, AfterValidator(_asked)], _CountOrRequests], Tag("object")],
    _by_form("a list of all requests, or an object with some of them"),
]
"""All requests, in order. Or for some of them: how often each was made, or their contents, in order."""


class ExpectedStarts(ScenarioPart):
    """The expected start times of a schedule."""

    after: Moment
    before: OptionalKey[Moment] = None
    """The end of the time in which there are no others; without it, *at* has the first ones after *after*."""
    at: tuple[Moment, ...]

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.before is None and not self.at:
            hint = "with `before`, an empty list claims that nothing is started until then"
            raise validation_error("'at' lists at least one time", "at", hint=hint)
        if self.before is not None and self.before <= self.after:
            raise validation_error("'before' is later than 'after'", "before")
        return self

    @property
    def most(self) -> int:
        """The number of starts to request: if *at* must be complete, some more than it has, to report these."""
        return len(self.at) + (0 if self.before is None else _MAX_UNEXPECTED)


class ExpectedProblem(ScenarioPart):
    """A problem that reading a definition is expected to report."""

    code: str
    severity: Severity = Severity.ERROR
    at: OptionalKey[str] = None
    """Line and column, such as 14:17."""
    message: OptionalKey[str] = None
    hint: _TextOrNull = None
    """null if there must be none."""
    file: OptionalKey[str] = None
    """Its path from the scenario's folder."""

    @model_validator(mode="after")
    def _is_place(self) -> Self:
        if self.at is not None and not re.fullmatch(r"[1-9][0-9]*:[1-9][0-9]*", self.at):
            raise validation_error("'at' is a line and a column, such as 14:17", "at")
        return self

    @property
    def facts(self) -> dict[str, _TextOrNull]:
        """The facts that are compared besides code and severity."""
        return {key: fact for key, fact in self.given.items() if key not in {"code", "severity"}}

    def __str__(self) -> str:
        """Return severity and code, and the facts that are given."""
        return ", ".join([f"{self.severity} {self.code}", *(f"{key} {fact!r}" for key, fact in self.facts.items())])


class Expected(ScenarioPart):
    """The expected problems of the definitions, and the expected outcome of a run."""

    error: ExpectedError = ExpectedError()
    status: Status = Field(
        default_factory=lambda given: "failed" if given.get("error", ExpectedError()).given else "completed"
    )
    """Unless it is given: failed if an error is expected, else completed."""
    output: Json = None
    """Compared if it is given, also if it is null."""
    produced: OptionalKey[tuple[dict[str, Json], ...]] = None
    """The events produced, in order. Only the given fields of each are compared."""
    calls: dict[str, _CountOrArguments] = Field(default_factory=dict)
    """For a function: the number of calls, including every attempt, or their arguments, in order."""
    requests: OptionalKey[ExpectedRequests] = None
    """The requests to services. Only the given fields of each, and the given headers, are compared."""
    states: OptionalKey[tuple[str, ...]] = None
    """The states entered, in order."""
    logs: OptionalKey[tuple[Json, ...]] = None
    """The values that the instance logged, in order."""
    metadata: Json = None
    """The latest metadata that the instance published about itself. Compared if it is given, also if it is null."""
    answers: dict[str, Json] = Field(default_factory=dict)
    """For an update: the last answer to it. For a query: the answer to it when the run has ended."""
    delays: dict[str, _Delays] = Field(default_factory=dict)
    """For a function: the pauses before its further attempts, in order."""
    elapsed: OptionalKey[Duration] = None
    """The duration of the run; compared only if time is virtual."""
    starts: OptionalKey[ExpectedStarts] = None
    started: OptionalKey[tuple[Json, ...]] = None
    """The inputs of the instances that the events start, in order."""
    problems: OptionalKey[tuple[ExpectedProblem, ...]] = None
    """All problems that are reported when the definitions are read, in order."""

    @property
    def says_output(self) -> bool:
        """Whether an output is expected, which may be null."""
        return "output" in self.model_fields_set
