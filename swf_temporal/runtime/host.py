"""The port `Host`: what the runtime asks of what runs it.

A host performs; it decides nothing about the language. The records here are what crosses the port. They are never
changed once they are made. Those that are made for every call are not frozen all the same, since making a frozen one
takes many times as long.

See `expressions/guarding/deferring.py`.

A run keeps the number that it began with, through continue-as-new and in its sub-workflows, however many releases come
while it runs. Where a release makes the same definition take another course, it raises `SEMANTICS`, and the code asks
the run for its number: `if run.semantics >= 2`. docs/compatibility.md says when a change needs a number.
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
from swf_temporal.runtime.retrying import AttemptsFrame, RetryRule
from swf_temporal.runtime.variables import Variable, VariableRef, VariableScope

if TYPE_CHECKING:
    import asyncio

    from swf_temporal.runtime.inbox import InboxRecord


NO_TIME: Final = timedelta()

ParentClosePolicy: TypeAlias = Literal["terminate", "abandon"]
"""What becomes of a fire-and-forget sub-workflow when its parent ends first (`onParentComplete`)."""


TimerPurpose: TypeAlias = Literal["sleep", "sleep before", "sleep after", "retry", "timeout", "waiting"]

LongWait: TypeAlias = Callable[["asyncio.Future[Any]"], Awaitable[Any]]


class TraceKind(StrEnum):
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

    `lane` names the path of execution it happened on: a state, a branch of it, an iteration. Entries of one lane
    are in order on every host; between lanes that run side by side only the times tell.
    """

    kind: TraceKind
    lane: str
    state: str
    name: str
    at: datetime
    detail: Mapping[str, Any] = field(default_factory=dict)
    """JSON: what it holds for each kind says `runtime/trace.py`."""
    is_in_branch: bool = field(default=False, compare=False)

    @property
    def enters_state(self) -> bool:
        """Whether a state was entered that is in no branch and no iteration of another one."""
        return self.kind is TraceKind.STATE_ENTERED and self.lane == self.state and not self.is_in_branch


@dataclass(slots=True)
class Timer:
    """What a timer of a run is for. A host that shows its timers makes a text of it."""

    purpose: TimerPurpose
    state: str
    """The path of the state; empty for the workflow as a whole."""
    part: str = ""
    """What of the state: an action, a branch, an iteration, or the events that it waits for."""


@dataclass(slots=True)
class SecretTemplate(Record):
    """Arguments that mention secrets. They are filled where the call is performed and never in a workflow."""

    template: JSON
    data: JSON
    variables: dict[str, JSON]
    dialect: str = ""
    """In what the expressions are written, as the language of the definition names it to itself."""


@dataclass(slots=True)
class CallAttempts(Record):
    key: str
    """What decides on the jitter of their delays."""
    end: float | None = None
    """Until when all of them have to be over, as seconds of the epoch."""
    made: AttemptsFrame = field(default_factory=AttemptsFrame)


@dataclass(slots=True)
class Attempts:
    """For a host that makes the attempts at a call one by one: a run that was suspended between two goes on there."""

    kept: CallAttempts | None
    """How far they were, if the run was suspended since."""
    keep: Callable[[CallAttempts], None]
    """Keeps this with the progress of the run, as it changes."""
    pause: Callable[[float, Timer], Awaitable[None]]
    """Waits until a moment. A suspension ends the wait, and the attempts in this execution."""


@dataclass(slots=True, kw_only=True)
class CallFacts:
    """Further facts of a call or a sub-workflow for a host, such as a priority: a new fact is added here."""

    state: str
    action: str
    priority: int | None = None
    """One of `calls.PRIORITIES`; None is that of the run."""
    long_wait: LongWait | None = field(default=None, compare=False)
    """Waits for its end, if it survives continue-as-new: a suspension, or a cancellation, ends the wait
    and not what is waited for. A run that goes on asks for the same call again, by its id. None where the run is not
    suspended before it has ended."""

    def retry_timer(self) -> Timer:
        """Return what the wait before a further attempt at it is for."""
        return Timer("retry", self.state, self.action)


@dataclass(frozen=True, slots=True)
class CallFile(Record):
    """A file that a function finds in its directory."""

    of: VariableRef
    """The variable that it is made of."""
    name: str
    form: str = ""
    """`plain`, `base64`, `tar` or `tar.gz`; nothing is plain."""


@dataclass(frozen=True, slots=True)
class CallFolder(Record):
    """The directory of a function that is given one."""

    files: tuple[CallFile, ...]
    owners: Mapping[VariableScope, str]
    """Whose the variables are that it leaves there, for each scope."""


@dataclass(slots=True)
class FunctionCall(CallFacts):
    """A function to call, with all that its performer has to know."""

    id: str
    """`<state>/<action>#<n>`, the same on every replay and never used twice in a run."""
    function: Function
    arguments: JSON
    secret_template: SecretTemplate | None = None
    timeout: timedelta | None = None
    """For the call with all its retries."""
    retry: RetryRule | None = None
    selection_set: JSON = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Those of the request that began the instance, where the call sends them along."""
    auth: tuple[Auth, ...] = ()
    """The credentials that the function refers to."""
    secrets: tuple[str, ...] = ()
    """The secrets that the workflow declares, if the call can need any."""
    local: bool | None = None
    """Whether a host that can make it on the spot is to do so; None where nothing is said."""
    fire_and_forget: bool = False
    """Invoked `async`: the run does not wait for it, and its errors are ignored."""
    folder: CallFolder | None = None
    """None for functions that are given no directory."""
    attempts: Attempts | None = field(default=None, compare=False)
    """None if it is fire-and-forget: then there is one."""
    language: str = ""
    """The name of the language that is asked about secrets and errors; none if the call has nothing to be asked."""


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
    """`onParentComplete`, which matters if it is fire-and-forget: "abandon" lets it go on after its parent."""
    thread: Mapping[str, str] = field(default_factory=dict)
    """The variables of the scope `thread` that it shares with its caller, as `InstanceIdentity` has them."""
    request: Mapping[str, JSON] = field(default_factory=dict)
    """The request that it is told of, as `InstanceIdentity` has it."""


class Host(Protocol):
    """The port through which a run reaches its host: Temporal, or a simulation."""

    def now(self) -> datetime:
        """Return the time, with its zone; the same on every replay."""

    def new_id(self) -> str:
        """Return an id that is used nowhere else; the same on every replay."""

    def emit(self, entry: TraceEntry) -> None:
        """Take note of what happened."""

    async def sleep(self, duration: timedelta, timer: Timer) -> None:
        """Wait, durably. What the *timer* is for is shown to people who look at the run."""

    async def settled(self) -> None:
        """Wait until the run has done all that it can with what has come by now: no time passes."""

    async def invoke(self, call: FunctionCall) -> JSON:
        """Perform a call with its retries. Raises CallFailed, or TimedOut when `call.timeout` has passed."""

    async def publish(self, event: CloudEvent, after: timedelta = NO_TIME) -> None:
        """Send a produced event to its destination, at once or, without waiting for that, *after* a time."""

    async def run_subflow(self, call: SubflowCall) -> JSON:
        """Run another workflow and return its output. Raises SubflowFailed, or what the sub-workflow failed with."""

    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Return what the variable holds, or None if there is none."""

    async def write_variable(self, of: VariableRef, value: Variable | None) -> None:
        """Let the variable hold *value* from now on; None takes it away."""

    @property
    def carries(self) -> int:
        """How many bytes of progress a run can carry from one execution to the next."""

    def hold(self, values: Sequence[JSON]) -> list[int]:
        """Hold *values* from one execution of the run to the next, beside its progress; return numbers for `held`.

        They are in the order of the values. None says that these are to stay in the progress.
        """

    def held(self, number: int) -> list[JSON]:
        """Return the values that `hold` gave that number to, and hold them no longer."""

    async def evaluate(self, evaluation: "Evaluation") -> "EngineAnswer":
        """Have *evaluation* made and its answer recorded, whatever it is: a replay makes it no more."""

    async def yield_control(self) -> None:
        """Let the engine take stock: many states in a row did not wait for anything."""


@dataclass(frozen=True, slots=True)
class InstanceIdentity:
    """The identity of an execution: the facts in `$WORKFLOW`, and what its caller shares with it."""

    instance_id: str
    run_id: str
    thread: Mapping[str, str] = field(default_factory=dict)
    """The variables of the scope `thread` that its caller had: by their keys, the instances that made them."""
    request: Mapping[str, JSON] = field(default_factory=dict)
    """What is known of the request that began it, or the instance above it: the memo `headers` and `identity`."""


def request_in(memo: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return what the *memo* of an instance says of the request that began it, as `InstanceIdentity` has it."""
    headers, identity = memo.get("headers"), memo.get("identity")
    return {
        **({"headers": headers} if isinstance(headers, dict) else {}),
        **({"identity": identity} if isinstance(identity, str) else {}),
    }


@dataclass(frozen=True, slots=True)
class Completed:
    """The run ended; `output` is what it gives."""

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
    """The run ended, and another execution is to take over from it."""

    workflow_id: str
    version: str | None
    data: JSON
    limit: ContinueTimeout | None = None
    inbox: "InboxRecord | None" = None
    """What came: events that were not taken are the next execution's, and it takes none of the others again."""


@dataclass(frozen=True, slots=True)
class Suspended:
    """The run was asked to stop between two steps; `progress` is all that is needed to go on."""

    progress: dict[str, JSON]


RunOutcome = Completed | ContinuedAs | Suspended


T = TypeVar("T")


async def evaluated(work: Callable[[], T], evaluate: Callable[[Evaluation], Awaitable[EngineAnswer]]) -> T:
    """Return what *work* comes to, for which *evaluate* makes what is not bounded.

    *work* is done once more after each of these evaluations: it changes nothing.
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
