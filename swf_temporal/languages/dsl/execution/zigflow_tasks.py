"""The work of each type of task in a zigflow document, and the activity options in its metadata."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from swf_temporal.base.calls import PRIORITIES
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, TimedOut, WorkflowFault, WrongData
from swf_temporal.languages.dsl.execution.calls import Callee, callee_of, make_call, run_process
from swf_temporal.languages.dsl.execution.errors import RAISED, problem_of
from swf_temporal.languages.dsl.execution.frames import (
    BranchesBody,
    CallBody,
    DoBody,
    ListFrame,
    LoopBody,
    MessagesBody,
    RedirectBody,
    TaskFrame,
    TryBody,
    WaitBody,
)
from swf_temporal.languages.dsl.execution.lane import CallOptions, seconds_of
from swf_temporal.languages.dsl.execution.messages import listen
from swf_temporal.languages.dsl.execution.program import variables_for
from swf_temporal.languages.dsl.execution.tasks import error_of
from swf_temporal.languages.dsl.model.node import DurationParts
from swf_temporal.languages.dsl.model.workflow import (
    CallFunction,
    DoTask,
    EmitTask,
    ForkTask,
    ForTask,
    ListenTask,
    RaiseTask,
    RunTask,
    SetTask,
    SwitchTask,
    TryTask,
    WaitTask,
)
from swf_temporal.languages.dsl.model.zigflow import OPTIONS, ActivityOptions, activity_at
from swf_temporal.languages.dsl.names import DIRECTIVES
from swf_temporal.runtime.host import SubflowCall, TraceKind
from swf_temporal.runtime.iterations import first_to_succeed
from swf_temporal.runtime.joining import Path, join
from swf_temporal.runtime.progress import Value
from swf_temporal.runtime.retrying import RetryRule

if TYPE_CHECKING:
    from swf_temporal.languages.dsl.execution.program import TaskPlan
    from swf_temporal.languages.dsl.execution.zigflow import StateLane

OF_STATUS: Final = "zigflow"
"""The condition of retries that is about the status of an answer."""
_FINAL_STATUS: Final = 501
_SERVER_ERRORS: Final = range(500, 600)
_TRIED_AGAIN: Final = (408, 429)
_ATTEMPT: Final = 15.0
"""The seconds that an attempt of an activity may take by default."""
_DELAY, _LONGEST_DELAY, _FACTOR, _ATTEMPTS = 1.0, 60.0, 2.0, 5


@dataclass(frozen=True, slots=True)
class ActivityRules:
    """How the activities of a task are run."""

    call_options: CallOptions
    external: Mapping[str, JSON]
    """The same for an activity of another worker, by the names that Temporal has."""


def options_of(of_document: Mapping[str, Any], of_task: Mapping[str, Any]) -> ActivityOptions:
    """Return the options in the metadata of a task, and in those of the document."""
    document, task = of_document.get(OPTIONS) or {}, of_task.get(OPTIONS) or {}
    policy = {**(document.get("retryPolicy") or {}), **(task.get("retryPolicy") or {})}
    given = {**document, **task, **({"retryPolicy": policy} if policy else {})}
    return ActivityOptions.model_validate({key: value for key, value in given.items() if value is not None})


def rules_of(options: ActivityOptions, timeout: Mapping[str, Any] | None) -> ActivityRules:
    """Return the rules for these *options*, where each attempt may take the *timeout* of the workflow."""
    policy = options.retry_policy
    delay = _or(None if policy is None else policy.initial_interval, _DELAY)
    longest = _or(None if policy is None else policy.maximum_interval, _LONGEST_DELAY)
    factor = _FACTOR if policy is None or policy.backoff_coefficient is None else policy.backoff_coefficient
    attempts = _ATTEMPTS if policy is None or policy.maximum_attempts is None else policy.maximum_attempts
    never = () if policy is None or policy.non_retryable_error_types is None else policy.non_retryable_error_types
    rule = RetryRule(
        delay=delay,
        multiplier=factor,
        max_delay=max(longest, delay),
        max_attempts=attempts or None,
        never=tuple((name, None) for name in never),
        condition=OF_STATUS,
    )
    attempt = _ATTEMPT if timeout is None else seconds_of(DurationParts.model_validate(dict(timeout)))
    total = options.schedule_to_close
    priority = None if options.priority is None or options.priority.priority_key is None else options.priority
    key = None if priority is None or priority.priority_key is None else min(priority.priority_key, max(PRIORITIES))
    external: dict[str, JSON] = {
        "startToCloseTimeout": _written(_or(options.start_to_close, attempt)),
        "retryPolicy": {
            "initialInterval": _written(delay),
            "maximumInterval": _written(max(longest, delay)),
            "backoffCoefficient": factor,
            "maximumAttempts": attempts,
            "nonRetryableErrorTypes": list(never),
        },
    }
    for name, one in (
        ("scheduleToCloseTimeout", total),
        ("scheduleToStartTimeout", options.schedule_to_start),
        ("heartbeatTimeout", options.heartbeat),
    ):
        if one is not None:
            external[name] = _written(seconds_of(one))
    limit = None if total is None else timedelta(seconds=seconds_of(total))
    return ActivityRules(CallOptions(rule, limit, key), external)


def is_tried_again(fault: WorkflowFault) -> bool:
    """Return whether a call that failed with *fault* is made again, as far as the status of the answer shows it."""
    status = fault.status
    if status is None:
        return fault.retryable
    return status in _TRIED_AGAIN or (status in _SERVER_ERRORS and status != _FINAL_STATUS)


def _or(given: DurationParts | None, otherwise: float) -> float:
    return otherwise if given is None else seconds_of(given)


def _written(seconds: float) -> str:
    return f"PT{seconds:g}S"


_RETRYABLE: Final = ("CallHTTP retryable error", "CallHTTP returned retryable error")
_FINAL: Final = ("CallHTTP non-retryable error", "CallHTTP returned non-retryable error")
"""The type and the message of the error that an HTTP call fails with."""


@dataclass(frozen=True, slots=True)
class Done:
    """The result of the work of a task."""

    result: JSON = None
    writes: dict[str, JSON] = field(default_factory=dict)
    """Additions to `$data`."""
    state: JSON = None
    """The state that it leaves, if that is another one apart from this."""
    then: str | None = None
    """The flow directive that a switch chose."""
    is_directive: bool = False
    """Whether it only chose what follows: then the output of the task before stays."""


async def work_of(lane: "StateLane", frame: TaskFrame, state: JSON) -> Done:  # noqa: C901 - a case for each type
    """Do the work of the task of *lane* in *state*."""
    plan = _plan(lane)
    match plan.task:
        case SetTask() as task:
            return _set(await lane.fill(task.set, state), task, lane)
        case SwitchTask() as task:
            return await _switch(task, frame, state, lane)
        case DoTask():
            return await _do(frame, state, lane)
        case ForTask() as task:
            return await _for(task, frame, state, lane)
        case ForkTask() as task:
            return await _fork(task, frame.body_as(BranchesBody), state, lane)
        case TryTask() as task:
            return await _try(task, frame.body_as(TryBody), state, lane)
        case WaitTask() as task:
            await _wait(task, frame, state, lane)
            return Done()
        case RaiseTask() as task:
            raise await error_of(task, state, lane)
        case ListenTask() as task:
            return Done(writes=await listen(task, frame.body_as(MessagesBody), state, lane))
        case RunTask() as task:
            return await _run(task, frame, state, lane)
        case EmitTask():
            raise WrongData("emit writes to a stream of Temporal, and instances have none here")
        case task:
            callee = _activity(lane) if isinstance(task, CallFunction) else await callee_of(task, state, lane)
            result = await make_call(callee, frame.body_as(CallBody), state, lane)
            return Done(result, {plan.name: result})


def _set(value: JSON, task: SetTask, lane: "StateLane") -> Done:
    if not isinstance(value, dict):
        raise lane.not_an("an object", task.set, value)
    return Done(value, value)


async def _switch(task: SwitchTask, frame: TaskFrame, state: JSON, lane: "StateLane") -> Done:
    """Choose the first case that holds; run the task that it leads to, and come back."""
    if not isinstance(frame.body, RedirectBody):
        for one in task.switch:
            await lane.run.pacing.give_way()
            if one.case.when is None or await lane.holds(one.case.when, state):
                if one.case.then in DIRECTIVES:
                    return Done(then=one.case.then, is_directive=True)
                frame.body = RedirectBody(one.case.then, ListFrame(0, _without_output(state)))
                break
        else:
            return Done()
    within = lane.around()
    tasks = lane.execution.tasks_at(lane, frame.body.target)
    end = await lane.execution.run_list(tasks, frame.body.tasks, within)
    return Done(_output(end.data))


async def _do(frame: TaskFrame, state: JSON, lane: "StateLane") -> Done:
    if not isinstance(frame.body, DoBody):
        frame.body = DoBody(ListFrame(0, state))
    end = await lane.execution.run_list(_plan(lane).lists["do"], frame.body.tasks, lane)
    return Done(_output(end.data), state=end.data)


async def _for(task: ForTask, frame: TaskFrame, state: JSON, lane: "StateLane") -> Done:
    """Run the tasks for each item. The next iteration sees the context, the output and the result of the one before."""
    plan, body = _plan(lane), frame.body
    if not isinstance(body, LoopBody):
        found = await lane.fill(task.for_.in_, state)
        body = frame.body = LoopBody(_items(found, task, lane), _without_output(state), isinstance(found, dict))
        lane.run.begin_iterations(lane.path)
    while len(body.results) < len(body.items):
        number = len(body.results)
        if body.tasks is None:
            await lane.run.pacing.give_way(1)
            key, item = _pair(body.items[number])
            own = _with_data(body.state, variables_for(task.for_, item, key))
            if task.while_ is not None and not await lane.goes_on(task.while_, own):
                break
            body.tasks = ListFrame(0, _without_output(own))
        end = await lane.execution.run_list(plan.lists["do"], body.tasks, lane, f"[{number}]")
        lane.run.forget_iteration(lane.path, number)
        result, context = _output(end.data), end.data["context"] if isinstance(end.data, dict) else None
        body.state = {**_with_data(body.state, {plan.name: result}), "context": context, "output": result}
        body.results, body.tasks = [*body.results, result], None
    lane.run.begin_iterations(lane.path)
    if not body.is_object:
        return Done(body.results)
    keys = [str(_pair(one)[0]) for one in body.items]
    return Done(dict(zip(keys, body.results, strict=False)))


def _items(found: JSON, task: ForTask, lane: "StateLane") -> list[JSON]:
    """Return the keys or indexes of what a loop is for, each with its value: an object's in their order."""
    if isinstance(found, dict):
        return [[key, value] for key, value in found.items()]
    if isinstance(found, list):
        return [[index, value] for index, value in enumerate(found)]
    if isinstance(found, int | float) and not isinstance(found, bool) and found == int(found):
        return [[index, index] for index in range(int(found))]
    raise lane.not_an("an array, an object or a whole number", task.for_.in_, found)


def _pair(item: JSON) -> tuple[Any, JSON]:
    assert isinstance(item, list)  # noqa: S101 - as `_items` makes them
    return item[0], item[1]


async def _fork(task: ForkTask, body: BranchesBody, state: JSON, lane: "StateLane") -> Done:
    """Run the branches concurrently: all of them, or until the first has ended, whether or not it failed."""
    plans = _plan(lane).lists["fork/branches"].tasks
    paths = [_branch(index, plan, body, state, lane) for index, plan in enumerate(plans)]
    if not paths:
        return Done({})
    if task.fork.compete:
        results = await first_to_succeed(paths, [], lane, _no_branch)
    else:
        results = await join(paths)
    ended = [one for one in results if isinstance(one, int)]
    failed = next((one for one in ended if one in body.faults), None)
    if failed is not None:
        fault = body.faults[failed]
        assert isinstance(fault, dict)  # noqa: S101 - as it was recorded
        raise WorkflowFault.from_json(fault)
    if task.fork.compete:
        return Done(body.outputs[ended[0]].value)
    return Done({plan.name: body.outputs[index].value for index, plan in enumerate(plans)})


def _no_branch() -> WorkflowFault:
    return WrongData("there is no branch")


def _branch(index: int, plan: "TaskPlan", body: BranchesBody, state: JSON, lane: "StateLane") -> Path[int]:
    async def path() -> int:
        if index in body.outputs or index in body.faults:
            return index
        if index not in body.running:
            await lane.run.pacing.give_way(1)
            body.running[index] = ListFrame(0, _without_output(state))
        is_list = isinstance(plan.task, DoTask)
        within = lane.in_branch(plan) if is_list else lane.around(plan.name)
        tasks = plan.lists["do"] if is_list else lane.execution.only(plan)
        try:
            end = await lane.execution.run_list(tasks, body.running[index], within)
        except WorkflowFault as fault:
            if not fault.catchable:
                raise
            body.faults[index] = fault.to_json()
        else:
            body.outputs[index] = Value(_output(end.data))
        del body.running[index]
        return index

    return path


async def _try(task: TryTask, body: TryBody, state: JSON, lane: "StateLane") -> Done:
    """Run the tasks, or those for the error that they fail with: these see it in `$data`, and leave nothing there."""
    lists = _plan(lane).lists
    if body.error is None:
        if body.tasks is None:
            body.tasks = ListFrame(0, state)
        try:
            end = await lane.execution.run_list(lists["try"], body.tasks, lane)
            return Done(_output(end.data), state=end.data)
        except WorkflowFault as fault:
            lane.locate(fault)
            if not fault.catchable:
                raise
            problem = problem_of(fault, is_open=lane.execution.program.is_open)
            lane.execution.frame.error = problem
            lane.execution.stand_at(lane, state)
            code = str(problem["type"])
            lane.emit(TraceKind.ERROR_CAUGHT, _plan(lane).name, code=code, message=fault.message, error=problem)
            body.error, body.tasks = caught(fault, problem), None
    if body.handler is None:
        body.handler = ListFrame(0, _with_data(state, {task.catch.as_: body.error}))
    end = await lane.execution.run_list(lists["catch/do"], body.handler, lane)
    return Done(_output(end.data))


def caught(fault: WorkflowFault, problem: dict[str, JSON]) -> dict[str, JSON]:
    """Return the error that the tasks of `catch` see."""
    if isinstance(fault, CallFailed) and fault.status is not None and fault.code != RAISED:
        kind, message = _RETRYABLE if is_tried_again(fault) else _FINAL
        details: JSON = {"statusCode": fault.status, "content": fault.body}
    elif isinstance(fault, CallFailed):
        kind, message, details = fault.name, fault.message, fault.body
    else:
        kind, message, details = str(problem["type"]), fault.message, dict(problem)
    error: dict[str, JSON] = {"type": kind, "message": message, "nonRetryable": not is_tried_again(fault)}
    if details is not None:
        error["details"] = details
    if isinstance(fault, CallFailed):
        error["cause"] = fault.message
        error["activity"] = {"type": fault.function}
    if isinstance(fault, TimedOut):
        error["errorKind"] = "timeout"
    return error


async def _wait(task: WaitTask, frame: TaskFrame, state: JSON, lane: "StateLane") -> None:
    if not isinstance(frame.body, WaitBody):
        seconds = await lane.seconds(task.wait, state)
        frame.body = WaitBody(lane.run.time() + seconds)
        lane.emit(TraceKind.SLEEPING, _plan(lane).name, duration=f"PT{seconds:g}S")
    await lane.sleep_until(frame.body.until)


def _activity(lane: "StateLane") -> Callee:
    """Return the target of `call: activity`."""
    given: dict[str, Any] = _plan(lane).definition["with"]
    callee = Callee("custom", given.get("arguments") or [])
    callee.operation = activity_at(given)
    callee.metadata = dict(lane.execution.program.rules(_plan(lane)).external)
    return callee


async def _run(task: RunTask, frame: TaskFrame, state: JSON, lane: "StateLane") -> Done:
    if task.run.workflow is not None:
        result = await _run_workflow(task, frame.body_as(CallBody), state, lane)
    else:
        result = await run_process(task, frame, state, lane)
        result = result.strip() if isinstance(result, str) else result
    if not task.run.await_:
        result = None
    return Done(result, {_plan(lane).name: result})


async def _run_workflow(task: RunTask, body: CallBody, state: JSON, lane: "StateLane") -> JSON:
    """Run another workflow, which shares the state as it is, and has the same input unless the task says which."""
    process, plan, run = task.run.workflow, _plan(lane), lane.run
    assert process is not None  # noqa: S101 - called for these alone
    run.checkpoint()
    given = run.input if process.input is None else await lane.fill(process.input, state)
    lane.emit(TraceKind.ACTION_STARTED, plan.name, subflow=process.name)
    if body.id is None:
        body.id = run.next_id(lane.path).lstrip("/")
    call = SubflowCall(
        id=body.id,
        workflow_id=process.name,
        version=None,
        data=given,
        state=lane.state_path,
        action=plan.name,
        fire_and_forget=not task.run.await_,
        parent_close_policy="terminate" if task.run.await_ else "abandon",
        variables=lane.execution.shared(state),
    )
    try:
        result = await run.host.run_subflow(call)
    except WorkflowFault as fault:
        lane.locate(fault)
        lane.emit_failed_action(plan.name, {"subflow": process.name}, fault)
        raise
    body.id = None
    if task.run.await_:
        lane.emit(TraceKind.ACTION_COMPLETED, plan.name, result=result)
    return result


def _output(state: JSON) -> JSON:
    return state["output"] if isinstance(state, dict) else None


def _without_output(state: JSON) -> JSON:
    return {**state, "output": None} if isinstance(state, dict) else state


def _with_data(state: JSON, more: dict[str, JSON]) -> dict[str, JSON]:
    own: Any = state
    return {**own, "data": {**own["data"], **more}}


def _plan(lane: "StateLane") -> "TaskPlan":
    assert lane.plan is not None  # noqa: S101 - it is the lane of a task
    return lane.plan
