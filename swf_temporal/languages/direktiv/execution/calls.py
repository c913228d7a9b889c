"""Performing an action: a call of a function or of a sub-workflow, with its retries."""

from base64 import b64decode
from hashlib import sha256
from posixpath import basename
from typing import TYPE_CHECKING

from swf_temporal.base.calls import Function as Callee
from swf_temporal.base.data import JSON, json_or_base64
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import (
    CallFailed,
    ExpressionFailed,
    UnknownDefinition,
    UnreadableDefinition,
    WorkflowFault,
)
from swf_temporal.base.strict_json import write_json
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.frames import ActionFrame
from swf_temporal.languages.direktiv.execution.lane import Lane, instance_data
from swf_temporal.languages.direktiv.globs import is_glob_of
from swf_temporal.languages.direktiv.model import Action, FunctionFile, RetryPolicy, SubflowFunction
from swf_temporal.languages.direktiv.names import called, candidates, path_of
from swf_temporal.languages.direktiv.words import NAME, Compat
from swf_temporal.runtime.host import CallFile, CallFolder, FunctionCall, SecretTemplate, SubflowCall, TraceKind
from swf_temporal.runtime.progress import Value
from swf_temporal.runtime.retrying import MAX_DELAY
from swf_temporal.runtime.trace import ActionRetried, Invoked, failed_attempt
from swf_temporal.runtime.variables import JSON_TYPE, SCOPES, Variable, VariableRef
from swf_temporal.text.origin import plain

if TYPE_CHECKING:
    from swf_temporal.languages.direktiv.model import Function


BYTES_TYPE = "application/octet-stream"
_NOTHING = (b"", b"null", b'""', b"0", b"[]", b"{}")
TEXT_TYPES = ("text/plain", "text/plain; charset=utf-8")


def ref_of(scope: str | None, key: str, lane: Lane) -> VariableRef:
    """Return the variable *key* in *scope*; without a scope, that of the instance."""
    match scope or "instance":
        case "instance":
            return VariableRef("instance", lane.run.instance.instance_id, key)
        case "workflow":
            return VariableRef("workflow", lane.execution.program.id, key)
        case "namespace":
            return VariableRef("namespace", "", key)
        case "thread":
            return VariableRef("thread", lane.execution.thread.get(key, lane.run.instance.instance_id), key)
        case "file":
            return VariableRef("file", lane.execution.program.id, path_of(key, lane.execution.program.id))
        case other:
            raise codes.internal(f"there is no scope {other!r}")


async def value_of(scope: str | None, key: str, lane: Lane) -> JSON:
    """Return the value for a getter: null if there is no such variable."""
    if scope == "system":
        return _system(key, lane)
    found = await lane.run.host.read_variable(ref_of(scope, key, lane))
    return None if found is None else json_or_base64(found.content)


def _system(key: str, lane: Lane) -> JSON:
    match key:
        case "instance":
            return lane.run.instance.instance_id
        case "uuid":
            return _uuid(lane.run.host.new_id())
        case "epoch":
            return int(lane.run.time())
        case _:
            raise codes.internal(f"there is no variable {key!r} in the scope 'system'")


def _uuid(unique: str) -> str:
    """Return a version 4 UUID derived from *unique*, so that it is the same on every replay."""
    digest = sha256(unique.encode()).hexdigest()
    variant = "89ab"[int(digest[16], 16) % 4]
    return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


async def store(scope: str | None, key: str, variable: Variable | None, lane: Lane) -> None:
    """Store *variable* under *key*; None deletes it."""
    if scope == "thread":
        lane.execution.begin_thread_variable(key)
    await lane.run.host.write_variable(ref_of(scope, key, lane), variable)


def variable_of(value: JSON, mime_type: str | None, compat: Compat) -> Variable | None:
    """Return the variable that a setter stores for *value*; None deletes it."""
    if value is None and compat.setting != "stores":
        return None
    variable = _variable_of(value, mime_type)
    return None if compat.setting == "nothing deletes" and variable.content in _NOTHING else variable


def _variable_of(value: JSON, mime_type: str | None) -> Variable:
    mime_type = mime_type or JSON_TYPE
    if isinstance(value, str) and mime_type == BYTES_TYPE:
        try:
            return Variable(b64decode(value, validate=True), mime_type)
        except ValueError:
            raise codes.internal(f"a value of the type {BYTES_TYPE} is not base64") from None
    if isinstance(value, str) and mime_type in TEXT_TYPES:
        return Variable(value.encode(), mime_type)
    return Variable(write_json(value, ensure_ascii=False).encode(), mime_type)


DEFAULT_DELAY = 5.0
"""Seconds before a further attempt, if the policy sets no delay."""
_UNKNOWN_SECRET = "UnknownSecret"  # noqa: S105 - the name of an error


async def perform(action: Action, frame: ActionFrame, lane: Lane, *, forget: bool = False) -> JSON:
    """Return the result of *action* on the data of *lane*, retried as its policies say.

    With *forget* it is started without waiting for it.
    """
    if frame.result is not None:
        return frame.result.value
    run, name, attempts = lane.run, action.function, frame.attempts

    async def attempt() -> JSON:
        run.checkpoint()
        await run.pacing.give_way()
        if frame.id is None:
            frame.id = run.next_id(f"{lane.path}/{name}")
        return await _attempt(action, frame.id, lane, forget=forget)

    async def delay_after(outcome: JSON | WorkflowFault) -> float | None:
        if not isinstance(outcome, WorkflowFault):
            return None
        outcome.action = outcome.action or name
        delay = None if forget else _delay_after(outcome, action, attempts.number - 1)
        if delay is not None:
            failed: ActionRetried = {**failed_attempt(attempts.number, outcome), "delay": delay}
            lane.emit(TraceKind.ACTION_RETRIED, name, **failed)
            frame.id = None  # another attempt is another call
        return delay

    try:
        result = await lane.repeat(attempts, attempt, delay_after, name)
    except WorkflowFault as fault:
        lane.emit_failed_action(name, _invoked(lane.execution.program.functions[name]), fault)
        raise
    frame.id, frame.result = None, Value(result)
    if not forget:
        lane.emit(TraceKind.ACTION_COMPLETED, name, result=result)
    return result


def _invoked(function: "Function") -> Invoked:
    return {"subflow": function.workflow} if isinstance(function, SubflowFunction) else {"function": function.id}


def _delay_after(fault: WorkflowFault, action: Action, retried: int) -> float | None:
    """Return the delay in seconds before the next attempt, or None if there is none.

    Raises the error for exceeded retries if the policy's maximum is reached.
    """
    if isinstance(fault, ExpressionFailed) or not (fault.catchable and fault.retryable):
        return None
    code = fault.code
    policy = next((one for one in action.retries if any(is_glob_of(glob, code) for glob in one.codes)), None)
    if policy is None:
        return None
    if retried >= policy.max_attempts:
        exceeded = codes.fault(codes.RETRIES_EXCEEDED, "maximum retries exceeded")
        exceeded.action, exceeded.cause = action.function, f"{fault.code}: {fault.message}"
        raise exceeded from fault
    return _delay(policy, retried)


def _delay(policy: RetryPolicy, retried: int) -> float:
    first = parse_duration(policy.delay).total_seconds() if policy.delay else DEFAULT_DELAY
    try:
        return min(float(first * (policy.multiplier or 1) ** retried), MAX_DELAY)
    except OverflowError:
        return MAX_DELAY if first else 0.0


async def _attempt(action: Action, call_id: str, lane: Lane, *, forget: bool) -> JSON:
    function = lane.execution.program.functions[action.function]
    if isinstance(function, SubflowFunction):
        return await _run_subflow(action, function, call_id, lane, forget=forget)
    return await _call(action, function, call_id, lane, forget=forget)


async def _call(action: Action, function: "Function", call_id: str, lane: Lane, *, forget: bool) -> JSON:
    run = lane.run
    secret_template: SecretTemplate | None = None
    if action.secrets:
        template = plain(action.input)
        dialect = lane.execution.program.jq.language
        secret_template = SecretTemplate(template, lane.data, {"__now": run.time()}, dialect)
        arguments: JSON = template
    else:
        arguments = await lane.evaluate(action.input, lane.data)
    callee = called(function)
    lane.emit(TraceKind.ACTION_STARTED, action.function, function=callee.name, arguments=arguments)
    call = FunctionCall(
        id=call_id,
        function=callee,
        arguments=arguments,
        state=lane.state_path,
        action=action.function,
        secret_template=secret_template,
        secrets=tuple(action.secrets),
        fire_and_forget=forget,
        language=NAME,
        folder=_folder(action, lane),
    )
    return await _answer(call, callee, lane)


def _folder(action: Action, lane: Lane) -> CallFolder:
    files = [CallFile(ref_of(one.scope, one.key, lane), _name_of(one), one.type or "") for one in action.files]
    return CallFolder(tuple(files), {scope: ref_of(scope, "", lane).owner for scope in SCOPES})


def _name_of(file: FunctionFile) -> str:
    return file.as_ or (basename(file.key) if file.scope == "file" else file.key)


async def _answer(call: FunctionCall, callee: Callee, lane: Lane) -> JSON:
    try:
        return await lane.run.host.invoke(call)
    except CallFailed as fault:
        if fault.code == _UNKNOWN_SECRET:
            raise codes.uncatchable(codes.SECRET_NOT_FOUND, fault.message) from None
        if fault.code == codes.INTERNAL:
            raise codes.internal(f"function {callee.name!r}: {fault.message}") from None
        raise


async def _run_subflow(action: Action, function: SubflowFunction, call_id: str, lane: Lane, *, forget: bool) -> JSON:
    run = lane.run
    data = instance_data(await lane.evaluate(action.input, lane.data))
    lane.emit(TraceKind.ACTION_STARTED, action.function, subflow=function.workflow)
    names, version = candidates(function.workflow, lane.execution.program.id)
    for name in names:
        call = SubflowCall(
            id=call_id,
            workflow_id=name,
            version=version,
            data=data,
            state=lane.state_path,
            action=action.function,
            fire_and_forget=forget,
            parent_close_policy="abandon" if forget else "terminate",
            thread=lane.execution.thread,
        )
        try:
            return await run.host.run_subflow(call)
        except UnknownDefinition:
            continue
        except UnreadableDefinition as fault:
            raise codes.uncatchable(codes.WORKFLOW_UNPARSABLE, fault.message) from None
    raise codes.uncatchable(codes.WORKFLOW_NOT_FOUND, f"workflow {function.workflow!r} was not found")
