"""Every error that is raised on purpose.

    SwfError
    ├── InvalidDefinition              the author's: the definition cannot run; carries every Problem found
    ├── UsageError                     the caller's: a missing or invalid file, option, server or id
    ├── NewerRecord                    the operator's: only a newer release can continue from a record
    ├── NotServed                      the operator's: a workflow was given to a worker that does not serve it
    ├── StoreUnavailable               the operator's: the store of variables does not answer at the moment
    ├── DefinitionsUnavailable         the operator's: definitions that may be needed cannot be read at the moment
    ├── PayloadUnavailable             the operator's: a payload cannot be stored, read or decrypted at the moment
    └── WorkflowFault                  a run's: what went wrong while it ran
        ├── CallFailed                 a function answered with an error, or could not be reached
        ├── TimedOut                   something took longer than the definition allows
        ├── ExpressionFailed           an expression met data it cannot work on
        ├── WrongData                  data is not of the type that a state needs
        ├── NoConditionMatched         no condition of a switch state matched, and it has no default
        ├── SchemaMismatch             input or output does not match the workflow's schema
        ├── SubflowFailed              a sub-workflow failed with its own error
        ├── TransitionRefused          the outcome of a state does not satisfy the condition of its transition
        ├── NotActive                  a run was started before or after the time in which its workflow is active
        └── FatalFault                 onErrors cannot catch it
            ├── ExpressionLimitExceeded    an expression ran too long or took too much memory
            ├── StepLimitExceeded          states form a cycle without ever waiting
            ├── TooManyWaiting             too many instances wait until fewer run
            ├── PayloadTooLarge            more data than Temporal can carry
            ├── HistoryTooLong             more events than Temporal keeps of one execution
            ├── UnknownDefinition          no definition with that id is known here
            └── UnreadableDefinition       the definition with that id cannot run

`client_errors` has those of requests about instances, which are usage errors. A constructor takes facts, and makes the
message from them.
"""

import copyreg
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
    """Nothing is wrong: useful information."""


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

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled with its facts as they are: a constructor takes others than `args` has."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]  # copyreg has it


class InvalidDefinition(SwfError):  # noqa: N818 - named for what it is about; all are errors
    """A definition that cannot run. `problems` holds everything that was found, warnings too."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UsageError(SwfError):
    """An error of the caller, who named something that does not exist or is invalid. `hint` says what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message if hint is None else f"{message}\n  {hint}")


class MissingExtra(UsageError):  # noqa: N818 - named for what it is about
    """An optional part of this package is needed, and is not installed."""

    def __init__(self, extra: str, what: str, package: str | None = None, *, otherwise: str | None = None) -> None:
        """Initialize for *what* needs the *extra*, of which *package* is missing; *otherwise* is another way out."""
        missing = ", and is not installed" if package is None else f": {package} is not installed"
        hint = f"pip install 'swf-temporal[{extra}]'"
        super().__init__(
            f"the extra '{extra}' is needed for {what}{missing}",
            hint if otherwise is None else f"{hint}, or {otherwise}",
        )

    @property
    def line(self) -> str:
        """The message and the hint in one line."""
        return f"{self.message}: {self.hint}"


class NewerRecord(SwfError):  # noqa: N818 - named for what it is about
    """A stored record that only a newer release can continue from.

    It does not fail the run: the task fails, and is retried until a worker of that release takes it.
    """

    def __init__(self, what: str, number: int, known: int) -> None:
        super().__init__(
            f"{what}, {number}, is newer than this release of swf-temporal can read (up to {known}): "
            "use the release that wrote it, or a newer one"
        )


class StoreUnavailable(SwfError):  # noqa: N818 - named for what it is about
    """The store of variables does not answer at the moment.

    It does not fail the run: the attempt fails, and is made again.
    """


class DefinitionsUnavailable(SwfError):  # noqa: N818 - as above
    """Definitions cannot be read at the moment, so it is unknown whether one is absent. Takes what cannot be read."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the definitions cannot be read at the moment: {what}")


class NotServed(SwfError):  # noqa: N818 - as above
    """A worker was given an instance of a definition, or a workflow, that it does not serve.

    It does not fail the run: the task fails, and is retried until another worker of the task queue takes it.
    """

    def __init__(self, why: str, task_queue: str) -> None:
        super().__init__(f"a worker of the task queue {task_queue!r} cannot run it, and another may: {why}")


class PayloadUnavailable(SwfError):  # noqa: N818 - as above
    """A payload cannot be stored, read, encrypted or decrypted at the moment. `hint` says what to do.

    It does not fail the run: the task or attempt fails, and is retried until the operator has solved the problem.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message if hint is None else f"{message}\n  {hint}")


class WorkflowFault(SwfError):  # noqa: N818 - a fault of the run, in the specification's sense of error
    """An error of a run.

    An `onErrors` entry matches a fault by its `name` or its `code`. `status` and `body` are those of a service's
    answer. The place where it happened is added on the way up: `state`, `action`, `branch`, `attempt`.
    """

    catchable: ClassVar[bool] = True
    frames: str = ""
    """The traceback if the user's Python code raised it: files, lines and their text, without data of the run."""
    default_name: ClassVar[str] = "WorkflowFault"
    """Default name: the class's, or that of the class here that it is derived from."""

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
        """False if a retry cannot help, whatever the definition says."""
        self.retry_after = retry_after
        """The number of seconds that a service asks to wait before the next attempt."""
        self.cause = cause
        self.origin = origin
        """For a failed sub-workflow: how many `levels` down, in which `workflow`, and the `message` there."""

    def to_json(self) -> dict[str, Any]:
        """Return the facts as plain JSON, to pass the fault across a process boundary.

        They are stored in histories: every release reads them, ignores facts that it does not know, and reads a kind
        that it does not know as a plain WorkflowFault.
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
    """Return the fault of a call that no retry can solve: the definition or its data must change."""
    return CallFailed(message, code=code, retryable=False)


class TimedOut(WorkflowFault):
    """A call, a state or a workflow took longer than the definition allows."""

    is_of_action: bool = False
    """Whether it was the action's own timeout."""


class ExpressionFailed(WorkflowFault):
    """An expression met data that it cannot work on."""


class WrongData(WorkflowFault):
    """Data is not of the type that a state needs, such as a foreach over something that is not an array."""


class NoConditionMatched(WorkflowFault):
    """No condition of a switch state holds, and it has no default."""


class SchemaMismatch(WorkflowFault):
    """A workflow's input or output does not match the schema that it declares."""


class SubflowFailed(WorkflowFault):
    """A sub-workflow failed; name and code are those of its fault."""


class TransitionRefused(WorkflowFault):
    """The condition of a transition does not hold for the outcome of a state."""


class NotActive(WorkflowFault):
    """A run was started before or after the time in which its workflow is active."""


class FatalFault(WorkflowFault):
    """A fault that no onErrors entry can catch: continuing would not be deterministic, or not possible."""

    catchable = False


class ExpressionLimitExceeded(FatalFault):
    """An expression exceeded its limit of time or memory."""


def unforeseen(error: Exception, state: str | None) -> FatalFault:
    """Return the fault of a run in which its definition or data caused an unexpected *error*."""
    if isinstance(error, RecursionError):
        return FatalFault("the data is nested too deeply to be worked on", name="NestedTooDeeply", state=state)
    return FatalFault(f"{type(error).__name__}: {error} (a bug in swf-temporal)", name="InternalError", state=state)


class StepLimitExceeded(FatalFault):
    """States form a cycle without ever waiting for anything."""


class TooManySubflows(FatalFault):
    """One instance would have too many sub-workflows in progress. It fails on all levels.

    If one level could catch this and continue, all the others would, and there would be no end.
    """


class TooManyWaiting(FatalFault):
    """The limit of instances that may wait for a place is reached."""


class PayloadTooLarge(FatalFault):
    """A value is larger than Temporal can carry."""


class HistoryTooLong(FatalFault):
    """A run can neither stay in its execution, which the server is about to end, nor continue in another."""


class UnknownDefinition(FatalFault):
    """No definition with that id, or that version, is known here."""


class UnreadableDefinition(FatalFault):
    """The definition with that id exists, but cannot run."""


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
        found = [
            each for each in (*members, one.__cause__ or one.__context__) if each is not None and id(each) not in seen
        ]
        seen.update(map(id, found))
        waiting.extend(reversed(found))
        yield from found
