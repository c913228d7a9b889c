"""What actions invoke: a function, a sub-workflow, or an exchange of events."""

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import NotActive, TimedOut, WorkflowFault, WrongData
from swf_temporal.base.function_types import CONFIG_KEY, callee_of, operation_type
from swf_temporal.base.strict_json import show_json
from swf_temporal.expressions.evaluation import NOTHING
from swf_temporal.languages.serverless_workflow.execution.action_frames import ActionFrame, CallFrame
from swf_temporal.languages.serverless_workflow.execution.events import payload_of, produce
from swf_temporal.languages.serverless_workflow.execution.functions import locality_of, priority_of
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.long_running_calls import (
    call_outlasting,
    recorded_in_frame,
    subflow_outlasting,
)
from swf_temporal.languages.serverless_workflow.execution.request_facts import (
    given_variables,
    inherited_headers,
    noted_result,
)
from swf_temporal.languages.serverless_workflow.execution.waiting import wait_for_event
from swf_temporal.languages.serverless_workflow.model.actions import Action, EventRef, FunctionRef, SubflowRef
from swf_temporal.languages.serverless_workflow.model.version import LANGUAGE_NAME
from swf_temporal.runtime.attempts import AttemptsFrame
from swf_temporal.runtime.host import Attempts, CallAttempts, FunctionCall, SecretTemplate, SubflowCall, TraceKind
from swf_temporal.runtime.retrying import RetryRule
from swf_temporal.runtime.trace import ActionStarted


async def invoke(
    action: Action, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None, *, whole: JSON
) -> Any:
    """Return what *action* yields; NOTHING for what is fire-and-forget. *data* is what its filter leaves of *whole*."""
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
    begun = frame.call
    arguments, secret_template = (
        await _arguments(ref, function, data, lane) if begun is None else (begun.arguments, None)
    )
    priority = priority_of(function)
    if begun is None:
        details: ActionStarted = {"function": function.name, "arguments": arguments}
        lane.emit(
            TraceKind.ACTION_STARTED, name, **(details if priority is None else {**details, "priority": priority})
        )
    if function.type == "expression":
        if ref.invoke == "async":
            return NOTHING  # its result and its error would be dropped
        compiled = lane.program.expressions.expression(function.operation)
        return await lane.with_variables({"args": arguments}).evaluate(compiled, data)

    call_id = _call_id(name, lane)
    kept = None if begun is None else begun.attempts

    def keep(made: CallAttempts) -> None:  # without the call, which has it: a cycle for each call is slow to collect
        frame.call = CallFrame(arguments, made, function.metadata.get(CONFIG_KEY))

    call = FunctionCall(
        id=call_id,
        function=function,
        arguments=arguments,
        state=lane.state_path,
        action=name,
        priority=priority,
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
        outlast=call_outlasting(ref, function, lane),
    )
    result = await recorded_in_frame(lane.run.host.invoke(call), call, lane)
    frame.id = frame.call = None
    return NOTHING if call.fire_and_forget else noted_result(function, result, lane)


async def _as_called(function: Function, data: JSON, lane: Lane[ActionFrame]) -> Function:
    """Return *function* as this call has it: which service it is for, where the function's metadata choose one."""
    said = function.metadata.get(CONFIG_KEY)
    if said is None or not callee_of(function).services:
        return function
    if lane.frame.call is not None:  # it is made already, and stays the one that it is
        return _choosing(function, lane.frame.call.config_key)
    chosen = await lane.fill(said, data)
    if isinstance(chosen, int | float) and not isinstance(chosen, bool):
        chosen = str(chosen)
    if not isinstance(chosen, str) or not chosen.strip():
        message = f"{CONFIG_KEY} of function {function.name!r}, {said!r}, yields {show_json(chosen)}, and not a name"
        raise lane.locate(WrongData(message))
    return _choosing(function, chosen)


def _choosing(function: Function, chosen: str | None) -> Function:
    return function if chosen is None else replace(function, metadata={**function.metadata, CONFIG_KEY: chosen})


async def _arguments(
    ref: FunctionRef, function: Function, data: JSON, lane: Lane
) -> tuple[JSON, SecretTemplate | None]:
    """Return the arguments; those with secrets as they are written, and with what fills them where they are used."""
    template = lane.program.expressions.template(ref.arguments)
    if "SECRETS" in template.mentions:
        known = {key: value for key, value in lane.variables.items() if key in template.mentions}
        return ref.arguments, SecretTemplate(ref.arguments, data, known, lane.program.workflow.expression_lang)
    arguments = await lane.evaluate(template, data)
    return given_variables(function, None if arguments is NOTHING else arguments, lane), None


def _may_need_credentials(function: Function) -> bool:
    """Tell whether a call may have to say who is calling: by an auth, or as the function's document asks."""
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
            parent_close_policy="abandon" if ref.on_parent_complete == "continue" else "terminate",
            outlast=subflow_outlasting(ref, lane),
        )
        try:
            return await recorded_in_frame(lane.run.host.run_subflow(call), call, lane)
        except WorkflowFault as fault:
            if fault.name == NotActive.default_name:
                # What starts at certain times alone is passed over at others.
                lane.emit(TraceKind.NOT_ACTIVE, name, interval=None)
                return NOTHING
            raise

    rule = None if fire_and_forget else lane.program.retry_rule(action)
    if not fire_and_forget:
        frame.deadline = await lane.deadline(frame.deadline, timeout, data)
    result = await lane.within(frame.deadline, _with_retries(attempt, rule, name, lane), f"action {name!r}", name)
    frame.id = None
    return NOTHING if fire_and_forget else result


def _call_id(name: str, lane: Lane[ActionFrame]) -> str:
    """Return the id of the call that the action *name* makes: that of one that was broken off, or a new one."""
    frame = lane.frame
    if frame.id is None:
        frame.id = lane.run.next_id(f"{lane.path}/{name}")
    return frame.id


async def _with_retries(
    attempt: Callable[[], Coroutine[Any, Any, Any]], rule: RetryRule | None, name: str, lane: Lane[ActionFrame]
) -> Any:
    """Make attempts until one succeeds or *rule* gives up; used where an attempt is more than one call."""
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
            # It would come too late: known now, as where an attempt is one call.
            raise TimedOut(f"action {name!r} took longer than it may", cause=f"{outcome.name}: {outcome.message}")
        lane.emit(TraceKind.ACTION_RETRIED, name, attempt=attempts.number, error=outcome.name)
        lane.frame.id = None  # another attempt is another sub-workflow
        return seconds

    return await lane.repeat(attempts, attempt, delay_after, name)


async def _exchange_events(
    action: Action, ref: EventRef, name: str, data: JSON, lane: Lane[ActionFrame], timeout: str | None
) -> Any:
    """Produce an event and, unless it is fire-and-forget, return the payload of the event that answers it.

    An answer that does not come in time is asked for again as the action's retries say.
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
            # Another attempt asks anew, and has as much time.
            frame.produced, frame.answer_deadline = False, None
            raise TimedOut(f"event {ref.consume_event_ref!r} did not come in time")
        return payload_of(lane.program.event(ref.consume_event_ref), taken[1])

    rule = None if ref.invoke == "async" else lane.program.retry_rule(action)
    frame.deadline = await lane.deadline(frame.deadline, timeout, data)
    return await lane.within(frame.deadline, _with_retries(attempt, rule, name, lane), f"action {name!r}", name)
