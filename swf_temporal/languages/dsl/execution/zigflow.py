"""Running a zigflow document.

Its tasks do not take their data from the task before, but share a state: `$context`, which `export` replaces; `$data`,
which grows; and `$output`, the output of the last task. The state is what flows from task to task here, and `.` is null
but where a task has a result. Branches and iterations begin with the state around them, and leave it as it was.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed, WorkflowFault, WrongData
from swf_temporal.base.strict_json import show_json
from swf_temporal.expressions.compiled import NOTHING, Compiled
from swf_temporal.languages.dsl.execution.execution import DslExecution
from swf_temporal.languages.dsl.execution.frames import ListEnd, ListFrame, TaskFrame, ZigflowFrame
from swf_temporal.languages.dsl.execution.lane import CallOptions, Lane
from swf_temporal.languages.dsl.execution.messages import latest_state, message_in
from swf_temporal.languages.dsl.execution.program import DslProgram, TaskList, TaskPlan
from swf_temporal.languages.dsl.execution.zigflow_tasks import ActivityRules, options_of, rules_of, work_of
from swf_temporal.languages.dsl.expressions import UUID, StrictExpressions, texts_in
from swf_temporal.languages.dsl.model.node import DurationParts
from swf_temporal.languages.dsl.model.workflow import DoTask
from swf_temporal.languages.dsl.model.zigflow import ZigflowWorkflow
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.progress import Value

if TYPE_CHECKING:
    from swf_temporal.runtime.run import Run

_ENV: Final = "$env"
_PREFIX: Final = "ZIGGY_"
"""The beginning of the variables of the environment that zigflow shows, without it."""
STATE: Final = "zigflow"
"""The name under which a workflow that runs another shares its state."""


def with_data(state: JSON, more: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return *state* with *more* in `$data`."""
    own = state if isinstance(state, dict) else {}
    if not more:
        return own
    data = own.get("data")
    return {**own, "data": {**(data if isinstance(data, dict) else {}), **more}}


class Tasks(NamedTuple):
    """Tasks that are run one after the other, though they are no list of the document."""

    tasks: tuple[TaskPlan, ...]
    at: Mapping[str, int] = MappingProxyType({})
    """None leads to another by its name."""


class ZigflowProgram(DslProgram):
    """A zigflow document prepared for running."""

    def __init__(self, workflow: ZigflowWorkflow, definition: Any, semantics: int) -> None:
        super().__init__(workflow, definition, semantics)
        self.id = workflow.document.name
        self.sees_environment = any(_ENV in text for text in texts_in(definition))
        """Whether its expressions name `$env`."""
        self._rules: dict[str, ActivityRules] = {}

    @cached_property
    def expressions(self) -> StrictExpressions:
        """The compiler of its expressions."""
        return StrictExpressions(lambda: texts_in(self.definition))

    @cached_property
    def plans(self) -> Mapping[str, tuple[TaskPlan, tuple[TaskPlan, ...]]]:
        """All tasks by their places in the definition, each with the tasks of its list."""
        found, lists = dict[str, tuple[TaskPlan, tuple[TaskPlan, ...]]](), [self.root]
        while lists:
            tasks = lists.pop().tasks
            found |= {one.pointer: (one, tasks) for one in tasks}
            lists += [inner for one in tasks for inner in one.lists.values()]
        return found

    def rules(self, plan: TaskPlan) -> ActivityRules:
        """Return how activities of the task *plan* are run."""
        found = self._rules.get(plan.pointer)
        if found is None:
            after = None if self.workflow.timeout is None else self.definition["timeout"].get("after")
            options = options_of(self.workflow.document.metadata, plan.task.metadata)
            found = self._rules[plan.pointer] = rules_of(options, after)
        return found

    def begin(self, run: "Run", frame: Mapping[str, Any] | None) -> "ZigflowExecution":
        """Return the execution of *run*, resumed from the *frame* of an earlier execution if there is one."""
        return ZigflowExecution(self, run, ZigflowFrame(run.input) if frame is None else ZigflowFrame.from_json(frame))


class _Variables(dict[str, JSON]):
    """The variables of one evaluation. Each time that an id is looked up, it is the next of *ids*."""

    def __init__(self, values: Mapping[str, JSON], ids: list[str], new_id: Callable[[], str]) -> None:
        super().__init__(values)
        self._ids = ids
        self._new_id = new_id
        self._used = 0

    def __missing__(self, name: str) -> JSON:
        if name != UUID:
            raise KeyError(name)
        if self._used == len(self._ids):
            self._ids.append(self._new_id())
        self._used += 1
        return self._ids[self._used - 1]


class StateLane(Lane):
    """The path of execution of a task, whose expressions see the state."""

    __slots__ = ()
    execution: "ZigflowExecution"

    @property
    def call_options(self) -> CallOptions:
        """The options of its activities."""
        assert self.plan is not None  # noqa: S101 - it is the lane of a task
        return self.execution.program.rules(self.plan).call_options

    def around(self, branch: str | None = None) -> "StateLane":
        """Return the lane around tasks that are run in place of the task of this one, in a *branch* if they are one."""
        return StateLane(self.execution, self.plan, self.state_path, self.path, None, branch or self.branch)

    async def value(self, compiled: Compiled, data: JSON, more: Mapping[str, JSON] | None = None) -> JSON:
        """Return the value of *compiled* on the state *data*."""
        return await self._of(compiled, None, data, more)

    async def made_of(self, template: JSON, result: JSON, state: JSON) -> JSON:
        """Return what *template* makes of the *result* of a task."""
        return await self._of(self.execution.program.expressions.template(template), result, state, None)

    async def _of(self, compiled: Compiled, data: JSON, state: JSON, more: Mapping[str, JSON] | None) -> JSON:
        seen, ids, new_id = self.execution.seen(state, more), list[str](), self.run.host.new_id
        return await self.outcome(lambda: compiled(data, _Variables(seen, ids, new_id)))

    async def holds(self, condition: str, data: JSON, more: Mapping[str, JSON] | None = None) -> bool:
        """Return whether *condition* yields true, or the text `true` or `1`. Raises ExpressionFailed for a number."""
        found = await self.fill(condition, data, more)
        if isinstance(found, bool):
            return found
        if isinstance(found, str):
            return found.upper() == "TRUE" or found == "1"
        raise self.not_an("a boolean or a text", condition, found)

    async def goes_on(self, condition: str, state: JSON) -> bool:
        """Return whether the condition of a loop yields true: anything else ends the loop."""
        return await self.fill(condition, state) is True

    async def seconds(self, duration: str | DurationParts, data: JSON) -> float:
        """Return the length of *duration* in seconds; a moment that has passed is now."""
        if isinstance(duration, str):
            found = await self.fill(duration, data)
            if isinstance(found, dict) and "until" in found:
                return max(0.0, self._moment(found["until"]) - self.run.time())
        return await super().seconds(duration, data)

    def _moment(self, written: JSON) -> float:
        try:
            moment = datetime.fromisoformat(written) if isinstance(written, str) else None
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            what = f"wait.until is {show_json(written)}, which is not a date and time of RFC 3339"
            raise self.locate(WrongData(what))
        return moment.timestamp()


class ZigflowExecution(DslExecution):
    """One running instance of a zigflow document."""

    program: ZigflowProgram
    frame: ZigflowFrame

    def lane(self) -> StateLane:
        """Return the lane of the workflow itself."""
        return StateLane(self, None)

    def seen(self, state: JSON, more: Mapping[str, JSON] | None = None) -> dict[str, JSON]:
        """Return the variables that expressions see in *state*, and *more*."""
        own = state if isinstance(state, dict) else {}
        return {
            "context": own.get("context"),
            "data": own.get("data"),
            "output": own.get("output"),
            "input": self.run.input,
            "env": self.frame.env,
            "__now": self.run.time(),
            **(more or {}),
        }

    async def _of_input(self, written: JSON) -> JSON:
        return await self.lane().fill(written, self._initial())

    async def _begin(self, lane: Lane) -> None:
        """Check the input, and make the state."""
        declared = self.program.workflow.input
        if declared is not None:
            await lane.check("input", declared.schema_, self.run.input)
        if self.program.sees_environment:
            found = await self.run.host.environment()
            self.frame.env = {name.removeprefix(_PREFIX): value for name, value in found.items()}
        self.frame.data = self._initial()
        self.frame.tasks = ListFrame(0, self.frame.data)

    def _initial(self) -> JSON:
        """Return the state that the instance begins with: that of the workflow that runs it, if one does."""
        run, document = self.run, self.program.workflow.document
        shared = run.instance.variables.get(STATE)
        state = shared if isinstance(shared, dict) else {"context": None, "data": {}, "output": None}
        began = datetime.fromtimestamp(run.started, UTC).isoformat().replace("+00:00", "Z")
        about: dict[str, JSON] = {
            "attempt": 1,
            "first_run_id": run.instance.run_id,
            "now": began,
            "task_queue_name": document.namespace,
            "workflow_execution_id": run.instance.instance_id,
            "workflow_execution_run_id": run.instance.run_id,
            "workflow_start_time": began,
            "workflow_type_name": document.name,
        }
        return with_data(state, {"workflow": about})

    async def _set_deadline(self, lane: Lane) -> None:
        """Set none: `timeout` is that of each attempt of an activity."""

    async def _output(self, data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - as in all definitions
        return data["output"] if isinstance(data, dict) else None

    def shared(self, state: JSON) -> dict[str, JSON]:
        """Return what a workflow that this one runs gets beside its input."""
        return {STATE: state}

    with_data = staticmethod(with_data)

    def only(self, plan: TaskPlan) -> Tasks:
        """Return the task *plan* alone, as a list."""
        return Tasks((plan,))

    def tasks_at(self, lane: Lane, name: str) -> Tasks:
        """Return the task called *name* beside that of *lane*, to which a switch leads."""
        assert lane.plan is not None  # noqa: S101 - it is the lane of a task
        _, beside = self.program.plans[lane.plan.pointer]
        return self.only(next(one for one in beside if one.name == name))

    async def run_list(
        self,
        plan: TaskList,
        frame: ListFrame,
        within: Lane,
        step: str = "",
        variables: Mapping[str, JSON] | None = None,  # noqa: ARG002 - what loops and handlers define is in the state
    ) -> ListEnd:
        """Run the tasks as DSL 1.0 does, but for those that are passed over, and without variables."""
        return await super().run_list(plan, frame, within, step)

    def passes_over(self, plan: TaskList, at: int) -> bool:
        """Return whether the task at *at* is a `do` after other tasks, which runs only if a switch leads to it."""
        return is_apart(plan.tasks, at)

    def target(self, plan: TaskList, at: int, name: str) -> int:
        """Return the index of the next task called *name* that is not passed over."""
        for index in range(at + 1, len(plan.tasks)):
            if plan.tasks[index].name == name and not is_apart(plan.tasks, index):
                return index
        raise WrongData(f"next target specified but not found: {name}")

    async def run_task(self, frame: TaskFrame, raw: JSON, lane: Lane) -> tuple[JSON, str | None]:
        """Run a task in the state *raw*; return the state after it, and the flow directive to follow."""
        assert lane.plan is not None and isinstance(lane, StateLane)  # noqa: S101, PT018 - it is the lane of a task
        plan, task = lane.plan, lane.plan.task
        try:
            if frame.input is None:
                state = with_data(raw, {"task": {"name": plan.name}})
                if task.if_ is not None and not await lane.holds(task.if_, state):
                    lane.emit(TraceKind.ACTION_SKIPPED, plan.name)
                    return state, None
                self.stand_at(lane, state)
                lane.enter_state(plan.name, plan.kind, state)
                if task.input is not None:
                    await lane.check("input", task.input.schema_, self.run.input)
                frame.input = Value(state)
            if frame.output is None:
                await self._work(frame, frame.input.value, lane)
        except WorkflowFault as fault:
            lane.locate(fault)
            raise
        assert frame.output is not None  # noqa: S101 - its work is done
        self.stand_at(lane, frame.input.value)
        lane.leave_state(plan.name, frame.output.value)
        return frame.output.value, frame.then

    async def _work(self, frame: TaskFrame, raw: JSON, lane: Lane) -> None:
        """Do the work of a task in the state *raw*, and make the next state of its result."""
        assert lane.plan is not None and isinstance(lane, StateLane)  # noqa: S101, PT018 - it is the lane of a task
        task, done = lane.plan.task, await work_of(lane, frame, raw)
        state = with_data(raw if done.state is None else done.state, done.writes)
        output = done.result
        if task.output is not None and task.output.as_ is not None:
            output = await lane.made_of(task.output.as_, done.result, state)
            await lane.check("output", task.output.schema_, output)
        elif done.is_directive:
            output = state["output"]
        state = {**state, "output": output}
        if task.export is not None and task.export.as_ is not None:
            state["context"] = await lane.made_of(task.export.as_, done.result, state)
            await lane.check("exported context", task.export.schema_, state["context"])
        frame.output, frame.then, frame.body = Value(state), done.then or task.then, None

    def answer(self, query: str) -> JSON:
        """Return the answer to *query*. Raises LookupError if no task that has run answers it, and WorkflowFault."""
        plan = self.program.plans[self.frame.queries[query]][0]
        ended, root = self.frame.ended, self.program.root
        state = latest_state(root, self.frame.tasks, self.frame.data) if ended is None else ended.value
        message = message_in(plan.task, query)
        if message is None or message.data is None:
            return None

        def no_id() -> str:
            raise ExpressionFailed("the answer to a query cannot have new ids")

        compiled = self.program.expressions.template(message.data)
        found = compiled(None, _Variables(self.seen(state), [], no_id))
        return None if found is NOTHING else found


def is_apart(tasks: tuple[TaskPlan, ...], index: int) -> bool:
    """Return whether the task at *index* is a `do` after other tasks, which runs only if a switch leads to it."""
    return isinstance(tasks[index].task, DoTask) and any(not isinstance(one.task, DoTask) for one in tasks[:index])
