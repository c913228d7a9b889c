"""Performing actions, and merging their results into the state's data.

An action runs through the phases of the specification in order: condition, sleep before, data filter in, the
invocation, data filter out, sleep after. What it gives is an *effect*: a value and where in the data it goes.
Sequential actions see the effects of those before them. Actions that run side by side all see the same data, and
their effects are applied in the order in which the actions are written.
"""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from swf_temporal.calls import Function
from swf_temporal.data import JSON
from swf_temporal.errors import NotActive, TimedOut, WorkflowFault, WrongData
from swf_temporal.expressions.evaluation import NOTHING
from swf_temporal.function_types import operation_type
from swf_temporal.languages.serverless_workflow.execution.events import payload_of, produce
from swf_temporal.languages.serverless_workflow.execution.frames import (
    ActionFrame,
    ActionResult,
    SequenceFrame,
    keep_result,
    parallel_action,
)
from swf_temporal.languages.serverless_workflow.execution.functions import priority_of
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.outlasting import (
    call_outlasting,
    noted,
    subflow_outlasting,
)
from swf_temporal.languages.serverless_workflow.execution.result_retries import with_result_retries
from swf_temporal.languages.serverless_workflow.execution.waiting import wait_for_event
from swf_temporal.languages.serverless_workflow.model.actions import Action, EventRef, FunctionRef, SubflowRef
from swf_temporal.runtime.host import Attempts, CallAttempts, FunctionCall, SecretTemplate, SubflowCall, TraceKind
from swf_temporal.runtime.joining import MISSING, Path, join
from swf_temporal.runtime.retrying import RetryRule
from swf_temporal.runtime.trace import ActionStarted


def name_of(action: Action) -> str:
    """Return what an action is called: its name, else what it refers to."""
    if action.name:
        return action.name
    if action.function_ref:
        return action.function_ref.ref_name
    if action.sub_flow_ref:
        return action.sub_flow_ref.workflow_id
    return action.event_ref.produce_event_ref if action.event_ref else "action"


def apply(effect: ActionResult | None, data: JSON, lane: Lane) -> JSON:
    """Return *data* with an effect applied (section "Data Merging")."""
    return data if effect is None else lane.program.data_flow.apply(effect, data, lane)


def apply_each(effects: Iterable[ActionResult], data: JSON, lane: Lane) -> JSON:
    """Return *data* with *effects* applied, one after the other."""
    folding = lane.program.data_flow.folding(data, lane)
    for effect in effects:
        folding.apply(effect)
    return folding.data


async def run_actions(
    actions: Sequence[Action], mode: str, data: JSON, lane: Lane[SequenceFrame], timeout: str | None
) -> JSON:
    """Run *actions* one after the other, or all at once, and return the data with their effects."""
    if mode == "parallel" and len(actions) > 1:
        effects = await join([_alone(action, i, data, lane, timeout) for i, action in enumerate(actions)])
        done = [effect for effect in effects if effect is not MISSING and effect is not None]
        data = lane.program.data_flow.apply_all(done, data, lane)
        lane.frame["data"] = data
        return data
    return await run_sequence(actions, data, lane, timeout)


async def run_sequence(
    actions: Sequence[Action],
    data: JSON,
    lane: Lane[SequenceFrame],
    timeout: str | None,
    effects: list[ActionResult] | None = None,
) -> JSON:
    """Run *actions* one after the other and return the data with their effects, which are added to *effects*."""
    frame = lane.frame
    index = frame.get("at", 0)
    if effects is None:
        data = frame.get("data", data)
    elif effects:
        # A copy of the data in each of a thousand iterations would be more than a run can carry.
        data = apply_each(effects, data, lane)
    while index < len(actions):
        own = lane.child(frame.setdefault("action", {}), lane.path)
        effect = await run_action(actions[index], data, own, timeout)
        data = apply(effect, data, lane)
        index += 1
        frame["at"] = index
        if effects is None:
            frame["data"] = data
        elif effect is not None:
            effects.append(effect)
        del frame["action"]
    return data


async def run_action(action: Action, data: JSON, lane: Lane[ActionFrame], timeout: str | None) -> ActionResult | None:
    """Perform *action* on *data* and return its effect, or None if it was skipped."""
    name = name_of(action)
    try:
        return await _run(action, name, data, lane, action.timeout or timeout)
    except WorkflowFault as fault:
        if isinstance(fault, TimedOut) and action.timeout is not None:
            fault.is_of_action = True
        fault.action = fault.action or name
        raise lane.locate(fault) from None


async def _run(
    action: Action, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None
) -> ActionResult | None:
    frame = lane.frame
    await lane.run.pacing.yield_if_long()
    if "condition" not in frame:
        frame["condition"] = action.condition is None or lane.holds(action.condition, data)
        if not frame["condition"]:
            lane.emit(TraceKind.ACTION_SKIPPED, name)
    if not frame["condition"]:
        return None
    if action.sleep is not None and action.sleep.before:
        await lane.pause("before", action.sleep.before, data, f"before {name}")

    def attempt() -> Coroutine[Any, Any, ActionResult]:
        return _performed(action, name, data, lane, timeout)

    effect = await (with_result_retries(action, name, attempt, lane) if action.result_retries else attempt())
    if action.sleep is not None and action.sleep.after:
        await lane.pause("after", action.sleep.after, data, f"after {name}")
    return effect


def _alone(
    action: Action, index: int, data: JSON, lane: Lane[SequenceFrame], timeout: str | None
) -> Path[ActionResult | None]:
    async def path() -> ActionResult | None:
        own = lane.child(parallel_action(lane.frame, index), f"{lane.path}/{index}")
        if "effect" not in own.frame:
            effect = await run_action(action, data, own, timeout)
            keep_result(own.frame, {"effect": effect})
        return own.frame["effect"]

    return path


async def _performed(
    action: Action, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None
) -> ActionResult:
    """Return the effect of an action's invocation, which is performed unless it was already."""
    frame = lane.frame
    flow = lane.program.data_flow
    seen = data if _is_fire_and_forget(action) else flow.action_input(action, data, lane)
    if "result" not in frame:
        result = await _invoke(action, name, seen, lane, timeout)
        frame["result"] = None if result is NOTHING else result
        frame["silent"] = result is NOTHING
        lane.emit(TraceKind.ACTION_COMPLETED, name, **({} if result is NOTHING else {"result": result}))
    return [None, None] if frame["silent"] else flow.action_result(action, frame["result"], data, lane)


def _is_fire_and_forget(action: Action) -> bool:
    """Tell whether it is fire-and-forget; then its filter does not apply."""
    ref = action.function_ref or action.sub_flow_ref
    return ref is not None and ref.invoke == "async"


async def _invoke(action: Action, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None) -> Any:
    """Return what *action* yields; NOTHING for what is fire-and-forget."""
    lane.run.checkpoint()
    if action.function_ref is not None:
        return await _call_function(action, action.function_ref, name, data, lane, timeout)
    if action.sub_flow_ref is not None:
        return await _run_subflow(action, action.sub_flow_ref, name, data, lane, timeout)
    if action.event_ref is not None:
        return await _exchange_events(action, action.event_ref, name, data, lane, timeout)
    raise lane.locate(WrongData(f"action {name!r} refers to no function, event or sub-workflow"))


async def _call_function(
    action: Action, ref: FunctionRef, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None
) -> Any:
    function = lane.program.function(ref.ref_name)
    kept = _kept(lane.frame)
    arguments, deferred = _arguments(ref, data, lane) if kept is None else (kept["arguments"], None)
    priority = priority_of(function)
    if kept is None:
        details: ActionStarted = {"function": function.name, "arguments": arguments}
        lane.emit(
            TraceKind.ACTION_STARTED, name, **(details if priority is None else {**details, "priority": priority})
        )
    if function.type == "expression":
        if ref.invoke == "async":
            return NOTHING  # its result and its error would be dropped
        compiled = lane.program.expressions.expression(function.operation)
        return lane.with_variables({"args": arguments}).evaluate(compiled, data)

    call_id: str = lane.run.next_id(f"{lane.path}/{name}") if kept is None else kept["id"]

    def keep(made: CallAttempts) -> None:  # without the call, which has it: a cycle for each call is slow to collect
        lane.frame["attempts"] = {"made": made.to_json(), "id": call_id, "arguments": arguments}

    call = FunctionCall(
        id=call_id,
        function=function,
        arguments=arguments,
        state=lane.state_path,
        action=name,
        priority=priority,
        deferred=deferred,
        timeout=None if timeout is None else lane.duration(timeout, data),
        retry=None if ref.invoke == "async" else lane.program.retry_rule(action),
        auth=lane.program.auth_of(function),
        secrets=lane.program.workflow.secrets if deferred or _may_need_credentials(function) else (),
        selection_set=lane.fill(ref.selection_set, data),
        fire_and_forget=ref.invoke == "async",
        attempts=None
        if ref.invoke == "async"
        else Attempts(
            CallAttempts.from_json(kept["made"]) if kept and "made" in kept else None, keep, lane.run.sleep_until
        ),
        outlast=call_outlasting(ref, function, lane),
    )
    result = await noted(lane.run.host.invoke(call), call, lane)
    lane.frame.pop("attempts", None)
    return NOTHING if call.fire_and_forget else result


def _kept(frame: ActionFrame) -> dict[str, Any] | None:
    """Return what the frame has of a call that is under way: one that outlasts an execution has its arguments."""
    if "call" in frame:
        return {"id": frame["call"], "arguments": None}
    return frame.get("attempts")


def _arguments(ref: FunctionRef, data: JSON, lane: Lane) -> tuple[JSON, SecretTemplate | None]:
    """Return the arguments; those with secrets as they are written, and with what fills them where they are used."""
    template = lane.program.expressions.template(ref.arguments)
    if "SECRETS" in template.mentions:
        known = {key: value for key, value in lane.variables.items() if key in template.mentions}
        return ref.arguments, SecretTemplate(ref.arguments, data, known, lane.program.workflow.expression_lang)
    arguments = lane.evaluate(template, data)
    return None if arguments is NOTHING else arguments, None


def _may_need_credentials(function: Function) -> bool:
    """Tell whether a call may have to say who is calling: by an auth, or as the function's document asks."""
    kind = operation_type(function.type)
    return function.auth_ref is not None or (kind is not None and kind.may_need_credentials)


async def _run_subflow(
    action: Action, ref: SubflowRef, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None
) -> Any:
    fire_and_forget = ref.invoke == "async"
    if "attempt" not in lane.frame:
        lane.emit(TraceKind.ACTION_STARTED, name, subflow=ref.workflow_id)

    async def attempt() -> Any:
        call = SubflowCall(
            id=lane.frame.get("call") or lane.run.next_id(f"{lane.path}/{name}"),
            workflow_id=ref.workflow_id,
            version=ref.version,
            data=data,
            state=lane.state_path,
            action=name,
            fire_and_forget=fire_and_forget,
            parent_close_policy="abandon" if ref.on_parent_complete == "continue" else "terminate",
            outlast=subflow_outlasting(ref, lane),
        )
        try:
            return await noted(lane.run.host.run_subflow(call), call, lane)
        except WorkflowFault as fault:
            if fault.name == NotActive.default_name:
                # What starts at certain times alone is passed over at others.
                lane.emit(TraceKind.NOT_ACTIVE, name, interval=None)
                return NOTHING
            raise

    rule = None if fire_and_forget else lane.program.retry_rule(action)
    deadline = None if fire_and_forget else lane.deadline("action timeout", timeout, data)
    result = await lane.within(deadline, _with_retries(attempt, rule, name, lane), f"action {name!r}")
    return NOTHING if fire_and_forget else result


async def _with_retries(
    attempt: Callable[[], Coroutine[Any, Any, Any]], rule: RetryRule | None, name: str, lane: Lane[ActionFrame]
) -> Any:
    """Make attempts until one succeeds or *rule* gives up; used where an attempt is more than one call."""
    frame = lane.frame
    number = frame.get("attempt", 1)
    while True:
        frame["attempt"] = number
        if number > 1:
            await lane.run.sleep_until(frame["again"], f"retry of {name}")
            lane.run.checkpoint()
        try:
            return await attempt()
        except WorkflowFault as fault:
            is_covered = rule is not None and rule.covers(fault, slow_is_fatal=True)
            delay = rule.delay_after(number) if rule is not None and is_covered else None
            if delay is None:
                fault.attempt = number
                raise
            lane.emit(TraceKind.ACTION_RETRIED, name, attempt=number, error=fault.name)
            number += 1
            frame["again"] = lane.run.time() + delay.total_seconds()


async def _exchange_events(
    action: Action, ref: EventRef, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None
) -> Any:
    """Produce an event and, unless it is fire-and-forget, return the payload of the event that answers it.

    An answer that does not come in time is asked for again as the action's retries say.
    """
    frame = lane.frame
    if "attempt" not in frame:
        lane.emit(TraceKind.ACTION_STARTED, name, event=ref.produce_event_ref)

    async def attempt() -> Any:
        if "produced" not in frame:
            await produce(ref.produce_event_ref, ref.data, ref.context_attributes, data, lane)
            frame["produced"] = True
        if ref.invoke == "async" or ref.consume_event_ref is None:
            return NOTHING
        limit = lane.deadline("result timeout", ref.consume_event_timeout, data)
        taken = await wait_for_event([ref.consume_event_ref], limit, lane)
        if taken is None:
            # Another attempt asks anew, and has as much time.
            del frame["produced"], frame["result timeout"]
            raise TimedOut(f"event {ref.consume_event_ref!r} did not come in time")
        return payload_of(lane.program.event(ref.consume_event_ref), taken[1])

    rule = None if ref.invoke == "async" else lane.program.retry_rule(action)
    deadline = lane.deadline("action timeout", timeout, data)
    return await lane.within(deadline, _with_retries(attempt, rule, name, lane), f"action {name!r}")
