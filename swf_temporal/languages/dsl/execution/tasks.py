"""The work of each type of task, apart from calls and listening."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from swf_temporal.base.cloud_event import FIXED, CloudEvent, check_attributes
from swf_temporal.base.data import JSON, as_text
from swf_temporal.base.errors import TimedOut, WorkflowFault, WrongData
from swf_temporal.languages.dsl.execution.calls import run_call, run_process
from swf_temporal.languages.dsl.execution.errors import is_same_type, problem_of, raised, short_type
from swf_temporal.languages.dsl.execution.frames import (
    DoBody,
    ForBody,
    ForkBody,
    ListenBody,
    ListFrame,
    TaskFrame,
    TryBody,
    WaitBody,
    WorkDone,
    WorkflowEnded,
)
from swf_temporal.languages.dsl.execution.lane import Lane
from swf_temporal.languages.dsl.execution.listening import release, run_listen
from swf_temporal.languages.dsl.execution.program import variables_for
from swf_temporal.languages.dsl.model.parts import ErrorFilter, RetryPolicy
from swf_temporal.languages.dsl.model.workflow import (
    Catch,
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
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.iterations import first_to_succeed
from swf_temporal.runtime.joining import MISSING, Path, join
from swf_temporal.runtime.progress import Value
from swf_temporal.runtime.retrying import MAX_DELAY

if TYPE_CHECKING:
    from swf_temporal.languages.dsl.execution.program import TaskPlan


async def work_of(lane: Lane, frame: TaskFrame) -> WorkDone:  # noqa: C901 - a case for each type
    """Do the work of the task of *lane* on its transformed input; return its raw output."""
    assert lane.plan is not None and frame.input is not None  # noqa: S101, PT018 - it is the lane of a task
    task, data = lane.plan.task, frame.input.value
    match task:
        case SetTask():
            return WorkDone(await lane.fill(task.set, data), task.then)
        case SwitchTask():
            return await run_switch(task, data, lane)
        case DoTask():
            return WorkDone(await run_do(frame, data, lane), task.then)
        case ForTask():
            return WorkDone(await run_for(task, frame, data, lane), task.then)
        case ForkTask():
            return WorkDone(await run_fork(task, frame.body_as(ForkBody), data, lane), task.then)
        case TryTask():
            return await run_try(task, frame.body_as(TryBody), data, lane)
        case WaitTask():
            return WorkDone(await run_wait(task, frame, data, lane), task.then)
        case RaiseTask():
            raise await error_of(task, data, lane)
        case EmitTask():
            return WorkDone(await run_emit(task, data, lane), task.then)
        case ListenTask():
            return WorkDone(await run_listen(task, frame.body_as(ListenBody), data, lane), task.then)
        case RunTask():
            return WorkDone(await run_process(task, frame, data, lane), task.then)
        case _:
            return WorkDone(await run_call(task, frame, data, lane), task.then)


async def run_switch(task: SwitchTask, data: JSON, lane: Lane) -> WorkDone:
    """Choose the first case whose condition holds, or else the one without a condition."""
    default = task.then
    for one in task.switch:
        await lane.run.pacing.give_way()
        if one.case.when is None:
            default = one.case.then
        elif await lane.holds(one.case.when, data):
            return WorkDone(data, one.case.then)
    return WorkDone(data, default)


async def run_do(frame: TaskFrame, data: JSON, lane: Lane) -> JSON:
    """Run the tasks in turn."""
    if not isinstance(frame.body, DoBody):
        frame.body = DoBody(ListFrame(0, data))
    end = await lane.execution.run_list(_plan(lane).lists["do"], frame.body.tasks, lane)
    return end.data


async def run_for(task: ForTask, frame: TaskFrame, data: JSON, lane: Lane) -> JSON:
    """Run the tasks for each item; each iteration begins with the output of the one before."""
    body = frame.body
    if not isinstance(body, ForBody):
        items = await lane.evaluate(task.for_.in_, data)
        if not isinstance(items, list):
            raise lane.not_an("an array", task.for_.in_, items)
        body = frame.body = ForBody(items, data)
        lane.run.begin_iterations(lane.path)
    while body.index < len(body.items):
        variables = variables_for(task.for_, body.items[body.index], body.index)
        if body.tasks is None:
            await lane.run.pacing.give_way(1)
            if task.while_ is not None and not await lane.holds(task.while_, body.data, variables):
                break
            body.tasks = ListFrame(0, body.data)
        end = await lane.execution.run_list(_plan(lane).lists["do"], body.tasks, lane, f"[{body.index}]", variables)
        lane.run.forget_iteration(lane.path, body.index)
        body.data, body.tasks, body.index = end.data, None, body.index + 1
        if end.is_exit:
            break
    lane.run.begin_iterations(lane.path)
    return body.data


async def run_fork(task: ForkTask, body: ForkBody, data: JSON, lane: Lane) -> JSON:
    """Run the branches concurrently; return the outputs of all of them, or that of the first that succeeds."""
    plans = _plan(lane).lists["fork/branches"].tasks
    paths = [_branch(index, plan, body, data, lane) for index, plan in enumerate(plans)]
    if not task.fork.compete:
        return list(await join(paths))  # type: ignore[arg-type]  # all are complete

    def all_failed() -> WorkflowFault:
        return WorkflowFault.from_json(body.fault) if isinstance(body.fault, dict) else WrongData("there is no branch")

    results = await first_to_succeed(paths, body.failed, lane, all_failed)
    for frame in body.running.values():
        release(frame, lane)
    return next(one for one in results if one is not MISSING)


def _branch(index: int, plan: "TaskPlan", body: ForkBody, data: JSON, lane: Lane) -> Path[JSON]:
    async def path() -> JSON:
        if index not in body.outputs:
            frame = body.running.get(index)
            if frame is None:
                await lane.run.pacing.give_way(1)
                frame = body.running[index] = TaskFrame(lane.run.time())
            try:
                output, then = await lane.execution.run_task(frame, data, lane.in_branch(plan))
            except WorkflowFault as fault:
                body.fault = fault.to_json()
                raise
            del body.running[index]
            body.outputs[index] = Value(output)
            if then == "end":
                raise WorkflowEnded(output)
        return body.outputs[index].value

    return path


async def run_wait(task: WaitTask, frame: TaskFrame, data: JSON, lane: Lane) -> JSON:
    """Wait for the duration."""
    if not isinstance(frame.body, WaitBody):
        seconds = await lane.seconds(task.wait, data)
        frame.body = WaitBody(lane.run.time() + seconds)
        lane.emit(TraceKind.SLEEPING, _plan(lane).name, duration=f"PT{seconds:g}S")
    await lane.sleep_until(frame.body.until)
    return data if frame.input is None else frame.input.value


async def error_of(task: RaiseTask, data: JSON, lane: Lane) -> WorkflowFault:
    """Return the fault of the error that *task* raises."""
    given = task.raise_.error
    error = lane.execution.program.workflow.use.errors[given] if isinstance(given, str) else given
    problem: dict[str, JSON] = {"type": await lane.uri(error.type, data), "status": error.status}
    for name in ("title", "detail"):
        text = getattr(error, name)
        if text is not None:
            problem[name] = await lane.fill(text, data)
    # The text has runtimes set where an error comes from, whatever the author wrote.
    problem["instance"] = _plan(lane).pointer
    return lane.locate(raised(problem))


async def run_emit(task: EmitTask, data: JSON, lane: Lane) -> JSON:
    """Emit the event; the output is the event."""
    lane.run.checkpoint()
    given = await lane.fill(task.emit.event.with_, data)
    event = event_of(given if isinstance(given, dict) else {}, lane)
    lane.emit_event(TraceKind.EVENT_PRODUCED, event.type, event)
    await lane.run.host.publish(event)
    return event.to_json()


def event_of(given: Mapping[str, JSON], lane: Lane) -> CloudEvent:
    """Return the event with the attributes that are *given*, and those that it lacks."""
    document = lane.execution.program.workflow.document
    source = given.get("source") or f"/{document.namespace}/{document.name}/{document.version}"
    others = {
        name: _attribute(value) for name, value in given.items() if name.lower() not in FIXED and value is not None
    }
    if "time" not in others:
        others["time"] = datetime.fromtimestamp(lane.run.time(), UTC).isoformat().replace("+00:00", "Z")
    if "data" in given and "datacontenttype" not in others:
        others["datacontenttype"] = "application/json"
    event = CloudEvent(
        as_text(given.get("id") or lane.run.host.new_id()),
        as_text(source),
        as_text(given.get("type")),
        given.get("data"),
        others,
    )
    try:
        check_attributes(event)
    except ValueError as error:
        raise lane.locate(WrongData(f"the event cannot be emitted: {error}")) from None
    return event


def _attribute(value: JSON) -> JSON:
    return value if isinstance(value, str | int) else as_text(value)


async def run_try(task: TryTask, body: TryBody, data: JSON, lane: Lane) -> WorkDone:
    """Run the tasks; handle an error that is caught, perhaps after further attempts."""
    plan, catch = _plan(lane), task.catch
    policy = lane.execution.retry_policy(catch.retry)
    while body.error is None:
        if body.attempts.again is not None:
            await lane.sleep_until(body.attempts.again, "retry")
            lane.run.checkpoint()
            body.attempts.again = None
        try:
            return WorkDone(await _attempt(policy, body, data, lane), task.then)
        except WorkflowFault as fault:
            lane.locate(fault)
            problem = problem_of(fault, is_open=lane.execution.program.is_open)
            if not fault.catchable or not await _is_caught(catch, problem, data, lane):
                raise
            delay = await _delay(policy, body, problem, data, lane)
            if delay is None and policy is not None and not catch.do and catch.then is None:
                raise  # the attempts are used up, and nothing else is to be done about the error
            if body.tasks is not None:
                release(body.tasks, lane)
            lane.execution.frame.error = problem
            lane.execution.stand_at(lane, data)
            if delay is None:
                code = str(problem["type"])
                lane.emit(TraceKind.ERROR_CAUGHT, plan.name, code=code, message=fault.message, error=problem)
                body.error, body.tasks = problem, None
            else:
                name = short_type(str(problem["type"]))
                lane.emit(TraceKind.STATE_RETRIED, plan.name, attempt=body.attempts.number, error=name, delay=delay)
                body.attempts.number += 1
                body.attempts.again = lane.run.time() + delay
                body.tasks = body.attempt_until = None
    then = catch.then or task.then
    if not catch.do:
        return WorkDone(data, then)
    if body.handler is None:
        body.handler = ListFrame(0, data)
    variables = {catch.as_: body.error}
    end = await lane.execution.run_list(plan.lists["catch/do"], body.handler, lane, "", variables)
    return WorkDone(end.data, then)


async def _attempt(policy: RetryPolicy | None, body: TryBody, data: JSON, lane: Lane) -> JSON:
    if body.tasks is None:
        body.tasks = ListFrame(0, data)
    attempt = None if policy is None or policy.limit is None else policy.limit.attempt
    if attempt is not None and attempt.duration is not None and body.attempt_until is None:
        body.attempt_until = lane.run.time() + await lane.seconds(attempt.duration, data)
    work = lane.execution.run_list(_plan(lane).lists["try"], body.tasks, lane)
    end = await lane.in_time(
        body.attempt_until,
        work,
        lambda: lane.locate(TimedOut(f"an attempt of task {_plan(lane).name!r} timed out")),
        "attempt",
    )
    return end.data


async def _is_caught(catch: Catch, problem: dict[str, JSON], data: JSON, lane: Lane) -> bool:
    if catch.errors is not None and catch.errors.with_ is not None and not matches(catch.errors.with_, problem):
        return False
    variables = {catch.as_: problem}
    if catch.when is not None and not await lane.holds(catch.when, data, variables):
        return False
    return catch.except_when is None or not await lane.holds(catch.except_when, data, variables)


def matches(wanted: ErrorFilter, problem: Mapping[str, JSON]) -> bool:
    """Return whether an error has the properties *wanted*."""
    if wanted.type is not None and not is_same_type(wanted.type, str(problem["type"])):
        return False
    detail = wanted.details if wanted.detail is None else wanted.detail
    others = (("status", wanted.status), ("instance", wanted.instance), ("title", wanted.title), ("detail", detail))
    return all(value is None or problem.get(name) == value for name, value in others)


async def _delay(
    policy: RetryPolicy | None, body: TryBody, problem: dict[str, JSON], data: JSON, lane: Lane
) -> float | None:
    """Return the seconds before the next attempt, or None if there is none."""
    if policy is None:
        return None
    if body.first is None:
        body.first = lane.run.time()
    variables = {_catch_of(lane).as_: problem}
    if policy.when is not None and not await lane.holds(policy.when, data, variables):
        return None
    if policy.except_when is not None and await lane.holds(policy.except_when, data, variables):
        return None
    limit, retries = policy.limit, body.attempts.number - 1
    if (
        limit is not None
        and limit.attempt is not None
        and limit.attempt.count is not None
        and retries >= limit.attempt.count
    ):
        return None
    delay = 0.0 if policy.delay is None else await lane.seconds(policy.delay, data)
    delay = grown(policy, delay, body.attempts.number)
    if policy.jitter is not None:
        low = await lane.seconds(policy.jitter.from_, data)
        high = await lane.seconds(policy.jitter.to, data)
        key = f"{lane.run.instance.instance_id}/{lane.run.instance.run_id}/{lane.path}"
        delay += low + max(0.0, high - low) * lane.run.host.jitter(key)(body.attempts.number)
    if limit is not None and limit.duration is not None:
        over = body.first + await lane.seconds(limit.duration, data)
        if lane.run.time() + delay > over:
            return None
    return delay


def grown(policy: RetryPolicy, delay: float, attempt: int) -> float:
    """Return the delay after *attempt*, counted from 1, by the policy's backoff."""
    backoff = policy.backoff
    if backoff is None:
        return delay
    if "linear" in backoff.model_fields_set:
        return min(delay * attempt, MAX_DELAY)
    if "exponential" in backoff.model_fields_set:
        return min(delay * 2.0 ** min(attempt - 1, 64), MAX_DELAY)
    return delay


def _catch_of(lane: Lane) -> Catch:
    task = _plan(lane).task
    assert isinstance(task, TryTask)  # noqa: S101 - called for its tasks alone
    return task.catch


def _plan(lane: Lane) -> "TaskPlan":
    assert lane.plan is not None  # noqa: S101 - it is the lane of a task
    return lane.plan
