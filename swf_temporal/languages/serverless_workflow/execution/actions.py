"""Performing actions, and merging their results into the state's data.

An action runs through the phases of the specification in order: condition, sleep before, data filter in, the
invocation (`invoking.py`), data filter out, sleep after. What it gives is an *effect*: a value and where in the data it
goes. Sequential actions see the effects of those before them. Actions that run side by side all see the same data, and
their effects are applied in the order in which the actions are written.
"""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import TimedOut, WorkflowFault
from swf_temporal.expressions.evaluation import NOTHING
from swf_temporal.languages.serverless_workflow.execution.action_frames import (
    ActionFrame,
    ActionResult,
    BesideFrame,
    SequenceFrame,
)
from swf_temporal.languages.serverless_workflow.execution.invoking import invoke
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.request_facts import after_result
from swf_temporal.languages.serverless_workflow.execution.result_retries import with_result_retries
from swf_temporal.languages.serverless_workflow.execution.step import Diverted
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.joining import MISSING, Path, join
from swf_temporal.runtime.progress import Value
from swf_temporal.runtime.trace import Invoked


def name_of(action: Action) -> str:
    """Return what an action is called: its name, else what it refers to."""
    return action.name or next(map(str, _invoked(action).values()), "action")


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
        lane.frame.data = Value(data)
        return data
    return await run_sequence(actions, data, lane, timeout)


async def run_sequence(
    actions: Sequence[Action],
    data: JSON,
    lane: Lane[SequenceFrame],
    timeout: str | None,
    effects: list[ActionResult] | None = None,
    merge: Callable[[ActionResult], None] | None = None,
) -> JSON:
    """Run *actions* one after the other and return the data with their effects.

    Each effect is added to *effects*, and given to *merge*, which applies it to other data.
    """
    frame = lane.frame
    if effects is None:
        data = data if frame.data is None else frame.data.value
    elif effects:
        # A copy of the data in each of a thousand iterations would be more than a run can carry.
        data = apply_each(effects, data, lane)
    while frame.at < len(actions):
        frame.action = frame.action or ActionFrame()
        own = lane.child(frame.action, lane.path, variables=after_result(effects, lane))
        effect = await run_action(actions[frame.at], data, own, timeout)
        data = apply(effect, data, lane)
        frame.at += 1
        if effects is None:
            frame.data = Value(data)
        elif effect is not None:
            effects.append(effect)
            if merge is not None:
                merge(effect)
        frame.action = None
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
        lane.emit_failed_action(name, _invoked(action), fault)
        raise lane.locate(fault) from fault.__cause__
    except Diverted as diverted:
        if diverted.fault is not None:
            lane.emit_failed_action(name, _invoked(action), diverted.fault)
        raise


def _invoked(action: Action) -> Invoked:
    if action.function_ref is not None:
        return {"function": action.function_ref.ref_name}
    if action.sub_flow_ref is not None:
        return {"subflow": action.sub_flow_ref.workflow_id}
    return {} if action.event_ref is None else {"event": action.event_ref.produce_event_ref}


async def _run(
    action: Action, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None
) -> ActionResult | None:
    frame = lane.frame
    await lane.run.pacing.give_way()
    if frame.holds is None:
        frame.holds = action.condition is None or await lane.holds(action.condition, data)
        if not frame.holds:
            lane.emit(TraceKind.ACTION_SKIPPED, name)
    if not frame.holds:
        return None
    if action.sleep is not None and action.sleep.before:
        frame.before = await lane.pause_until(frame.before, action.sleep.before, data, f"before {name}")
        await lane.sleep_until(frame.before, "sleep before", name)

    def attempt() -> Coroutine[Any, Any, ActionResult]:
        return _performed(action, name, data, lane, timeout)

    def given() -> Coroutine[Any, Any, JSON]:
        return _given(action, data, lane)

    effect = await (with_result_retries(action, name, attempt, given, lane) if action.result_retries else attempt())
    if action.sleep is not None and action.sleep.after:
        frame.after = await lane.pause_until(frame.after, action.sleep.after, data, f"after {name}")
        await lane.sleep_until(frame.after, "sleep after", name)
    return effect


def _alone(
    action: Action, index: int, data: JSON, lane: Lane[SequenceFrame], timeout: str | None
) -> Path[ActionResult | None]:
    async def path() -> ActionResult | None:
        frame = lane.frame.beside.setdefault(index, BesideFrame())
        if not frame.done:
            frame.action = frame.action or ActionFrame()
            own = lane.child(frame.action, f"{lane.path}/{index}")
            frame.effect = await run_action(action, data, own, timeout)
            frame.done, frame.action = True, None
        return frame.effect

    return path


async def _performed(
    action: Action, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None
) -> ActionResult:
    """Return the effect of an action's invocation, which is performed unless it was already."""
    frame = lane.frame
    flow = lane.program.data_flow
    seen = await _given(action, data, lane)
    if not frame.done:
        result = await invoke(action, name, seen, lane, timeout, whole=data)
        frame.done, frame.result = True, None if result is NOTHING else Value(result)
        lane.emit(TraceKind.ACTION_COMPLETED, name, **({} if result is NOTHING else {"result": result}))
    return ActionResult() if frame.result is None else await flow.action_result(action, frame.result.value, data, lane)


async def _given(action: Action, data: JSON, lane: Lane[ActionFrame]) -> JSON:
    """Return what the filter of *action* lets it have of *data*."""
    return data if _is_fire_and_forget(action) else await lane.program.data_flow.action_input(action, data, lane)


def _is_fire_and_forget(action: Action) -> bool:
    """Tell whether it is fire-and-forget; then its filter does not apply."""
    ref = action.function_ref or action.sub_flow_ref
    return ref is not None and ref.invoke == "async"
