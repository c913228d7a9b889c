"""The lane of a task: its place, its data, the variables that its expressions see, and their evaluation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from swf_temporal.base.data import JSON
from swf_temporal.base.durations import MAX_LENGTH, parse_duration
from swf_temporal.base.errors import (
    ExpressionFailed,
    ExpressionLimitExceeded,
    SchemaMismatch,
    WorkflowFault,
    WrongData,
)
from swf_temporal.base.strict_json import show_json
from swf_temporal.expressions.compiled import NOTHING, Compiled, EvaluationOutcome, Several, is_true
from swf_temporal.expressions.guarding.deferring import Deferred
from swf_temporal.expressions.patterns import PatternTooSlow
from swf_temporal.languages.dsl.execution.program import TaskPlan
from swf_temporal.languages.dsl.execution.requests import expanded
from swf_temporal.languages.dsl.model.node import PARTS, DurationParts
from swf_temporal.languages.dsl.model.parts import DataSchema
from swf_temporal.runtime.lanes import LaneBase
from swf_temporal.runtime.retrying import RetryRule

if TYPE_CHECKING:
    from swf_temporal.languages.dsl.execution.execution import DslExecution
    from swf_temporal.languages.dsl.execution.frames import TaskFrame


@dataclass(frozen=True, slots=True)
class CallOptions:
    """How often calls are made again, and how long they may take, where `try` and `timeout` do not say so."""

    retry: RetryRule
    timeout: timedelta | None = None
    priority: int | None = None
    """One of `calls.PRIORITIES`."""


class Lane(LaneBase):
    """The path of execution of one task, or of the workflow itself."""

    __slots__ = ("arguments", "calls", "deadline", "execution", "extended", "plan", "variables")

    def __init__(
        self,
        execution: "DslExecution",
        plan: TaskPlan | None,
        state_path: str = "",
        path: str = "",
        variables: Mapping[str, JSON] | None = None,
        branch: str | None = None,
        extended: JSON = None,
    ) -> None:
        super().__init__(execution.run, state_path, path, branch)
        self.execution = execution
        self.plan = plan
        self.variables: Mapping[str, JSON] = variables or {}
        """The variables of the loops, listeners and handlers that it is in."""
        self.extended = extended
        """In a task of an extension: the description of the task that is extended, else None."""
        self.deadline: float | None = None
        """When the task times out, for those who look at the instance."""
        self.arguments: dict[str, JSON] = {}
        """The arguments of the text that belong to its task: `task`, `input`, `output`."""
        self.calls = 0
        """How many functions of the definition it is in, each of which was called by the one before."""

    def child(self, plan: TaskPlan, step: str = "", variables: Mapping[str, JSON] | None = None) -> "Lane":
        """Return the lane of the task *plan* inside this one; *step* says which iteration of this one it is in."""
        own = {**self.variables, **variables} if variables else self.variables
        path = f"{self.path}{step}{plan.place}"
        lane = type(self)(self.execution, plan, plan.pointer, path, own, self.branch, self.extended)
        lane.calls = self.calls
        return lane

    def extension(self) -> "Lane":
        """Return the lane of the extensions of this task: their tasks see this one as `$task`."""
        described = self.arguments["task"]
        lane = Lane(self.execution, self.plan, self.state_path, self.path, self.variables, self.branch, described)
        lane.calls = self.calls
        return lane

    def in_branch(self, plan: TaskPlan) -> "Lane":
        """Return the lane of the branch *plan* of a fork."""
        lane = self.child(plan)
        lane.branch = plan.name
        return lane

    @property
    def call_options(self) -> CallOptions | None:
        """The options of its calls; None where tasks around a call say what happens when it fails."""
        return None

    def describe_task(self, frame: "TaskFrame", raw: JSON) -> None:
        """Let expressions see the task as `$task` (section "Task Descriptor")."""
        assert self.plan is not None  # noqa: S101 - it is the lane of a task
        if not self.execution.program.describes_tasks:
            return
        self.arguments["task"] = self.extended or {
            "name": self.plan.name,
            "reference": self.plan.pointer,
            "definition": self.plan.definition,
            "input": raw,
            "output": None,
            "startedAt": moment(frame.since),
        }

    def describe_work(self, frame: "TaskFrame") -> None:
        """Let expressions see the transformed input of the task, and its raw output once it has that."""
        assert frame.input is not None  # noqa: S101 - it has begun
        self.arguments["input"] = frame.input.value
        described = self.arguments.get("task")
        # In a task of an extension, it describes the task that is extended.
        if frame.raw_output is not None and self.extended is None and isinstance(described, dict):
            described["output"] = frame.raw_output.value

    # Evaluating

    def seen(self, more: Mapping[str, JSON] | None = None) -> dict[str, JSON]:
        """Return the variables that expressions see, and *more*."""
        found: dict[str, JSON] = {
            **self.variables,
            "context": self.execution.frame.context,
            "workflow": self.execution.descriptor,
            "runtime": self.execution.runtime,
            "__now": self.run.time(),
            **self.arguments,
        }
        return {**found, **more} if more else found

    async def value(self, compiled: Compiled, data: JSON, more: Mapping[str, JSON] | None = None) -> JSON:
        """Return the value of *compiled* on *data*: null if it yields nothing, an array if it yields several."""
        variables = self.seen(more)
        return await self.outcome(lambda: compiled(data, variables))

    async def outcome(self, work: Callable[[], EvaluationOutcome]) -> JSON:
        """Return the value that an evaluation yields, as `value` does."""
        self.run.pacing.charge()
        try:
            try:
                outcome = work()
            except Deferred:
                outcome = await self.run.evaluated(work)
        except WorkflowFault as fault:
            raise self.locate(fault) from None
        if outcome is NOTHING:
            return None
        return list(outcome) if isinstance(outcome, Several) else outcome

    async def evaluate(self, expression: JSON, data: JSON, more: Mapping[str, JSON] | None = None) -> JSON:
        """Return the value of a field that holds an expression by definition; an object is a template."""
        return await self.value(self.execution.program.expressions.expression(expression), data, more)

    async def fill(self, template: JSON, data: JSON, more: Mapping[str, JSON] | None = None) -> JSON:
        """Return *template* with the expressions in it replaced by their values."""
        return await self.value(self.execution.program.expressions.template(template), data, more)

    async def uri(self, template: str, data: JSON) -> JSON:
        """Return a URI: the value of an expression, or a text with properties of *data* in the places of its names."""
        found = await self.fill(template, data)
        return expanded(template, data) if found == template and "${" not in template else found

    async def holds(self, condition: str, data: JSON, more: Mapping[str, JSON] | None = None) -> bool:
        """Return whether *condition* yields anything but false and null."""
        return is_true(await self.evaluate(condition, data, more))

    async def seconds(self, duration: str | DurationParts, data: JSON) -> float:
        """Return the length of *duration* in seconds. Raises WrongData for an expression that yields none."""
        if isinstance(duration, DurationParts):
            return seconds_of(duration)
        value = await self.fill(duration, data)
        try:
            if isinstance(value, dict) and value and value.keys() <= set(PARTS):
                found = seconds_of(DurationParts.model_validate(value))
            else:
                found = parse_duration(str(value)).total_seconds()
        except (ValueError, OverflowError):
            raise self.locate(WrongData(f"{duration!r} yields {show_json(value)}, which is not a duration")) from None
        if found < 0:
            raise self.locate(WrongData(f"{duration!r} is a negative duration"))
        return found

    async def check(self, what: str, schema: DataSchema | None, data: JSON) -> None:
        """Raise SchemaMismatch unless *data* fits *schema*."""
        if schema is None:
            return
        validator = self.execution.program.schema(schema)
        try:
            violations = await self.run.evaluated(lambda: validator.violations(data, slow_is_fatal=True))
        except PatternTooSlow as slow:
            raise ExpressionLimitExceeded(f"whether the {what} fits its schema: {slow}") from None
        if violations:
            raise self.locate(SchemaMismatch(f"the {what} does not fit its schema: {'; '.join(violations)}"))

    def not_an(self, expected: str, expression: JSON, value: JSON) -> ExpressionFailed:
        """Return the fault of an *expression* whose *value* is of another kind than *expected*."""
        kind = type(value).__name__
        names: dict[str, Any] = {"dict": "an object", "list": "an array", "str": "a text", "NoneType": "null"}
        fault = ExpressionFailed(f"{expression!r} yields {names.get(kind, 'a scalar')}, and has to yield {expected}")
        self.locate(fault)
        return fault


def seconds_of(parts: DurationParts) -> float:
    """Return the length of a duration in seconds, up to the longest that there is."""
    minutes = (parts.days * 24 + parts.hours) * 60 + parts.minutes
    milliseconds = (minutes * 60 + parts.seconds) * 1000 + parts.milliseconds
    return min(milliseconds, int(MAX_LENGTH.total_seconds()) * 1000) / 1000


@lru_cache(maxsize=64)
def moment(seconds: float) -> dict[str, JSON]:
    """Return a point in time as expressions see it (section "DateTime Descriptor").

    Tasks that begin one right after the other have the same, which nothing changes.
    """
    at = datetime.fromtimestamp(seconds, UTC)
    return {
        "iso8601": at.isoformat().replace("+00:00", "Z"),
        "epoch": {"seconds": int(seconds), "milliseconds": round(seconds * 1000)},
    }
