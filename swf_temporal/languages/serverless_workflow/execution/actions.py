"""Performing actions, and merging their results into the state's data.

An action runs through the phases of the specification in order: condition, sleep before, input filter, invocation,
output filter, sleep after. Its result is an *effect*: a value and the place in the data where it goes. Sequential
actions see the effects of those before them. Parallel actions all see the same data, and their effects are applied in
the order in which the actions are written.

Some calls may outlast an execution: the definition marks a function by its metadata, and an awaited sub-workflow by
`onParentComplete: continue`. While such a call is in progress, its frame records it. A run that resumes after a
suspension requests the same id from its host again, and the host then only waits for the result.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final

from swf_temporal.base import calls
from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import NotActive, TimedOut, WorkflowFault, WrongData
from swf_temporal.base.function_types import CONFIG_KEY, callee_of, operation_type
from swf_temporal.base.strict_json import show_json
from swf_temporal.expressions.evaluation import NOTHING
from swf_temporal.languages.serverless_workflow.execution.events import payload_of, produce, wait_for_event
from swf_temporal.languages.serverless_workflow.execution.frames import (
    ActionFrame,
    ActionResult,
    BesideFrame,
    CallFrame,
    SequenceFrame,
)
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.parameters import (
    is_long_running,
    locality_of,
    priority_of,
    returns_variables,
    takes_any_status,
)
from swf_temporal.languages.serverless_workflow.execution.retries import with_result_retries
from swf_temporal.languages.serverless_workflow.execution.step import Diverted
from swf_temporal.languages.serverless_workflow.expressions import VARIABLES
from swf_temporal.languages.serverless_workflow.model.actions import Action, EventRef, FunctionRef, SubflowRef
from swf_temporal.languages.serverless_workflow.model.workflow import LANGUAGE_NAME
from swf_temporal.runtime.host import (
    Attempts,
    CallAttempts,
    FunctionCall,
    LongWait,
    SecretTemplate,
    SubflowCall,
    TraceKind,
)
from swf_temporal.runtime.joining import MISSING, Path, SuspendRequested, join
from swf_temporal.runtime.progress import Value
from swf_temporal.runtime.retrying import AttemptsFrame, RetryRule
from swf_temporal.runtime.trace import ActionStarted, Invoked, failed_attempt


def long_wait_of_call(ref: FunctionRef, function: calls.Function, lane: Lane) -> LongWait | None:
    """Return the waiter for a call of *function*, if the call may outlast an execution."""
    return lane.run.long_wait if is_long_running(function) and ref.invoke == "sync" else None


def long_wait_of_subflow(ref: SubflowRef, lane: Lane) -> LongWait | None:
    """Return the waiter for a sub-workflow, if it may outlast an execution."""
    return lane.run.long_wait if ref.on_parent_complete == "continue" and ref.invoke == "sync" else None


async def recorded_in_frame(
    work: Coroutine[Any, Any, Any], call: FunctionCall | SubflowCall, lane: Lane[ActionFrame]
) -> Any:
    """Return the result of *work*, which makes *call*; the frame records a call that continues during a suspension."""
    if call.long_wait is None:
        return await work
    frame = lane.frame
    frame.call = CallFrame()
    is_suspended = False
    try:
        return await work
    except SuspendRequested:
        is_suspended = True
        raise
    finally:
        if not is_suspended:
            frame.call = None


def _answer_facts(answer: dict[str, JSON]) -> dict[str, JSON]:
    status = answer.get("status")
    return {
        "statusCode": status,
        "statusMessage": next((one.phrase for one in HTTPStatus if one == status), None),
        "responseHeaders": answer.get("headers", {}),
    }


_INHERITING: Final = ("rest", "openapi")
"""The function types that forward the headers of the request that started the instance."""


def given_variables(function: Function, arguments: JSON, lane: Lane) -> JSON:
    """Return the *arguments* of a call; a script also gets the variables that earlier scripts returned."""
    about = lane.variables["WORKFLOW"]
    if not (_shares_variables(function, lane) and isinstance(about, dict) and isinstance(about["python"], dict)):
        return arguments
    return {**about["python"], **(arguments if isinstance(arguments, dict) else {})}


def inherited_headers(function: Function, lane: Lane) -> dict[str, str]:
    """Return the headers of the request that started the instance, as far as a call of *function* forwards them."""
    headers = lane.execution.request.get("headers")
    if function.type not in _INHERITING or not isinstance(headers, dict):
        return {}
    return {name: value for name, value in headers.items() if isinstance(value, str)}


def noted_result(function: Function, result: JSON, lane: Lane) -> JSON:
    """Return the *result* of a call, after recording what expressions see of it as `$WORKFLOW`."""
    if not isinstance(result, dict):
        return result
    if takes_any_status(function):
        lane.note(**_answer_facts(result))
    elif _shares_variables(function, lane):
        lane.note(python=result)
        return {}
    return result


def _shares_variables(function: Function, lane: Lane) -> bool:
    return returns_variables(function) and lane.program.workflow.language_version.tells_of_requests


def after_result(effects: Sequence[ActionResult] | None, lane: Lane) -> dict[str, JSON] | None:
    """Return the extra variables of the next action of an iteration whose actions have yielded *effects* so far.

    Return None outside of iterations, before the first result, and in most language versions.
    """
    about = lane.variables["WORKFLOW"]
    if not effects or not isinstance(about, dict) or not lane.program.workflow.language_version.tells_of_requests:
        return None
    return {"WORKFLOW": {**about, "prevActionResult": effects[-1].value}}


async def invoke(
    action: Action, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None, *, whole: JSON
) -> Any:
    """Return the result of *action*; NOTHING for fire-and-forget. *data* is what its filter selects of *whole*."""
    lane.run.checkpoint()
    if action.function_ref is not None:
        function = await _as_called(lane.program.function(action.function_ref.ref_name), whole, lane)
        return await _call_function(action, action.function_ref, function, name, data, lane, timeout)
    if action.sub_flow_ref is not None:
        return await _run_subflow(action, action.sub_flow_ref, name, data, lane, timeout)
    if action.event_ref is not None:
        return await _exchange_events(action, action.event_ref, name, data, lane, timeout)
    raise lane.locate(WrongData(f"action {name!r} refers to no function, event or sub-workflow"))


async def _call_function(
    action: Action,
    ref: FunctionRef,
    function: Function,
    name: str,
    data: JSON,
    lane: Lane[ActionFrame],
    timeout: str | None,
) -> Any:
    frame = lane.frame
    kept = None if frame.call is None else frame.call.attempts
    arguments, secret_template = await _started(ref, function, name, data, lane)
    if function.type == "expression":
        if ref.invoke == "async":
            return NOTHING  # its result and its error would be dropped
        compiled = lane.program.expressions.expression(function.operation)
        return await lane.with_variables({"args": arguments}).evaluate(compiled, data)

    def keep(made: CallAttempts) -> None:  # does not capture the call, which holds it: cycles are slow to collect
        frame.call = CallFrame(arguments, made, function.metadata.get(CONFIG_KEY))

    call = FunctionCall(
        id=_call_id(name, lane),
        function=function,
        arguments=arguments,
        state=lane.state_path,
        action=name,
        priority=priority_of(function),
        secret_template=secret_template,
        timeout=None if timeout is None else await lane.duration(timeout, data),
        retry=None if ref.invoke == "async" else lane.program.retry_rule(action),
        auth=lane.program.auth_of(function),
        secrets=lane.program.workflow.secrets if secret_template or _may_need_credentials(function) else (),
        selection_set=await lane.fill(ref.selection_set, data),
        headers=inherited_headers(function, lane),
        local=locality_of(function),
        fire_and_forget=ref.invoke == "async",
        language=LANGUAGE_NAME,
        attempts=None if ref.invoke == "async" else Attempts(kept, keep, lane.run.sleep_until),
        long_wait=long_wait_of_call(ref, function, lane),
    )
    result = await recorded_in_frame(lane.run.host.invoke(call), call, lane)
    frame.id = frame.call = None
    return NOTHING if call.fire_and_forget else noted_result(function, result, lane)


async def _started(
    ref: FunctionRef, function: Function, name: str, data: JSON, lane: Lane[ActionFrame]
) -> tuple[JSON, SecretTemplate | None]:
    """Return the arguments as `_arguments` does, and report the start; a call that was begun before keeps its own."""
    if lane.frame.call is not None:
        return lane.frame.call.arguments, None
    arguments, secret_template = await _arguments(ref, function, data, lane)
    details: ActionStarted = {"function": function.name, "arguments": arguments}
    priority = priority_of(function)
    lane.emit(TraceKind.ACTION_STARTED, name, **(details if priority is None else {**details, "priority": priority}))
    return arguments, secret_template


async def _as_called(function: Function, data: JSON, lane: Lane[ActionFrame]) -> Function:
    """Return *function* for this call, with the service that the function's metadata choose, if they do."""
    expression = function.metadata.get(CONFIG_KEY)
    if expression is None or not callee_of(function).services:
        return function
    if lane.frame.call is not None:  # the call was made already and keeps its service
        return _choosing(function, lane.frame.call.config_key)
    chosen = await lane.fill(expression, data)
    if isinstance(chosen, int | float) and not isinstance(chosen, bool):
        chosen = str(chosen)
    if not isinstance(chosen, str) or not chosen.strip():
        found = f"yields {show_json(chosen)}, which is not a name"
        message = f"{CONFIG_KEY} of function {function.name!r}, {expression!r}, {found}"
        raise lane.locate(WrongData(message))
    return _choosing(function, chosen)


def _choosing(function: Function, chosen: str | None) -> Function:
    return function if chosen is None else replace(function, metadata={**function.metadata, CONFIG_KEY: chosen})


async def _arguments(
    ref: FunctionRef, function: Function, data: JSON, lane: Lane
) -> tuple[JSON, SecretTemplate | None]:
    """Return the arguments; if they refer to secrets, as written, with the template to fill where they are used."""
    template = lane.program.expressions.template(ref.arguments)
    if "SECRETS" in template.mentions:
        known = {key: value for key, value in lane.variables.items() if key in template.mentions}
        return ref.arguments, SecretTemplate(ref.arguments, data, known, lane.program.workflow.expression_lang)
    arguments = await lane.evaluate(template, data)
    return given_variables(function, None if arguments is NOTHING else arguments, lane), None


def _may_need_credentials(function: Function) -> bool:
    """Return True if a call may need credentials: from an auth, or because the function's document requires them."""
    kind = operation_type(function.type)
    return function.auth_ref is not None or (kind is not None and kind.may_need_credentials)


async def _run_subflow(
    action: Action, ref: SubflowRef, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None
) -> Any:
    fire_and_forget = ref.invoke == "async"
    frame = lane.frame
    if frame.attempts is None:
        lane.emit(TraceKind.ACTION_STARTED, name, subflow=ref.workflow_id)

    async def attempt() -> Any:
        call = SubflowCall(
            id=_call_id(name, lane),
            workflow_id=ref.workflow_id,
            version=ref.version,
            data=data,
            state=lane.state_path,
            action=name,
            fire_and_forget=fire_and_forget,
            request=lane.execution.request,
            variables=_shared_variables(lane),
            parent_close_policy="abandon" if ref.on_parent_complete == "continue" else "terminate",
            long_wait=long_wait_of_subflow(ref, lane),
        )
        try:
            return await recorded_in_frame(lane.run.host.run_subflow(call), call, lane)
        except WorkflowFault as fault:
            if fault.name == NotActive.default_name:
                # A sub-workflow that is active at certain times only is skipped outside of them.
                lane.emit(TraceKind.NOT_ACTIVE, name, interval=None)
                return NOTHING
            raise

    rule = None if fire_and_forget else lane.program.retry_rule(action)
    if not fire_and_forget:
        frame.deadline = await lane.deadline(frame.deadline, timeout, data)
    result = await lane.within(frame.deadline, _with_retries(attempt, rule, name, lane), f"action {name!r}", name)
    frame.id = None
    return NOTHING if fire_and_forget else result


def _shared_variables(lane: Lane) -> Mapping[str, JSON]:
    """Return the variables of iterations for a sub-workflow; none in most language versions."""
    if not lane.program.workflow.language_version.tells_of_requests:
        return {}
    of_iterations = lane.program.expressions.declared - VARIABLES
    own = {name: value for name, value in lane.variables.items() if name in of_iterations}
    return {**lane.run.instance.variables, **own}


def _call_id(name: str, lane: Lane[ActionFrame]) -> str:
    """Return the id of the call that the action *name* makes: the id of an interrupted call, or a new one."""
    frame = lane.frame
    if frame.id is None:
        frame.id = lane.run.next_id(f"{lane.path}/{name}")
    return frame.id


async def _with_retries(
    attempt: Callable[[], Coroutine[Any, Any, Any]], rule: RetryRule | None, name: str, lane: Lane[ActionFrame]
) -> Any:
    """Make attempts until one succeeds or *rule* gives up; for actions whose attempt is more than one call."""
    attempts = lane.frame.attempts = lane.frame.attempts or AttemptsFrame()

    async def delay_after(outcome: Any) -> float | None:
        if not isinstance(outcome, WorkflowFault):
            return None
        is_covered = rule is not None and await lane.run.evaluated(lambda: rule.covers(outcome, slow_is_fatal=True))
        delay = rule.delay_after(attempts.number) if rule is not None and is_covered else None
        if delay is None:
            outcome.attempt = attempts.number
            return None
        seconds = delay.total_seconds()
        if lane.frame.deadline is not None and lane.run.time() + seconds > lane.frame.deadline:
            # The next attempt would be too late: fail now, as for actions whose attempt is one call.
            raise TimedOut(f"action {name!r} took longer than it may", cause=f"{outcome.name}: {outcome.message}")
        lane.emit(TraceKind.ACTION_RETRIED, name, **failed_attempt(attempts.number, outcome))
        lane.frame.id = None  # another attempt is another sub-workflow
        return seconds

    return await lane.repeat(attempts, attempt, delay_after, name)


async def _exchange_events(
    action: Action, ref: EventRef, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None
) -> Any:
    """Produce an event and, unless it is fire-and-forget, return the payload of the event that answers it.

    If the answer does not arrive in time, the exchange is repeated as the action's retries say.
    """
    frame = lane.frame
    if frame.attempts is None:
        lane.emit(TraceKind.ACTION_STARTED, name, event=ref.produce_event_ref)

    async def attempt() -> Any:
        if not frame.produced:
            await produce(ref.produce_event_ref, ref.data, ref.context_attributes, data, lane)
            frame.produced = True
        if ref.invoke == "async" or ref.consume_event_ref is None:
            return NOTHING
        frame.answer_deadline = await lane.deadline(frame.answer_deadline, ref.consume_event_timeout, data)
        taken = await wait_for_event([ref.consume_event_ref], frame.answer_deadline, lane)
        if taken is None:
            # Another attempt produces the event again and has the full time.
            frame.produced, frame.answer_deadline = False, None
            raise TimedOut(f"event {ref.consume_event_ref!r} did not come in time")
        return payload_of(lane.program.event(ref.consume_event_ref), taken[1])

    rule = None if ref.invoke == "async" else lane.program.retry_rule(action)
    frame.deadline = await lane.deadline(frame.deadline, timeout, data)
    return await lane.within(frame.deadline, _with_retries(attempt, rule, name, lane), f"action {name!r}", name)


def name_of(action: Action) -> str:
    """Return the name of an action, or else the name of what it refers to."""
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
    """Run *actions* sequentially or in parallel and return the data with their effects."""
    if mode == "parallel" and len(actions) > 1:
        effects = await join([_parallel_path(action, i, data, lane, timeout) for i, action in enumerate(actions)])
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
    """Run *actions* sequentially and return the data with their effects.

    Each effect is added to *effects*, and passed to *merge*, which applies it to other data.
    """
    frame = lane.frame
    if effects is None:
        data = data if frame.data is None else frame.data.value
    elif effects:
        # The frame stores effects, not data: a copy of the data for each of a thousand iterations would be too large.
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
        return _input_of(action, data, lane)

    effect = await (with_result_retries(action, name, attempt, given, lane) if action.result_retries else attempt())
    if action.sleep is not None and action.sleep.after:
        frame.after = await lane.pause_until(frame.after, action.sleep.after, data, f"after {name}")
        await lane.sleep_until(frame.after, "sleep after", name)
    return effect


def _parallel_path(
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
    """Return the effect of an action's invocation, performing it unless that was done before."""
    frame = lane.frame
    flow = lane.program.data_flow
    seen = await _input_of(action, data, lane)
    if not frame.done:
        result = await invoke(action, name, seen, lane, timeout, whole=data)
        frame.done, frame.result = True, None if result is NOTHING else Value(result)
        lane.emit(TraceKind.ACTION_COMPLETED, name, **({} if result is NOTHING else {"result": result}))
    return ActionResult() if frame.result is None else await flow.action_result(action, frame.result.value, data, lane)


async def _input_of(action: Action, data: JSON, lane: Lane[ActionFrame]) -> JSON:
    """Return what the filter of *action* selects of *data*."""
    return data if _is_fire_and_forget(action) else await lane.program.data_flow.action_input(action, data, lane)


def _is_fire_and_forget(action: Action) -> bool:
    """Return True if *action* is fire-and-forget; then its filter does not apply."""
    ref = action.function_ref or action.sub_flow_ref
    return ref is not None and ref.invoke == "async"
