"""Running steps. What waits, repeats, runs side by side or is left behind is asked of the runtime."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, merge
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import TimedOut, WorkflowFault
from swf_temporal.runtime.correlation import CorrelationKeys, KeyRule
from swf_temporal.runtime.execution import ExecutionBase
from swf_temporal.runtime.host import Completed, FunctionCall, SecretTemplate, SubflowCall, TraceKind
from swf_temporal.runtime.iterations import MAX_AT_ONCE, DetachedBranches, Iterations, begin_front, first_to_succeed
from swf_temporal.runtime.joining import MISSING, Path, join
from swf_temporal.runtime.lanes import LaneBase
from swf_temporal.runtime.progress import Front, Value
from swf_temporal.runtime.retrying import AttemptsFrame, RetryRule
from swf_temporal.runtime.run import Run, walk
from swf_temporal.runtime.waiting import EventSelector, TakenEvents, next_event, next_of_each
from tests.languages.steps.expressions import SECRETS
from tests.languages.steps.faults import problem_of
from tests.languages.steps.frames import LeftFrame, ListFrame, StepFrame, StepsFrame
from tests.languages.steps.model import NAME, Step, Steps, id_of

if TYPE_CHECKING:
    from tests.languages.steps.language import StepsDefinition


class Lane(LaneBase):
    """One list of steps under way, or a step of it."""

    __slots__ = ("execution", "variables")

    def __init__(self, execution: "StepsExecution", state_path: str, path: str, variables: Mapping[str, JSON]) -> None:
        super().__init__(execution.run, state_path, path)
        self.execution = execution
        self.variables = variables

    def at(self, where: str, key: str = "", **variables: JSON) -> "Lane":
        """Return the lane of what stands below; *key* tells it from others of its kind that run beside it."""
        return Lane(
            self.execution, f"{self.state_path}/{where}" if self.state_path else where,
            f"{self.path}{key}/{where}" if self.path else where, {**self.variables, **variables},
        )  # fmt: skip

    async def value_of(self, written: JSON, data: JSON) -> JSON:
        definition = self.execution.definition
        about: dict[str, JSON] = {"id": definition.id}
        variables: dict[str, JSON] = {**self.variables, "kitchen": about, "__now": self.run.time()}
        return await self.run.evaluated(lambda: definition.expressions.value_of(written, data, variables))


class StepsExecution(ExecutionBase[StepsFrame]):
    def __init__(self, definition: "StepsDefinition", run: Run, frame: StepsFrame) -> None:
        super().__init__(run, frame)
        self.definition = definition
        self.keys = CorrelationKeys(frame.keys)
        self.left = DetachedBranches(frame.left, self._run_left)

    async def execute(self) -> Completed:
        """Run to the end, and wait for what was left running."""
        frame = self.frame

        async def own() -> JSON:
            if frame.ended is None:
                frame.steps = frame.steps or ListFrame(frame.data)
                frame.ended = Value(await run_list(self.definition.steps, frame.steps, Lane(self, "", "", {})))
            return frame.ended.value

        return Completed(await self.left.run_beside(own))

    async def _run_left(self, frame: LeftFrame) -> None:
        lane = Lane(self, frame.state, frame.lane, frame.variables)
        await run_list(self.definition.list_at(frame.state), frame.steps, lane)


async def run_list(steps: Steps, frame: ListFrame, lane: Lane) -> JSON:
    """Run *steps* one after the other, as far as *frame* does not say that they were, and return their data."""

    async def step() -> bool | None:
        if frame.at < len(steps):
            one = steps[frame.at]
            path = f"{frame.at} {one.kind}"
            own = lane.at(path)
            if frame.step is None:
                frame.step = StepFrame()
                lane.execution.frame.state = own.state_path
                own.enter_state(own.state_path, one.kind, frame.data)
            try:
                data = await _RUNNERS[one.kind](one, frame.data, frame.step, own)
            except WorkflowFault as fault:
                raise own.locate(fault) from fault.__cause__
            own.leave_state(own.state_path, data)
            frame.data, frame.at, frame.step = data, frame.at + 1, None
            if not lane.path:
                lane.execution.frame.data = data
        return None if frame.at < len(steps) else True

    await walk(lane.run, step)
    frame.is_done = True
    return frame.data


def _inner(name: str, data: JSON, frame: StepFrame) -> ListFrame:
    return frame.inner.setdefault(name, ListFrame(data))


# Steps
async def _set(step: Step, data: JSON, _: StepFrame, lane: Lane) -> JSON:
    value = await lane.value_of(step.value, data)
    # Under the second number, which only tests know, a step forgets what there was.
    return value if lane.run.semantics >= 2 else merge(data, value)


async def _wait(step: Step, data: JSON, frame: StepFrame, lane: Lane) -> JSON:
    frame.until = lane.moment_after(frame.until, parse_duration(step.value).total_seconds())
    await lane.sleep_until(frame.until)
    return data


async def _call(step: Step, data: JSON, _: StepFrame, lane: Lane) -> JSON:
    lane.run.checkpoint()
    definition, function = lane.execution.definition, function_of(step, lane.state_path)
    written: JSON = {} if isinstance(step.value, str) else step.value.get("with", {})
    is_secret = SECRETS in definition.expressions.mentions(written)
    arguments = data if isinstance(step.value, str) else written if is_secret else await lane.value_of(written, data)
    lane.emit(TraceKind.ACTION_STARTED, function.name, function=function.name, arguments=arguments)
    call = FunctionCall(
        id=lane.run.next_id(f"{lane.path}/{function.type}"), function=function, arguments=arguments,
        state=lane.state_path, action=function.name,
        secret_template=SecretTemplate(written, data, dict(lane.variables)) if is_secret else None,
        secrets=definition.secrets, auth=_auths_of(step, function), retry=_rule_of(step), language=NAME,
    )  # fmt: skip
    result = await lane.run.host.invoke(call)
    lane.emit(TraceKind.ACTION_COMPLETED, function.name, result=result)
    return merge(data, result)


def function_of(step: Step, path: str) -> Function:
    """Return what a step calls: a function by its name or, without one, what the step at *path* says itself."""
    if isinstance(step.value, str):
        return Function(step.value, "custom")
    reference = AuthRef(invocation=path) if "as" in step.value else None
    return Function(path, step.value["type"], step.value["operation"], reference)


def _auths_of(step: Step, function: Function) -> tuple[Auth, ...]:
    if function.auth_ref is None:
        return ()
    scheme, properties = next(iter(step.value["as"].items()))
    return (Auth(function.name, scheme, properties),)


def _rule_of(step: Step) -> RetryRule | None:
    """Return how a call is made again, as a condition over its error says."""
    again = {} if isinstance(step.value, str) else step.value.get("again", {})
    if not again:
        return None
    delay = parse_duration(again.get("after", "PT0S")).total_seconds()
    return RetryRule(delay=delay, max_attempts=1 + again["times"], condition=again.get("when"))


async def _run(step: Step, data: JSON, _: StepFrame, lane: Lane) -> JSON:
    """Run another workflow of the same kitchen, or one of another, by all parts of its id."""
    lane.run.checkpoint()
    meant = id_of(step.value, lane.execution.definition.namespace)
    lane.emit(TraceKind.ACTION_STARTED, meant, subflow=meant)
    call_id = lane.run.next_id(f"{lane.path}/{meant}")
    call = SubflowCall(id=call_id, workflow_id=meant, version=None, data=data, state=lane.state_path, action=meant)
    result = await lane.run.host.run_subflow(call)
    lane.emit(TraceKind.ACTION_COMPLETED, meant, result=result)
    return merge(data, result)


async def _do(step: Step, data: JSON, frame: StepFrame, lane: Lane) -> JSON:
    return await run_list(step.lists["do"], _inner("do", data, frame), lane.at("do"))


async def _in(step: Step, data: JSON, frame: StepFrame, lane: Lane) -> JSON:
    """Run a list that may take no longer than a time."""
    frame.deadline = lane.moment_after(frame.deadline, parse_duration(step.value["time"]).total_seconds())
    return await lane.in_time(
        frame.deadline, _do(step, data, frame, lane), lambda: TimedOut("the steps took too long"), "do"
    )


async def _each(step: Step, data: JSON, frame: StepFrame, lane: Lane) -> JSON:
    """Run a list for each element; what each comes to stands under `results`."""
    items: Any = await lane.value_of(step.value["in"], data)
    front = frame.front = frame.front or begin_front(Front, len(items), lane)
    frames = frame.iterations

    async def run_one(index: int) -> None:
        one = frames.setdefault(index, ListFrame(data))
        await run_list(step.lists["do"], one, lane.at("do", f"[{index}]", **{step.value["each"]: items[index]}))

    def keep(one: ListFrame) -> None:
        front.outputs.append(one.data)

    await Iterations(
        lane, front, frames, run_one=run_one, is_complete=lambda one: one.is_done, keep=keep, calls=None
    ).run(window=step.value.get("at once", MAX_AT_ONCE))
    return merge(data, {"results": await front.all_outputs(lane.run.host)})


async def _beside(step: Step, data: JSON, frame: StepFrame, lane: Lane) -> JSON:
    """Run lists side by side; what each comes to stands under its name."""
    results = await join(_branches(step, data, frame, lane))
    return merge(data, dict(zip(step.lists, (one for one in results if one is not MISSING), strict=True)))


async def _race(step: Step, data: JSON, frame: StepFrame, lane: Lane) -> JSON:
    """Run lists side by side until one does not fail; its data go on."""
    paths = _branches(step, data, frame, lane)
    results = await first_to_succeed(paths, frame.failed, lane, lambda: _fault({"type": "all-failed"}))
    return next(one for one in results if one is not MISSING)


def _branches(step: Step, data: JSON, frame: StepFrame, lane: Lane) -> list[Path[JSON]]:
    return [partial(run_list, steps, _inner(name, data, frame), lane.at(name)) for name, steps in step.lists.items()]


async def _leave(__: Step, data: JSON, _: StepFrame, lane: Lane) -> JSON:
    own = lane.at("do")
    lane.execution.left.add(LeftFrame(own.state_path, own.path, dict(lane.variables), ListFrame(data)))
    return data


async def _try(step: Step, data: JSON, frame: StepFrame, lane: Lane) -> JSON:
    """Run a list, once more as often as its rule says, and another if it fails for good: as problem details say."""
    rule = step.value.get("again", {})
    attempts = frame.attempts = frame.attempts or AttemptsFrame()

    async def attempt() -> JSON:
        return await _do(step, data, frame, lane)

    async def delay_after(outcome: JSON | WorkflowFault) -> float | None:
        if not isinstance(outcome, WorkflowFault) or not outcome.catchable or attempts.number > rule.get("times", 0):
            return None
        if not await _holds(rule, outcome, data, lane):
            return None
        frame.inner.clear()
        delay = parse_duration(rule.get("after", "PT0S")).total_seconds()
        lane.emit(TraceKind.STATE_RETRIED, lane.state_path, attempt=attempts.number, error=outcome.name, delay=delay)
        return delay

    if frame.caught is None:
        try:
            return await lane.repeat(attempts, attempt, delay_after)
        except WorkflowFault as fault:
            if "catch" not in step.lists or not fault.catchable:
                raise
            frame.caught, frame.inner = problem_of(fault), {}
            lane.execution.frame.error = frame.caught
            lane.emit(TraceKind.ERROR_CAUGHT, fault.name, code=fault.code, message=fault.message)
    return await run_list(step.lists["catch"], _inner("catch", data, frame), lane.at("catch", error=frame.caught))


async def _holds(rule: Mapping[str, JSON], fault: WorkflowFault, data: JSON, lane: Lane) -> bool:
    own = lane.at("again", error=problem_of(fault))
    return "when" not in rule or await own.value_of(rule["when"], data) is True


async def _raise(step: Step, data: JSON, _: StepFrame, lane: Lane) -> JSON:
    raise _fault(await lane.value_of(step.value, data))


def _fault(problem: Any) -> WorkflowFault:
    return WorkflowFault(
        problem.get("title", problem["type"]), name=problem["type"], code=problem["type"], status=problem.get("status")
    )


async def _listen(step: Step, data: JSON, frame: StepFrame, lane: Lane) -> JSON:
    """Wait for one of several events, or for one of each: they stand under their types, and have no other names."""
    kinds: list[Mapping[str, Any]] = step.value.get("all") or step.value["any"]
    types, keys, events = [one["type"] for one in kinds], lane.execution.keys, TakenEvents()
    if "time" in step.value:
        frame.deadline = lane.moment_after(frame.deadline, parse_duration(step.value["time"]).total_seconds())

    async def wait(free: list[str]) -> tuple[int, CloudEvent] | None:
        selector = selector_of([kinds[types.index(type_)] for type_ in free])
        return await next_event(
            selector, frame, lane, deadline=frame.deadline, keys=keys, given=[{} for _ in selector.names]
        )

    needed = len(types) if "all" in step.value else 1
    while len(frame.taken) < needed:
        fits = lambda ref, event: event.type == ref  # noqa: E731
        if await next_of_each(types, frame, events, fits, wait, keys) is None:
            raise TimedOut("the events did not come in time")
    return merge(data, {type_: _data_of(record) for type_, record in frame.taken.items()})


async def _stream(step: Step, data: JSON, frame: StepFrame, lane: Lane) -> JSON:
    """Run a list for one event after the other, on the data that the one before came to, until a condition holds."""
    selector = selector_of([step.value])
    while True:
        if frame.event is None:
            found = await next_event(selector, frame, lane, keys=lane.execution.keys, given=[{}])
            assert found is not None
            frame.event = found[1].to_record()
        inner = _inner("do", data, frame)
        own = lane.at("do", f"[{frame.read}]", event=_data_of(frame.event))
        reached = await run_list(step.lists["do"], inner, own)
        if await lane.value_of(step.value["until"], reached) is True:
            return reached
        inner.at, inner.is_done, frame.event, frame.read = 0, False, None, frame.read + 1


def selector_of(kinds: list[Mapping[str, Any]]) -> EventSelector:
    """Return what selects events of some kinds, each of which has a type, and may have a key."""
    return EventSelector(
        [one["type"] for one in kinds],
        [partial(_is_of, one["type"]) for one in kinds],
        tuple(one["type"] for one in kinds),
        [[KeyRule(one["key"], partial(_key_in, one["key"]))] if "key" in one else [] for one in kinds],
    )


def _is_of(type_: str, event: CloudEvent) -> bool:
    return event.type == type_


def _key_in(name: str, event: CloudEvent) -> JSON:
    return event.attribute(name)


def _data_of(record: JSON) -> JSON:
    assert isinstance(record, dict)
    return CloudEvent.from_record(record).data


_RUNNERS: dict[str, Callable[[Step, JSON, StepFrame, Lane], Awaitable[JSON]]] = {
    "set": _set, "wait": _wait, "call": _call, "do": _do, "in": _in, "each": _each, "beside": _beside, "race": _race,
    "leave": _leave, "run": _run, "try": _try, "raise": _raise, "listen": _listen, "stream": _stream,
}  # fmt: skip
KINDS = tuple(_RUNNERS)
