"""Every error that is raised on purpose.

    SwfError
    ├── InvalidDefinition              the author's: the definition cannot run; carries every Problem found
    ├── UsageError                     the caller's: a file, an option, a server, an id that is not there
    ├── NewerRecord                    the operator's: a newer release wrote what this one cannot go on with
    ├── NotServed                      the operator's: a workflow was given to a worker that does not serve it
    ├── StoreUnavailable               the operator's: what holds variables does not answer at the moment
    ├── DefinitionsUnavailable         the operator's: definitions cannot be read at the moment, and one may be needed
    ├── PayloadUnavailable             the operator's: a payload cannot be stored, read or decrypted at the moment
    └── WorkflowFault                  a run's: what went wrong while it ran
        ├── CallFailed                 a function answered with an error, or could not be reached
        ├── TimedOut                   something took longer than the definition allows
        ├── ExpressionFailed           an expression met data it cannot work on
        ├── WrongData                  data is not of the kind that a state needs
        ├── NoConditionMatched         a switch state without a default, and nothing matched
        ├── SchemaMismatch             input or output does not fit the workflow's schema
        ├── SubflowFailed              a sub-workflow failed with an error of its own
        ├── TransitionRefused          what a state came to is not what its transition asks for
        ├── NotActive                  a run was started before or after the time in which its workflow is active
        └── FatalFault                 what onErrors may not catch
            ├── ExpressionLimitExceeded    an expression ran too long or took too much memory
            ├── StepLimitExceeded          states form a cycle without ever waiting
            ├── TooManyWaiting             too many instances wait until fewer run
            ├── PayloadTooLarge            more data than the engine can carry
            ├── HistoryTooLong             more events than the engine keeps of one execution
            ├── UnknownDefinition          no definition of that id is known here
            └── UnreadableDefinition       the definition of that id cannot run

`client_errors` has those of requests about instances, which are usage errors. A constructor takes facts; the text that
a person reads is made from them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

JSON = Any
_MAX_SHOWN = 100  # characters of a line


class Severity(StrEnum):
    """The severity of a problem: an error prevents a definition from running."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    """Nothing is wrong: a fact that is worth knowing."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text. Lines and columns count from one."""

    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a definition: what is wrong, where, and what to do about it."""

    code: str
    message: str
    position: Position = field(default_factory=Position)
    severity: Severity = Severity.ERROR
    hint: str | None = None
    file: str = "<definition>"
    line: str = ""
    """The offending line of the text, shown with a caret."""

    def __str__(self) -> str:
        """Return `file:line:column  severity  code  message`, the line, and a caret with the hint."""
        where = f"{self.file}:{self.position.line}:{self.position.column}"
        text = f"{where}  {self.severity}  {self.code}  {self.message}"
        if self.line.strip():
            shown, column = _visible(self.line, self.position.column)
            caret = " " * (column - 1) + "^"
            text += f"\n    {shown}\n    {caret}{' ' + self.hint if self.hint else ''}"
        elif self.hint:
            text += f"\n    {self.hint}"
        return text


def _visible(line: str, column: int) -> tuple[str, int]:
    """Return the part of a line around *column*, without its indentation, and the column within it."""
    line = line.rstrip().replace("\t", " ")
    start = len(line) - len(line.lstrip())
    if column - start > _MAX_SHOWN:
        start = column - _MAX_SHOWN // 2
    return line[start : start + _MAX_SHOWN], max(1, column - start)


class SwfError(Exception):
    """The root of every error that this package raises on purpose."""


class InvalidDefinition(SwfError):  # noqa: N818 - named for what it is about; all are errors
    """A definition that cannot run. `problems` holds everything that was found, warnings too."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UsageError(SwfError):
    """An error of the caller, who named something that does not exist or has the wrong kind. `hint` says what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message if hint is None else f"{message}\n  {hint}")


class NewerRecord(SwfError):  # noqa: N818 - named for what it is about
    """A stored record that only a newer release can go on with.

    It fails no run: the task that met it fails, and is tried again until a worker of that release takes it.
    """

    def __init__(self, what: str, number: int, known: int) -> None:
        super().__init__(
            f"{what}, {number}, is newer than this release of swf-temporal knows, which is {known}: "
            "it takes the release that wrote it, or a newer one"
        )


class StoreUnavailable(SwfError):  # noqa: N818 - named for what it is about
    """The store of variables does not answer at the moment.

    It fails no run: the attempt that met it fails, and is made again.
    """


class DefinitionsUnavailable(SwfError):  # noqa: N818 - as above
    """Definitions cannot be read at the moment, so that it is not known whether one is absent. Takes what cannot be."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the definitions cannot be read at the moment: {what}")


class NotServed(SwfError):  # noqa: N818 - as above
    """A worker was given an instance of a definition, or a workflow, that it does not serve.

    It fails no run: the task fails, and is tried again until a worker of the task queue takes it that does.
    """

    def __init__(self, why: str, task_queue: str) -> None:
        super().__init__(f"a worker of the task queue {task_queue!r} cannot run it, and another may: {why}")


class PayloadUnavailable(SwfError):  # noqa: N818 - as above
    """A payload cannot be stored, read, encrypted or decrypted at the moment. `hint` says what to do.

    It fails no run: the task or the attempt that met it fails, and is tried again until the operator has mended it.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message if hint is None else f"{message}\n  {hint}")


class WorkflowFault(SwfError):  # noqa: N818 - a fault of the run, in the specification's sense of error
    """An error of a run.

    An `onErrors` entry matches a fault by its `name` or its `code`. `status` and `body` are those of a service's
    answer. Where it happened is filled in on the way up: `state`, `action`, `branch`, `attempt`.
    """

    catchable: ClassVar[bool] = True
    frames: str = ""
    """Where Python code of the user raised it: files, lines and their text, and so none of the data of a run."""
    default_name: ClassVar[str] = "WorkflowFault"
    """Its name where it is given none: that of its class, or of the class here that it is derived from."""

    def __init_subclass__(cls) -> None:
        if cls.__module__ == __name__:
            cls.default_name = cls.__name__

    def __init__(  # noqa: PLR0913 - one record of facts, all optional
        self,
        message: str = "",
        *,
        code: str | int | None = None,
        name: str | None = None,
        status: int | None = None,
        body: JSON = None,
        state: str | None = None,
        action: str | None = None,
        branch: str | None = None,
        attempt: int | None = None,
        function: str | None = None,
        retryable: bool = True,
        retry_after: float | None = None,
        cause: str | None = None,
        origin: dict[str, JSON] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.name = name or self.default_name
        self.code = str(code) if code is not None else self.name
        self.status = status
        self.body = body
        self.state = state
        self.action = action
        self.branch = branch
        self.attempt = attempt
        self.function = function
        self.retryable = retryable
        """False where trying again cannot help, whatever the definition says."""
        self.retry_after = retry_after
        """How many seconds a service wants to be left alone before it is asked again."""
        self.cause = cause
        self.origin = origin
        """Of a sub-workflow that failed: how many `levels` down, in which `workflow`, and the `message` there."""

    def to_json(self) -> dict[str, Any]:
        """Return the facts as plain JSON, to carry the fault across a process boundary.

        They stand in histories: every release reads them, passes over those that it does not know, and takes a kind
        that it does not know for a plain WorkflowFault.
        """
        facts = {"kind": type(self).__name__, **{key: getattr(self, key) for key in _FACTS}}
        return {key: value for key, value in facts.items() if value is not None}

    @staticmethod
    def from_json(facts: dict[str, Any]) -> "WorkflowFault":
        """Return the fault that `to_json` described."""
        known = {key: value for key, value in facts.items() if key in _FACTS and key != "message"}
        kind = _KINDS.get(facts.get("kind", ""), WorkflowFault)
        return kind(str(facts.get("message", "")), **known)


_FACTS = (
    "message", "name", "code", "status", "body", "state", "action", "branch", "attempt", "function",
    "retryable", "retry_after", "cause", "origin",
)  # fmt: skip


class CallFailed(WorkflowFault):
    """A function answered with an error, or could not be reached."""


def permanent_failure(code: str, message: str) -> CallFailed:
    """Return the fault of a call that no repetition can mend: the definition or its data must change."""
    return CallFailed(message, code=code, retryable=False)


class TimedOut(WorkflowFault):
    """A call, a state or a workflow took longer than the definition allows."""

    is_of_action: bool = False
    """Whether the action has a timeout of its own that was over."""


class ExpressionFailed(WorkflowFault):
    """An expression met data that it cannot work on."""


class WrongData(WorkflowFault):
    """Data is not of the kind that a state needs, such as a foreach over something that is not an array."""


class NoConditionMatched(WorkflowFault):
    """None of a switch state's conditions holds, and it has no default."""


class SchemaMismatch(WorkflowFault):
    """A workflow's input or output does not fit the schema that it declares."""


class SubflowFailed(WorkflowFault):
    """A sub-workflow failed; name, code and message are those of its own fault."""


class TransitionRefused(WorkflowFault):
    """The condition of a transition does not hold for the outcome of a state."""


class NotActive(WorkflowFault):
    """A run was started before or after the time in which its workflow is active."""


class FatalFault(WorkflowFault):
    """A fault that no onErrors entry may catch: going on would not be deterministic, or not possible."""

    catchable = False


class ExpressionLimitExceeded(FatalFault):
    """An expression ran longer, or took more memory, than an expression may."""


def unforeseen(error: Exception, state: str | None) -> FatalFault:
    """Return what a run fails with where *error* came of its definition or data, and nothing here foresaw it."""
    if isinstance(error, RecursionError):
        return FatalFault("the data is nested too deeply to be worked on", name="NestedTooDeeply", state=state)
    return FatalFault(f"{type(error).__name__}: {error} (a bug in swf-temporal)", name="InternalError", state=state)


class StepLimitExceeded(FatalFault):
    """States form a cycle without ever waiting for anything."""


class TooManySubflows(FatalFault):
    """More sub-workflows would be in progress beneath one instance than may be. All of its levels fail with it.

    If one level could go on without what failed, all the others would, and there would be no end.
    """


class TooManyWaiting(FatalFault):
    """So many instances wait for a place already that no further one may."""


class PayloadTooLarge(FatalFault):
    """A value is larger than the engine can carry."""


class HistoryTooLong(FatalFault):
    """A run can neither stay in its execution, which the server is about to end, nor go on in another."""


class UnknownDefinition(FatalFault):
    """No definition of that id, or of that version, is known here."""


class UnreadableDefinition(FatalFault):
    """The definition of that id is there, and cannot run."""


_KINDS: dict[str, type[WorkflowFault]] = {
    kind.__name__: kind
    for kind in (
        CallFailed, TimedOut, ExpressionFailed, WrongData, NoConditionMatched, SchemaMismatch, SubflowFailed,
        TransitionRefused, NotActive,
        FatalFault, ExpressionLimitExceeded, StepLimitExceeded,
        TooManySubflows, TooManyWaiting, PayloadTooLarge, HistoryTooLong,
        UnknownDefinition, UnreadableDefinition,
    )
}  # fmt: skip


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the causes of *error*, each once; connecting to a name with several addresses fails as a group."""
    waiting, seen = [error], {id(error)}
    while waiting:
        one = waiting.pop()
        members = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        beneath = [
            each for each in (*members, one.__cause__ or one.__context__) if each is not None and id(each) not in seen
        ]
        seen.update(map(id, beneath))
        waiting.extend(reversed(beneath))
        yield from beneath
