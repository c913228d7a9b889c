"""Running a definition from its first task to its end.

A task takes, in this order: its condition, the extensions before it, the schema and the transformation of its input,
its work within its timeout, the transformation and the schema of its output, its export, the extensions after it
(section "Data Flow").
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import TimedOut, WorkflowFault
from swf_temporal.base.records import Record, nested
from swf_temporal.languages.dsl.execution.errors import as_fault, problem_of
from swf_temporal.languages.dsl.execution.frames import (
    CallBody,
    InstanceFrame,
    ListEnd,
    ListFrame,
    TaskFrame,
    WorkflowEnded,
)
from swf_temporal.languages.dsl.execution.lane import Lane, moment
from swf_temporal.languages.dsl.execution.program import DslProgram, TaskList
from swf_temporal.languages.dsl.execution.requests import uses_secrets
from swf_temporal.languages.dsl.execution.tasks import work_of
from swf_temporal.languages.dsl.model.parts import RetryPolicy, Timeout
from swf_temporal.languages.metadata import attribute_values, concurrency_key
from swf_temporal.runtime.execution import ExecutionBase
from swf_temporal.runtime.host import Completed, ContinuedAs, TraceKind
from swf_temporal.runtime.progress import Value, forget_deadlines
from swf_temporal.runtime.run import walk

if TYPE_CHECKING:
    from swf_temporal.runtime.run import Run

CONTINUE: Final = "continue"
EXIT: Final = "exit"
END: Final = "end"


class DslExecution(ExecutionBase[InstanceFrame]):
    """One running instance. All of its state is in its frame."""

    def __init__(self, program: DslProgram, run: "Run", frame: InstanceFrame) -> None:
        super().__init__(run, frame)
        self.program = program
        self.descriptor: dict[str, JSON] = {
            "id": run.instance.instance_id,
            "definition": program.definition,
            "input": run.input,
            "startedAt": moment(run.started),
        }
        """The value of `$workflow` (section "Workflow Descriptor")."""
        self.runtime: dict[str, JSON] = {"name": "swf-temporal", "version": str(run.semantics), "metadata": {}}
        """The value of `$runtime` (section "Runtime Descriptor"). A replay by a later release has the same version."""

    async def concurrency_key(self) -> JSON:
        """Return the value of the key of `concurrency` in the document's metadata for the input."""
        return await concurrency_key(self.program.workflow.document.metadata, self._of_input)

    async def search_attributes(self) -> Mapping[str, JSON | WorkflowFault]:
        """Return the values of `searchAttributes` in the document's metadata for the input."""
        return await attribute_values(self.program.workflow.document.metadata, self._of_input)

    async def _of_input(self, written: JSON) -> JSON:
        return await self.lane().fill(written, self.run.input)

    def lane(self) -> Lane:
        """Return the lane of the workflow itself."""
        return Lane(self, None)

    @property
    def deadline(self) -> float | None:
        """The end of the workflow's timeout."""
        return self.frame.deadline

    @property
    def under_way(self) -> Sequence[str]:
        """The ids of the calls and sub-workflows that are in progress or have failed."""
        return [call.id for call in nested(self.frame, CallBody) if call.id is not None]

    def begin_again(self) -> None:
        """Reset the timeouts of tasks, and the attempts of those that are tried again."""
        forget_deadlines(self.frame)
        for task in nested(self.frame, TaskFrame):
            task.forget_attempts()

    @property
    def latest_data(self) -> JSON:
        """The input of the innermost task that runs, or that comes next; in a fork, of the last of its branches.

        If its work is done, and the transformation of its output failed, its raw output.
        """
        return self._latest.value if isinstance(self._latest, Value) else self._latest.data

    @latest_data.setter
    def latest_data(self, data: JSON) -> None:
        latest = self._latest
        if isinstance(latest, Value):
            latest.value = data
        else:
            latest.data = data
        self.frame.data = data

    @property
    def _latest(self) -> InstanceFrame | ListFrame | Value:
        """The record that has the input of the innermost task."""
        latest: InstanceFrame | ListFrame | Value = self.frame
        for one in nested(self.frame, Record):
            match one:
                case ListFrame():
                    latest = one
                case (
                    CallBody(arguments=Value() as given)
                    | TaskFrame(output=None, raw_output=Value() as given)
                    | TaskFrame(input=Value() as given)
                ):
                    latest = given
        return latest

    async def execute(self) -> Completed | ContinuedAs:
        """Run to the end. Raises the WorkflowFault that the workflow failed with."""
        lane = self.lane()
        try:
            if self.frame.tasks is None and self.frame.ended is None:
                await self._begin(lane)
            await self._set_deadline(lane)
            await lane.in_time(self.frame.deadline, self._run_tasks(lane), lambda: TimedOut("the workflow timed out"))
            assert self.frame.ended is not None  # noqa: S101 - its tasks are done
            if self.frame.again is None:
                output = await self._output(self.frame.ended.value, lane)
                schedule = self.program.workflow.schedule
                if schedule is None or schedule.after is None:
                    return Completed(output)
                self.frame.data = output
                self.frame.again = self.run.time() + await lane.seconds(schedule.after, output)
            return await self._again(self.frame.again, lane)
        except WorkflowFault as fault:
            raise as_fault(fault, problem_of(fault, is_open=self.program.is_open)) from None

    async def _again(self, moment: float, lane: Lane) -> ContinuedAs:
        """Wait until *moment*, and run again with the same input (section "Schedule": `after`)."""
        await lane.sleep_until(moment)
        document = self.program.workflow.document
        following = ContinuedAs(self.program.id, document.version, self.run.input, inbox=self.run.inbox.record())
        await self.run.leave(following)
        return following

    async def _begin(self, lane: Lane) -> None:
        """Check and transform the input (section "Data Flow", steps 1 and 2)."""
        declared, data = self.program.workflow.input, self.run.input
        if declared is not None:
            await lane.check("input", declared.schema_, data)
            if declared.from_ is not None:
                data = await lane.evaluate(declared.from_, data)
        self.frame.data = self.frame.context = data
        self.frame.tasks = ListFrame(0, data)

    async def _set_deadline(self, lane: Lane) -> None:
        if self.frame.deadline is None and self.run.limit is None:
            timeout = self.timeout(self.program.workflow.timeout)
            if timeout is not None:
                self.frame.deadline = self.run.time() + await lane.seconds(timeout.after, self.frame.data)

    async def _run_tasks(self, lane: Lane) -> None:
        frame = self.frame
        if frame.tasks is None:
            return
        try:
            left = await self.run_list(self.program.root, frame.tasks, lane)
            output = left.data
        except WorkflowEnded as ended:
            output = ended.output
        frame.tasks, frame.ended = None, Value(output)

    async def _output(self, data: JSON, lane: Lane) -> JSON:
        """Transform and check the output (section "Data Flow", steps 10 and 11)."""
        declared = self.program.workflow.output
        if declared is not None:
            if declared.as_ is not None:
                data = await lane.evaluate(declared.as_, data)
            await lane.check("output", declared.schema_, data)
        return data

    def timeout(self, given: "str | Timeout | None") -> Timeout | None:
        """Return the timeout that is *given*, perhaps by its name."""
        return self.program.workflow.use.timeouts[given] if isinstance(given, str) else given

    def retry_policy(self, given: "str | RetryPolicy | None") -> RetryPolicy | None:
        """Return the retry policy that is *given*, perhaps by its name."""
        return self.program.workflow.use.retries[given] if isinstance(given, str) else given

    # Task lists

    async def run_list(
        self,
        plan: TaskList,
        frame: ListFrame,
        within: Lane,
        step: str = "",
        variables: Mapping[str, JSON] | None = None,
    ) -> ListEnd:
        """Run the tasks of *plan* from the current one of *frame*, in the lane *within*, and return their output.

        Raises WorkflowEnded if one of them ends the workflow.
        """

        async def one() -> ListEnd | None:
            if frame.at >= len(plan.tasks):
                return ListEnd(frame.data)
            task = plan.tasks[frame.at]
            if frame.task is None:
                if self.passes_over(plan, frame.at):
                    frame.at += 1
                    return None
                frame.task = TaskFrame(self.run.time())
            lane = within.child(task, step, variables)
            data, then = await self.run_task(frame.task, frame.data, lane)
            frame.data, frame.task = data, None
            if then == END:
                raise WorkflowEnded(data)
            if then == EXIT:
                return ListEnd(data, is_exit=True)
            frame.at = frame.at + 1 if then is None or then == CONTINUE else self.target(plan, frame.at, then)
            return None

        return await walk(self.run, one)

    def passes_over(self, plan: TaskList, at: int) -> bool:  # noqa: ARG002 - a dialect passes over tasks
        """Return whether the task at the index *at* is not run when its turn comes."""
        return False

    def target(self, plan: TaskList, at: int, name: str) -> int:  # noqa: ARG002 - in a dialect it depends on the place
        """Return the index of the task called *name*, to which the one at *at* leads."""
        return plan.at[name]

    # Tasks

    async def run_task(self, frame: TaskFrame, raw: JSON, lane: Lane) -> tuple[JSON, str | None]:
        """Run a task on its *raw* input; return its transformed output and the flow directive to follow."""
        assert lane.plan is not None  # noqa: S101 - it is the lane of a task
        plan, task = lane.plan, lane.plan.task
        lane.describe_task(frame, raw)
        try:
            if frame.output is None:
                if frame.input is None and not frame.extended and frame.extension is None:
                    if task.if_ is not None and not await lane.holds(task.if_, raw):
                        lane.emit(TraceKind.ACTION_SKIPPED, plan.name)
                        return raw, None
                    self.stand_at(lane, raw)
                    lane.enter_state(plan.name, plan.kind, raw)
                replaced = await self._extend(frame, raw, lane)
                if replaced is not None:
                    self.stand_at(lane, raw)
                    lane.leave_state(plan.name, replaced.data)
                    return replaced.data, task.then
                await self._work(frame, raw, lane)
            elif frame.input is not None:
                lane.describe_work(frame)  # extensions after the task go on
            assert frame.output is not None  # noqa: S101 - its work is done
            await self._extend(frame, frame.output.value, lane, is_after=True)
        except WorkflowFault as fault:
            lane.locate(fault)
            raise
        self.stand_at(lane, raw if frame.input is None else frame.input.value)
        lane.leave_state(plan.name, frame.output.value)
        return frame.output.value, frame.then

    def stand_at(self, lane: Lane, data: JSON) -> None:
        """Note that the instance is in the task of *lane*, whose input is *data*, unless others run beside it."""
        if not lane.branch and lane.path == lane.state_path:
            self.frame.state, self.frame.data = lane.state_path, data

    async def _work(self, frame: TaskFrame, raw: JSON, lane: Lane) -> None:
        """Take the steps of the data flow from the input of a task to its export."""
        assert lane.plan is not None  # noqa: S101 - it is the lane of a task
        task, name = lane.plan.task, lane.plan.name
        if frame.input is None:
            frame.input = Value(await self._input(raw, lane))
        if frame.body is None:
            self.stand_at(lane, frame.input.value)
        lane.describe_work(frame)
        if frame.raw_output is None:  # else a retry of what follows the work does not repeat it
            timeout = self.timeout(task.timeout)
            if timeout is not None and frame.deadline is None:
                frame.deadline = self.run.time() + await lane.seconds(timeout.after, frame.input.value)
            lane.deadline = frame.deadline
            work = work_of(lane, frame)
            left = await lane.in_time(frame.deadline, work, lambda: TimedOut(f"task {name!r} timed out"))
            frame.raw_output, frame.then, frame.body = Value(left.data), left.then, None
            lane.describe_work(frame)
        output = frame.raw_output.value
        if task.output is not None:
            if task.output.as_ is not None:
                output = await lane.evaluate(task.output.as_, output)
            await lane.check("output", task.output.schema_, output)
        if task.export is not None:
            more = {"output": output}
            if task.export.as_ is not None:
                self.frame.context = await lane.evaluate(task.export.as_, output, more)
            await lane.check("exported context", task.export.schema_, self.frame.context)
        frame.output = Value(output)
        if not self.program.extensions:
            frame.raw_output = None

    async def _input(self, raw: JSON, lane: Lane) -> JSON:
        """Check and transform the input of a task."""
        assert lane.plan is not None  # noqa: S101 - it is the lane of a task
        declared = lane.plan.task.input
        if declared is None:
            return raw
        await lane.check("input", declared.schema_, raw)
        if declared.from_ is None or uses_secrets(declared.from_, lane):
            return raw
        return await lane.evaluate(declared.from_, raw)

    async def _extend(self, frame: TaskFrame, data: JSON, lane: Lane, *, is_after: bool = False) -> ListEnd | None:
        """Run the extensions before a task, or after it; return the end of one that takes the place of the task."""
        if not self.program.extensions or lane.extended is not None:
            return None
        assert lane.plan is not None  # noqa: S101 - it is the lane of a task
        applying = [one for one in self.program.extensions if one.extends(lane.plan.task)]
        lists = [one.after if is_after else one.before for one in applying]
        done_before = len(applying) if is_after else 0
        for index, (one, tasks) in enumerate(zip(applying, lists, strict=True), done_before):
            if index < frame.extended:
                continue
            if frame.extension is None and (not tasks.tasks or not await self._applies(one.extension.when, data, lane)):
                frame.extended = index + 1
                continue
            if frame.extension is None:
                frame.extension = ListFrame(0, data)
            inside = lane.extension()
            end = await self.run_list(tasks, frame.extension, inside)
            frame.extension, frame.extended = None, index + 1
            if end.is_exit and not is_after:
                return end
        return None

    async def _applies(self, condition: str | None, data: JSON, lane: Lane) -> bool:
        if condition is None:
            return True
        described, plan = lane.arguments["task"], lane.plan
        assert isinstance(described, dict) and plan is not None  # noqa: S101, PT018 - it is the lane of a task
        # The text's own examples look at the properties of the task beside those of the descriptor.
        written = plan.definition if isinstance(plan.definition, dict) else {}
        return await lane.holds(condition, data, {"task": {**written, **described}})


class PreparedProgram(DslProgram):
    """A definition prepared for running, as a run begins it."""

    def begin(self, run: "Run", frame: Mapping[str, Any] | None) -> DslExecution:
        """Return the execution of *run*, resumed from the *frame* of an earlier execution if there is one."""
        return DslExecution(self, run, InstanceFrame(run.input) if frame is None else InstanceFrame.from_json(frame))
