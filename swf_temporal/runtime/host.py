"""The port `Host`: what the runtime requires of the environment that runs it.

A host performs; it decides nothing about the language. The records here are what crosses the port. They are never
changed once they are made. Still, those that are made for every call are not frozen, since making a frozen one takes
many times as long.

How evaluations are deferred to the host: see `expressions/guarding/deferring.py`.

A run keeps the semantics number that it began with, through continue-as-new and in its sub-workflows, whatever releases
come while it runs. A release that changes the course of existing definitions raises `SEMANTICS`, and the code checks
the number of the run: `if run.semantics >= 2`. docs/compatibility.md says when a change needs a number.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, TypeVar

from swf_temporal.base.calls import Auth, Function
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record
from swf_temporal.expressions.guarding.deferring import Deferred, Evaluation, answering
from swf_temporal.expressions.guarding.helper import EngineAnswer
from swf_temporal.runtime.retrying import AttemptsFrame, JitterSource, RetryRule
from swf_temporal.runtime.variables import Variable, VariableRef, VariableScope

if TYPE_CHECKING:
    import asyncio

    from swf_temporal.runtime.inbox import InboxRecord


NO_TIME: Final = timedelta()

ParentClosePolicy: TypeAlias = Literal["terminate", "abandon"]
"""The fate of a fire-and-forget sub-workflow when its parent ends first (`onParentComplete`)."""


TimerPurpose: TypeAlias = Literal["sleep", "sleep before", "sleep after", "retry", "timeout", "waiting"]

LongWait: TypeAlias = Callable[["asyncio.Future[Any]"], Awaitable[Any]]


class TraceKind(StrEnum):
    """The kinds of entries of a trace."""

    STATE_ENTERED = "state-entered"
    STATE_LEFT = "state-left"
    STATE_RETRIED = "state-retried"
    DATA_CHANGED = "data-changed"
    NOT_ACTIVE = "not-active"
    ACTION_STARTED = "action-started"
    ACTION_COMPLETED = "action-completed"
    ACTION_SKIPPED = "action-skipped"
    ACTION_RETRIED = "action-retried"
    ACTION_FAILED = "action-failed"
    EVENT_AWAITED = "event-awaited"
    EVENT_TAKEN = "event-taken"
    EVENT_TIMED_OUT = "event-timed-out"
    EVENT_GIVEN_BACK = "event-given-back"
    EVENT_REFUSED = "event-refused"
    EVENT_ANSWERED = "event-answered"
    EVENT_PRODUCED = "event-produced"
    SLEEPING = "sleeping"
    ERROR_CAUGHT = "error-caught"
    SEVERAL_OUTPUTS = "several-outputs"
    SCHEMA_MISMATCH = "schema-mismatch"
    COMPENSATING = "compensating"
    LOGGED = "logged"
    METADATA_SET = "metadata-set"
    PLACE_AWAITED = "place-awaited"
    WORKFLOW_STARTED = "workflow-started"
    WORKFLOW_TIMED_OUT = "workflow-timed-out"
    WORKFLOW_COMPLETED = "workflow-completed"
    WORKFLOW_CONTINUED = "workflow-continued"
    WORKFLOW_FAILED = "workflow-failed"


@dataclass(slots=True)
class TraceEntry:
    """One thing that happened in a run.

    Entries of one path of execution, such as a state, a branch or an iteration, are in order on every host; those of
    parallel paths are ordered by their times alone.
    """

    kind: TraceKind
    lane: str
    """The path of execution on which it happened."""
    state: str
    name: str
    at: datetime
    detail: Mapping[str, Any] = field(default_factory=dict)
    """JSON; `runtime/trace.py` has its type for each kind."""
    is_in_branch: bool = field(default=False, compare=False)
    data: JSON = field(default=None, compare=False, repr=False)
    """The data that a state was entered with, or has yielded. Observers see it; hosts do not keep it."""

    @property
    def enters_state(self) -> bool:
        """True if a state was entered that is not in a branch or an iteration of another one."""
        return self.kind is TraceKind.STATE_ENTERED and self.lane == self.state and not self.is_in_branch


@dataclass(slots=True)
class Timer:
    """The purpose of a timer of a run. A host that shows its timers makes a text of it."""

    purpose: TimerPurpose
    state: str
    """The path of the state; empty for the workflow as a whole."""
    part: str = ""
    """The part of the state: an action, a branch, an iteration, or the events that it waits for."""


@dataclass(slots=True)
class SecretTemplate(Record):
    """Arguments that mention secrets. These are inserted where the call is performed, never in a workflow."""

    template: JSON
    data: JSON
    variables: dict[str, JSON]
    dialect: str = ""
    """The expression language, by the name that the language of the definition has for it."""


@dataclass(slots=True)
class CallAttempts(Record):
    key: str
    """Determines the jitter of their delays."""
    end: float | None = None
    """The deadline of all of them, in seconds since the epoch."""
    made: AttemptsFrame = field(default_factory=AttemptsFrame)


@dataclass(slots=True)
class Attempts:
    """The progress of attempts, for a host that makes them one by one: a run suspended between two resumes there."""

    kept: CallAttempts | None
    """Their progress before the run was suspended, if it was."""
    keep: Callable[[CallAttempts], None]
    """Keeps this with the progress of the run, as it changes."""
    pause: Callable[[float, Timer], Awaitable[None]]
    """Waits until a moment. A suspension ends the wait and the attempts in this execution."""


@dataclass(slots=True, kw_only=True)
class CallFacts:
    """Further facts of a call or a sub-workflow for a host, such as a priority. New facts are added here."""

    state: str
    action: str
    priority: int | None = None
    """One of `calls.PRIORITIES`; None means the run's priority."""
    long_wait: LongWait | None = field(default=None, compare=False)
    """Waits for the end of a call that may outlast an execution of the run: a suspension or a cancellation ends the
    wait, not the call. The run requests the same call again, by its id, when it resumes. None if the run is not
    suspended before the call has ended."""

    def retry_timer(self) -> Timer:
        """Return the purpose of the wait before a further attempt at it."""
        return Timer("retry", self.state, self.action)


@dataclass(frozen=True, slots=True)
class CallFile(Record):
    """A file that a function finds in its directory."""

    of: VariableRef
    """The variable that it is made from."""
    name: str
    form: str = ""
    """`plain`, `base64`, `tar` or `tar.gz`; empty means plain."""


@dataclass(frozen=True, slots=True)
class CallFolder(Record):
    """The directory that a function is given."""

    files: tuple[CallFile, ...]
    owners: Mapping[VariableScope, str]
    """The owner of the variables that it leaves there, for each scope."""


@dataclass(slots=True)
class FunctionCall(CallFacts):
    """A function to call, with all that its performer has to know."""

    id: str
    """`<state>/<action>#<n>`, the same on every replay and never used twice in a run."""
    function: Function
    arguments: JSON
    secret_template: SecretTemplate | None = None
    timeout: timedelta | None = None
    """The timeout of the call with all its retries."""
    retry: RetryRule | None = None
    selection_set: JSON = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers of the request that started the instance, if the call passes them on."""
    auth: tuple[Auth, ...] = ()
    """The credentials that the function refers to."""
    secrets: tuple[str, ...] = ()
    """The secrets that the workflow declares, if the call can need any."""
    local: bool | None = None
    """Whether to make it as a local call, if the host can; None if the definition does not say."""
    fire_and_forget: bool = False
    """Invoked `async`: the run does not wait for it, and its errors are ignored."""
    folder: CallFolder | None = None
    """None for functions that are given no directory."""
    attempts: Attempts | None = field(default=None, compare=False)
    """None if it is fire-and-forget: then there is only one attempt."""
    language: str = ""
    """The name of the language that answers questions about secrets and errors; empty if the call has none."""


@dataclass(slots=True)
class SubflowCall(CallFacts):
    id: str
    workflow_id: str
    version: str | None
    data: JSON
    timeout: timedelta | None = None
    fire_and_forget: bool = False
    """Invoked `async`."""
    parent_close_policy: ParentClosePolicy = "terminate"
    """`onParentComplete`, which matters if it is fire-and-forget: with "abandon" it outlives its parent."""
    thread: Mapping[str, str] = field(default_factory=dict)
    """The variables of the scope `thread` that it shares with its caller, as `InstanceIdentity` has them."""
    request: Mapping[str, JSON] = field(default_factory=dict)
    """The request that started the instance, as `InstanceIdentity` has it."""
    variables: Mapping[str, JSON] = field(default_factory=dict)
    """The variables of iterations, as `InstanceIdentity` has them."""


class Host(Protocol):
    """The port through which a run reaches its host: Temporal, or a simulation."""

    def now(self) -> datetime:
        """Return the time, with its zone; the same on every replay."""

    def new_id(self) -> str:
        """Return a unique id; the same on every replay."""

    def emit(self, entry: TraceEntry) -> None:
        """Record what happened."""

    async def sleep(self, duration: timedelta, timer: Timer) -> None:
        """Wait, durably. The purpose of the *timer* is shown to people who view the run."""

    async def settled(self) -> None:
        """Wait until the run has processed everything that has arrived by now: no time passes."""

    async def invoke(self, call: FunctionCall) -> JSON:
        """Perform a call with its retries. Raises CallFailed, or TimedOut when `call.timeout` has passed."""

    async def publish(self, event: CloudEvent, after: timedelta = NO_TIME) -> None:
        """Send a produced event to its destination, at once or, without waiting for that, *after* a time."""

    async def run_subflow(self, call: SubflowCall) -> JSON:
        """Run another workflow and return its output. Raises SubflowFailed, or what the sub-workflow failed with."""

    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Return the value of the variable, or None if it is not set."""

    async def write_variable(self, of: VariableRef, value: Variable | None) -> None:
        """Set the variable to *value*; None deletes it."""

    @property
    def carries(self) -> int:
        """How many bytes of progress a run can carry from one execution to the next."""

    def hold(self, values: Sequence[JSON]) -> list[int]:
        """Hold *values* from one execution of the run to the next, beside its progress; return numbers for `held`.

        The numbers are in the order of the values. None says that a value has to stay in the progress.
        """

    def held(self, number: int) -> list[JSON]:
        """Return the values for which `hold` returned that number, and release them."""

    async def evaluate(self, evaluation: "Evaluation") -> "EngineAnswer":
        """Make *evaluation* and record its answer, whatever it is: a replay does not make it again."""

    async def environment(self) -> Mapping[str, str]:
        """Return the variables of the environment that the operator lets definitions see; the same on every replay."""

    def jitter(self, key: str) -> JitterSource:
        """Return the jitter of the attempts that are known by *key*, for languages that retry more than calls."""

    async def yield_control(self) -> None:
        """Yield control to the host: many states in a row did not wait for anything."""


@dataclass(frozen=True, slots=True)
class InstanceIdentity:
    """The identity of an execution: the facts in `$WORKFLOW`, and what its caller shares with it."""

    instance_id: str
    run_id: str
    thread: Mapping[str, str] = field(default_factory=dict)
    """The variables of the scope `thread` that its caller had: by their keys, the instances that made them."""
    request: Mapping[str, JSON] = field(default_factory=dict)
    """Facts of the request that started it, or its outermost instance: the memo `headers` and `identity`."""
    variables: Mapping[str, JSON] = field(default_factory=dict)
    """The variables of the iterations of its callers, if their language shares them."""


def request_in(memo: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the facts of the request that started an instance, from its *memo*, as `InstanceIdentity` has them."""
    headers, identity = memo.get("headers"), memo.get("identity")
    return {
        **({"headers": headers} if isinstance(headers, dict) else {}),
        **({"identity": identity} if isinstance(identity, str) else {}),
    }


@dataclass(frozen=True, slots=True)
class Completed:
    """The run ended with this output."""

    output: JSON


@dataclass(slots=True)
class ContinueTimeout(Record):
    """The timeout of a continued execution, which replaces that of its workflow."""

    seconds: float
    interrupt: bool = True
    run_before: str | None = None
    """The state to run when the time is over."""


@dataclass(frozen=True, slots=True)
class ContinuedAs:
    """The run ended, and another execution takes over from it."""

    workflow_id: str
    version: str | None
    data: JSON
    limit: ContinueTimeout | None = None
    inbox: "InboxRecord | None" = None
    """The events that arrived: the next execution gets those not taken, and drops the others as duplicates."""


@dataclass(frozen=True, slots=True)
class Suspended:
    """The run was asked to stop between two steps; `progress` is all that is needed to continue."""

    progress: dict[str, JSON]


RunOutcome = Completed | ContinuedAs | Suspended


T = TypeVar("T")


async def evaluated(work: Callable[[], T], evaluate: Callable[[Evaluation], Awaitable[EngineAnswer]]) -> T:
    """Return the result of *work*; *evaluate* makes those of its evaluations that are not bounded.

    *work* is called once more after each of them, so it must have no side effects.
    """
    try:
        return work()
    except Deferred as deferred:
        needed = deferred.evaluation
    answers: dict[Evaluation, EngineAnswer] = {}
    while True:
        answers[needed] = await evaluate(needed)
        with answering(answers):
            try:
                return work()
            except Deferred as deferred:
                needed = deferred.evaluation


SEMANTICS: Final = 1
"""The number that new runs begin with."""
