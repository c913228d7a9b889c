"""A path of execution: its position, its variables, its progress.

A lane is one path through an instance: a state, a branch of it, an iteration. States and actions use the execution
through their lane: for evaluating, waiting and tracing. `frame` is the lane's part of the progress record: written as
the lane runs, read when a suspended instance resumes.
"""

from collections.abc import Coroutine, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

from typing_extensions import TypeVar as DefaultTypeVar

from swf_temporal.base.data import JSON, Merger, Path
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import ExpressionFailed, TimedOut, WorkflowFault, WrongData
from swf_temporal.base.records import Record
from swf_temporal.expressions.compiled import EvaluationOutcome, Several, is_narrowly_true, is_true
from swf_temporal.expressions.evaluation import NOTHING, Compiled
from swf_temporal.expressions.guarding.deferring import Deferred
from swf_temporal.languages.serverless_workflow.execution.active_window import is_active
from swf_temporal.languages.serverless_workflow.execution.frames import InstanceFrame, PartFrame, WalkFrame
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.lanes import LaneBase
from swf_temporal.runtime.run import Run

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.execution.compensation import CompensationLog
    from swf_temporal.languages.serverless_workflow.execution.program import Program, Scope
    from swf_temporal.languages.serverless_workflow.execution.step import Ended
    from swf_temporal.languages.serverless_workflow.model.states import State
    from swf_temporal.runtime.correlation import CorrelationKeys

T = TypeVar("T")
F_co = DefaultTypeVar("F_co", bound=Record, covariant=True, default=Record)
G = TypeVar("G", bound=Record)


class Lane(LaneBase, Generic[F_co]):
    """One path of execution within an instance. Code that takes a plain `Lane` does not use its frame."""

    __slots__ = ("execution", "frame", "program", "scope", "state", "variables")

    def __init__(
        self,
        execution: "ExecutionPort",
        state: "State",
        frame: F_co,
        variables: dict[str, JSON],
        path: str,
        scope: "Scope",
        branch: str | None = None,
    ) -> None:
        super().__init__(execution.run, scope.path_of(state.name), path, branch)
        self.execution = execution
        self.program = execution.program
        """The definition, prepared."""
        self.scope = scope
        """The states that the state's transitions may lead to."""
        self.state = state
        self.frame = frame
        self.variables = variables

    async def run_scope(self: "Lane[PartFrame]", path: str, data: JSON) -> JSON:
        """Run the states of the part at *path* on *data* within this lane, and return their output.

        If their start is not active now, nothing runs and the output is *data*.
        Raises Terminated if one of them ends the whole instance.
        """
        scope = self.program.scopes[path]
        frame = self.frame
        if frame.walk is None:
            if not is_active(scope.window, self.run.host.now()):
                self.emit(TraceKind.NOT_ACTIVE, path, interval=scope.window)
                return data
            frame.walk = WalkFrame(scope.start, data)
        ended = await self.execution.walk(frame.walk, scope, self)
        if ended.end.terminate:
            raise self.execution.terminated(ended)
        return ended.data

    def child(
        self, frame: G, path: str, *, branch: str | None = None, variables: dict[str, JSON] | None = None
    ) -> "Lane[G]":
        """Return a lane inside this one, whose frame is *frame*."""
        own = {**self.variables, **variables} if variables else self.variables
        return Lane(self.execution, self.state, frame, own, path, self.scope, branch or self.branch)

    @property
    def correlation(self) -> "CorrelationKeys":
        """The attributes by which the instance recognizes its events."""
        return self.execution.correlation

    @property
    def is_starting(self) -> bool:
        """Whether the instance, or a round of one that is kept active, starts in this state without a transition."""
        return not self.scope.path and self.execution.is_starting(self.state)

    # Evaluating

    async def evaluate(self, compiled: Compiled, data: JSON) -> Any:
        """Return the value of a compiled expression; NOTHING if it yields nothing."""
        value = await self._outcome(compiled, data)
        return list(value) if isinstance(value, Several) else value

    async def elements(self, compiled: Compiled, data: JSON) -> Any:
        """Evaluate like `evaluate` where several outputs are as usual as one: the trace does not report them."""
        value = await self._outcome(compiled, data, notes_several=False)
        return list(value) if isinstance(value, Several) else value

    async def _outcome(self, compiled: Compiled, data: JSON, *, notes_several: bool = True) -> EvaluationOutcome:
        self.run.pacing.charge()
        try:
            value = compiled(data, self.variables)
        except Deferred:
            value = await self._evaluated(compiled, data)
        except WorkflowFault as fault:
            raise self.locate(fault) from None
        if notes_several and isinstance(value, Several):
            self.emit(TraceKind.SEVERAL_OUTPUTS, self.state_path, count=len(value))
        return value

    async def _evaluated(self, compiled: Compiled, data: JSON) -> EvaluationOutcome:
        try:
            return await self.run.evaluated(lambda: compiled(data, self.variables))
        except WorkflowFault as fault:
            raise self.locate(fault) from None

    async def holds(self, condition: JSON, data: JSON) -> bool:
        """Return True if *condition* holds: any value but false and null does, and a JSONPath that finds something.

        Several values hold if all of them do. Raises ExpressionFailed if only some do.
        """
        value = await self._outcome(self.program.expressions.condition(condition), data)
        truth = is_narrowly_true if self.program.workflow.language_version.narrow_truths else is_true
        if not isinstance(value, Several):
            return truth(value)
        truths = {truth(one) for one in value}
        if len(truths) > 1:
            message = f"the condition {condition!r} is true and false: it yields {len(value)} values"
            raise self.locate(ExpressionFailed(f"{message}; `any` or `all` makes one of them"))
        return truths == {True}

    async def filtered(self, expression: JSON, data: JSON) -> JSON:
        """Return what a state's filter selects of *data*; all of it if the filter selects nothing."""
        value = await self.selected(expression, data)
        return data if value is None else value

    async def selected(self, expression: JSON, data: JSON) -> JSON:
        """Return what a filter selects of *data*; null if it selects nothing, all of it if there is no filter."""
        if expression is None:
            return data
        value = await self.evaluate(self.program.expressions.expression(expression), data)
        return None if value is NOTHING else value

    async def fill(self, template: JSON, data: JSON) -> JSON:
        """Return *template* with the expressions in it replaced by their values."""
        if template is None:  # the most frequent case
            self.run.pacing.charge()
            return None
        value = await self.evaluate(self.program.expressions.template(template), data)
        return None if value is NOTHING else value

    async def target(self, expression: str, data: JSON) -> list[str | int]:
        """Return the path to the element that *expression* names."""
        try:
            compiled = self.program.expressions.target(expression)
            return await self.run.evaluated(lambda: compiled(data, self.variables))
        except WorkflowFault as fault:
            raise self.locate(fault) from None

    async def duration(self, text: str, data: JSON) -> timedelta:
        """Return the duration that *text* describes, which may be an expression."""
        if "${" in text:
            value = await self.fill(text, data)
            text = f"PT{value}S" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
        try:
            length = parse_duration(text)
        except (ValueError, OverflowError) as error:
            raise self.locate(WrongData(str(error))) from None
        if length < timedelta():
            raise self.locate(WrongData(f"{text!r} is a negative duration"))
        return length

    def merged_at(self, path: Path, value: JSON, data: JSON) -> JSON:
        """Return *data* with *value* merged into the element at *path* (section "Data Merging")."""
        merger = Merger(data)
        self.merge_at(path, value, merger)
        return merger.data

    def merge_at(self, path: Path, value: JSON, merger: Merger) -> None:
        """Let *merger* merge *value* into the element at *path*. Raises WrongData if that is impossible."""
        try:
            merger.merge_at(path, value)
        except IndexError:
            message = f"nothing can be merged into {list(path)}: the element does not exist"
            raise self.locate(WrongData(message)) from None
        except TypeError as error:
            raise self.locate(WrongData(f"nothing can be merged into {list(path)}: {error}")) from None

    # Waiting

    @overload
    async def deadline(self, kept: float | None, text: str, data: JSON) -> float: ...
    @overload
    async def deadline(self, kept: float | None, text: str | None, data: JSON) -> float | None: ...
    async def deadline(self, kept: float | None, text: str | None, data: JSON) -> float | None:
        """Return the time at which a timeout ends, in seconds since the epoch; None if there is no timeout.

        It is computed once; afterwards it is the one that was *kept*.
        """
        if text is None:
            return None
        return self.run.time() + (await self.duration(text, data)).total_seconds() if kept is None else kept

    async def pause_until(self, kept: float | None, text: str, data: JSON, why: str) -> float:
        """Return the end of a pause of the duration *text*, which begins when this is first called."""
        until = await self.deadline(kept, text, data)
        if kept is None:
            self.emit(TraceKind.SLEEPING, why, duration=text if "${" not in text else await self.fill(text, data))
        return until

    async def within(self, deadline: float | None, work: Coroutine[Any, Any, T], what: str, part: str = "") -> T:
        """Return the result of *work*, or raise TimedOut if *deadline* passes first.

        *what* names what timed out in the message: a *part* of the state, or the state itself.
        """
        return await self.in_time(
            deadline, work, lambda: self.locate(TimedOut(f"{what} took longer than it may")), part
        )

    # Variables

    def note(self, **facts: JSON) -> None:
        """Make *facts* visible to expressions as `$WORKFLOW`, if the language version has them."""
        self.execution.note(**facts)
        about = self.variables["WORKFLOW"]
        if isinstance(about, dict) and self.program.workflow.language_version.tells_of_requests:
            about |= facts

    def with_variables(self, variables: Mapping[str, JSON]) -> "Lane[F_co]":
        own = {**self.variables, **variables}
        return Lane(self.execution, self.state, self.frame, own, self.path, self.scope, self.branch)


class ExecutionPort(Protocol):
    """The interface of the execution for its lanes."""

    @property
    def run(self) -> Run:
        """The running instance."""

    @property
    def program(self) -> "Program":
        """The definition, prepared."""

    @property
    def correlation(self) -> "CorrelationKeys":
        """The attributes by which the instance recognizes its events."""

    @property
    def compensation(self) -> "CompensationLog":
        """The completed states that can be undone."""

    @property
    def frame(self) -> InstanceFrame:
        """The progress of the whole instance."""

    @property
    def data(self) -> JSON:
        """The data that the running state started with."""

    @property
    def is_expired(self) -> bool:
        """Whether the workflow timed out before it ended."""

    def is_starting(self, state: "State") -> bool:
        """Return True if the instance, or a round of it, starts in *state*."""

    @property
    def request(self) -> Mapping[str, JSON]:
        """The facts passed to sub-workflows about the request that started the instance."""

    def note(self, **facts: JSON) -> None:
        """Make *facts* visible to expressions as `$WORKFLOW` from now on, if the language version has them."""

    def caught(self, fault: WorkflowFault) -> None:
        """Make *fault* visible to expressions from now on."""

    def terminated(self, ended: "Ended") -> Exception:
        """Return the exception that ends the instance because one of its paths *ended*."""

    def detach(self, path: str, data: JSON, lane: "Lane") -> None:
        """Run the states of the branch at *path* concurrently with everything else, to the end of the instance."""

    async def walk(self, frame: WalkFrame, scope: "Scope | None" = None, within: Lane | None = None) -> "Ended":
        """Run states from the current one of *frame* until one of them ends."""
