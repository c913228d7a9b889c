"""Calls of functions, processes and other workflows."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.languages.dsl.execution.frames import CallBody, ListFrame, SubscriptionFrame, TaskFrame
from swf_temporal.languages.dsl.execution.lane import Lane
from swf_temporal.languages.dsl.execution.program import variables_for
from swf_temporal.languages.dsl.execution.requests import SECRETS, Request, auth_of, scheme_of, uses_secrets
from swf_temporal.languages.dsl.expressions import is_whole_expression
from swf_temporal.languages.dsl.model.workflow import (
    AsyncApiSubscription,
    CallA2A,
    CallAsyncApi,
    CallFunction,
    CallGrpc,
    CallHttp,
    CallMcp,
    CallOpenApi,
    Run,
    RunTask,
)
from swf_temporal.languages.dsl.names import LATEST, NAME, id_of, own_function
from swf_temporal.runtime.host import FunctionCall, SecretTemplate, SubflowCall, TraceKind
from swf_temporal.runtime.progress import Value

if TYPE_CHECKING:
    from swf_temporal.languages.dsl.execution.program import TaskPlan

    CallTask = CallHttp | CallOpenApi | CallGrpc | CallAsyncApi | CallMcp | CallA2A | CallFunction

MAX_CALLS: Final = 32
"""How deep functions of a definition can call one another. The stack is not as deep on every host."""
_OF_SUBSCRIPTION: Final = ("subscription", "receipt")
"""The arguments by which a subscription continues."""
_SCHEMES: Final = {"basic": "Basic", "bearer": "Bearer", "digest": "Digest", "oauth2": "Bearer", "oidc": "Bearer"}
"""The names of schemes in HTTP, for `$authorization`."""


async def run_call(task: "CallTask", frame: TaskFrame, data: JSON, lane: Lane) -> JSON:
    """Make the call; return its result."""
    body = frame.body_as(CallBody)
    if isinstance(task, CallFunction) and task.call in lane.execution.program.functions:
        return await _run_function(task, body, data, lane)
    if isinstance(task, CallAsyncApi) and task.with_.subscription is not None:
        return await _subscribe(task, task.with_.subscription, body, data, lane)
    plan = _plan(lane)
    callee = plan.callee or await callee_of(task, data, lane)
    if isinstance(task, CallHttp | CallFunction):
        plan.callee = callee  # so that its arguments are compiled once
    return await make_call(callee, body, data, lane)


class Callee:
    """The target of a call: the function, the arguments as written, and the authentication policies."""

    def __init__(self, kind: str, arguments: Any, *, uris: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.arguments = arguments
        self.uris = uris
        self.verbatim: Collection[str] = ()
        """The arguments in which nothing is evaluated."""
        self.operation: JSON = None
        self.metadata: dict[str, JSON] = {}
        self.policy: Mapping[str, Any] | None = None
        """The policy of the call, as written."""
        self.generated: Collection[str] = ()
        """The arguments that no author wrote, and whose values differ from run to run: the trace is without them."""
        self.of_document: Mapping[str, Any] | None = None
        """The policy with which a document is fetched."""


async def callee_of(task: "CallTask", data: JSON, lane: Lane) -> Callee:
    given: Any = _plan(lane).definition.get("with")
    match task:
        case CallHttp():
            uri, policy = _endpoint(given["endpoint"])
            parts: dict[str, Any] = {
                key: given[key] for key in ("method", "headers", "query", "body", "output", "redirect") if key in given
            }
            callee = Callee("request", {**parts, "uri": uri}, uris=("uri",))
            callee.policy = policy
        case CallOpenApi():
            callee = Callee("openapi", given.get("parameters") or {})
            await _describe(callee, given["document"], given["operationId"], data, lane)
            callee.policy = given.get("authentication")
            callee.metadata = {"output": given.get("output", "content"), "redirect": given.get("redirect", False)}
        case CallGrpc():
            service = given["service"]
            callee = Callee("rpc", given.get("arguments") or {})
            await _describe(callee, given["proto"], f"{service['name']}#{given['method']}", data, lane)
            callee.policy = service.get("authentication") or given.get("authentication")
            callee.metadata = {key: service[key] for key in ("host", "port") if key in service}
        case CallAsyncApi():
            own: dict[str, Any] = {key: given[key] for key in ("server", "protocol") if key in given}
            callee = Callee("asyncapi", {**own, **given.get("message", {})})
            await _describe(callee, given["document"], "", data, lane)
            place: dict[str, JSON] = {key: given[key] for key in ("channel", "operation") if key in given}
            action = "receive" if "subscription" in given else "send"
            callee.operation = {"document": callee.operation, **place, "action": action}
            callee.policy = given.get("authentication")
        case CallFunction():
            # The data themselves are never evaluated: an expression that yields them is.
            whole = "${ . }" if lane.execution.program.expressions.is_jq else "${ $ }"
            callee = Callee("custom", whole if given is None else given)
            callee.operation = own_function(task.call)
        case CallMcp():
            callee = _mcp(given)
            if task.with_.timeout is not None:
                callee.arguments = {**callee.arguments, "timeout": await lane.seconds(task.with_.timeout, data)}
        case _:
            callee = Callee("a2a", {key: given[key] for key in ("method", "parameters") if key in given})
            if "agentCard" in given:
                uri, callee.of_document = _endpoint(given["agentCard"]["endpoint"])
                callee.metadata = {"agentCard": await lane.uri(uri, data)}
            if "server" in given:
                server, callee.policy = _endpoint(given["server"])
                callee.arguments, callee.uris = {**callee.arguments, "server": server}, ("server",)
    return callee


def _mcp(given: Mapping[str, Any]) -> Callee:
    transport = dict(given["transport"])
    callee = Callee("mcp", {})
    if "http" in transport:
        uri, callee.policy = _endpoint(transport["http"]["endpoint"])
        transport["http"] = {**transport["http"], "endpoint": uri}
        callee.uris = ("transport.http.endpoint",)
    parts = {key: given[key] for key in ("protocolVersion", "method", "parameters", "client") if key in given}
    callee.arguments = {**parts, "transport": transport}
    return callee


async def _describe(callee: Callee, resource: Mapping[str, Any], operation: str, data: JSON, lane: Lane) -> None:
    """Let *callee* name an *operation* of the document *resource*."""
    uri, callee.of_document = _endpoint(resource["endpoint"])
    document = await lane.uri(uri, data)
    callee.operation = f"{document}#{operation}" if operation else str(document)


def _endpoint(given: Any) -> tuple[str, Mapping[str, Any] | None]:
    """Return the URI of an endpoint as written, and its policy."""
    return (given, None) if isinstance(given, str) else (given["uri"], given.get("authentication"))


async def _auths(callee: Callee, data: JSON, lane: Lane) -> tuple[AuthRef | None, tuple[Auth, ...]]:
    found: dict[str, Auth] = {}
    names: list[str | None] = []
    for number, policy in enumerate((callee.of_document, callee.policy)):
        if policy is None:
            names.append(None)
            continue
        use = policy.get("use")
        name = use if isinstance(use, str) else _plan(lane).name if number else f"{_plan(lane).name} document"
        found[name] = await auth_of(name, _policy_named(use, lane) if isinstance(use, str) else policy, data, lane)
        names.append(name)
    if not found:
        return None, ()
    return AuthRef(resource=names[0], invocation=names[1]), tuple(found.values())


def _policy_named(name: str, lane: Lane) -> Mapping[str, Any]:
    written: Any = lane.execution.program.definition
    found: Mapping[str, Any] = written["use"]["authentications"][name]
    return found


async def make_call(callee: Callee, body: CallBody, data: JSON, lane: Lane, *, forget: bool = False) -> JSON:
    """Make the call that *callee* describes, and return its result; with *forget*, return *data* without waiting."""
    run, plan, program, options = lane.run, _plan(lane), lane.execution.program, lane.call_options
    run.checkpoint()
    auth_ref, auths = await _auths(callee, data, lane)
    if callee.policy is not None:
        lane.arguments["authorization"] = {"scheme": _scheme(callee.policy, lane)}
    function = Function(plan.name, callee.kind, callee.operation, auth_ref, callee.metadata)
    # Its `input.from` mentions secrets if that was left for where the call is performed.
    from_ = None if plan.task.input is None else plan.task.input.from_
    from_ = from_ if from_ is not None and uses_secrets(from_, lane) else None
    uris = callee.uris if options is None else ()
    request = Request(callee.arguments, uris, callee.verbatim, from_, program.expressions)
    template: SecretTemplate | None = None
    if SECRETS in request.mentions:
        seen = lane.seen()
        known = {name: seen[name] for name in sorted(request.mentions) if name in seen}
        template = SecretTemplate(
            request.template, data, {**known, "__now": seen["__now"]}, program.expressions.dialect
        )
        arguments: JSON = request.template["arguments"]
    else:
        arguments = await lane.value(request, data)
    lane.emit(TraceKind.ACTION_STARTED, plan.name, function=plan.name, arguments=_told(arguments, callee))
    if body.id is None:
        body.id = run.next_id(lane.path).lstrip("/")
    call = FunctionCall(
        id=body.id,
        function=function,
        arguments=arguments,
        state=lane.state_path,
        action=plan.name,
        secret_template=template,
        auth=auths,
        secrets=program.workflow.use.secrets if template is not None or auths else (),
        fire_and_forget=forget,
        language=NAME,
    )
    if options is not None:
        call.retry, call.timeout, call.priority = options.retry, options.timeout, options.priority
    try:
        result = await run.host.invoke(call)
    except WorkflowFault as fault:
        lane.locate(fault)
        lane.emit_failed_action(plan.name, {"function": plan.name}, fault)
        raise
    body.id = None
    if forget:
        return data
    lane.emit(TraceKind.ACTION_COMPLETED, plan.name, result=result)
    return result


def _told(arguments: JSON, callee: Callee) -> JSON:
    """Return the *arguments* that the trace shows."""
    if not isinstance(arguments, dict) or not callee.generated:
        return arguments
    return {name: value for name, value in arguments.items() if name not in callee.generated}


def _scheme(policy: Mapping[str, Any], lane: Lane) -> JSON:
    name = policy.get("use")
    return _SCHEMES.get(scheme_of(_policy_named(name, lane) if isinstance(name, str) else policy) or "")


async def _run_function(task: CallFunction, body: CallBody, data: JSON, lane: Lane) -> JSON:
    """Run a function that is a task, on the arguments of the call or, if it has none, on the task's input."""
    plan = lane.execution.program.functions[task.call]
    inside = lane.child(plan)
    inside.calls += 1
    if inside.calls > MAX_CALLS:
        raise lane.locate(
            WorkflowFault(f"functions call one another, {task.call!r} as well, more than {MAX_CALLS} deep")
        )
    if body.arguments is None:
        body.arguments = Value(data if task.with_ is None else await lane.fill(_plan(lane).definition["with"], data))
    if body.function is None:
        body.function = TaskFrame(lane.run.time())
    output, _ = await lane.execution.run_task(body.function, body.arguments.value, inside)
    body.function = None
    return output


# Subscriptions


async def _subscribe(
    task: CallAsyncApi, subscription: AsyncApiSubscription, body: CallBody, data: JSON, lane: Lane
) -> JSON:
    """Consume messages until the end of the subscription; return them, or what was made of them.

    They are received in portions. A portion is acknowledged by the call for the next one, when it is consumed.
    """
    if body.subscription is None:
        consume = subscription.consume
        until = None if consume.for_ is None else lane.run.time() + await lane.seconds(consume.for_, data)
        name = f"{lane.run.instance.instance_id}/{lane.run.host.new_id()}{lane.path}"
        body.subscription = SubscriptionFrame(name, until)
    frame = body.subscription
    try:
        while not frame.is_over:
            if frame.pending:
                await _consume(subscription, frame, lane)
            else:
                frame.is_over = not await _receive(task, subscription, frame, body, data, lane)
    except WorkflowFault:
        await _end_subscription(task, frame, body, data, lane)
        raise
    await _end_subscription(task, frame, body, data, lane)
    return frame.consumed


async def _receive(
    task: CallAsyncApi,
    subscription: AsyncApiSubscription,
    frame: SubscriptionFrame,
    body: CallBody,
    data: JSON,
    lane: Lane,
) -> bool:
    """Receive the next portion of messages; return False if the time of the subscription is over."""
    left = None if frame.until is None else frame.until - lane.run.time()
    if left is not None and left <= 0:
        return False
    amount = subscription.consume.amount
    callee = await callee_of(task, data, lane)
    callee.arguments = {
        **callee.arguments,
        "subscription": frame.name,
        "receipt": frame.receipt,
        # One at a time if each decides whether another is wanted: none is taken from others in vain.
        "amount": 1 if amount is None else amount - len(frame.consumed),
        **({} if left is None else {"for": left}),
    }
    callee.generated = _OF_SUBSCRIPTION
    received = await make_call(callee, body, data, lane)
    found = received if isinstance(received, dict) else {}
    messages = found.get("messages")
    frame.receipt, frame.pending = found.get("receipt"), messages if isinstance(messages, list) else []
    return bool(frame.pending)


async def _end_subscription(
    task: CallAsyncApi, frame: SubscriptionFrame, body: CallBody, data: JSON, lane: Lane
) -> None:
    callee = await callee_of(task, data, lane)
    callee.arguments = {**callee.arguments, "subscription": frame.name, "end": True}
    callee.generated = _OF_SUBSCRIPTION
    body.id = None
    await make_call(callee, body, data, lane)


async def _consume(subscription: AsyncApiSubscription, frame: SubscriptionFrame, lane: Lane) -> None:
    """Consume the first pending message, and decide whether it was the last."""
    message, consume, each = frame.pending[0], subscription.consume, subscription.foreach
    if frame.step is None and subscription.filter is not None and not await lane.holds(subscription.filter, message):
        frame.pending = frame.pending[1:]
        return
    made = message
    if each is not None:
        made = await iterate(each, "with/subscription/foreach/do", frame, message, len(frame.consumed), lane)
    frame.consumed.append(made)
    frame.pending, frame.step = frame.pending[1:], None
    if consume.amount is not None:
        frame.is_over = len(frame.consumed) >= consume.amount
    elif consume.while_ is not None:
        frame.is_over = not await lane.holds(consume.while_, frame.consumed)
    elif consume.until is not None:
        frame.is_over = await lane.holds(consume.until, frame.consumed)


async def iterate(each: Any, place: str, frame: Any, item: JSON, index: int, lane: Lane) -> JSON:
    """Do for *item* what a subscription iterator says (section "Subscription Iterator"); return the item's output."""
    variables = variables_for(each, item, index)
    tasks = _plan(lane).lists[place]
    if frame.step is None:
        if index == 0:
            lane.run.begin_iterations(lane.path)
        frame.step = ListFrame(0, item)
    end = await lane.execution.run_list(tasks, frame.step, lane, f"[{index}]", variables)
    lane.run.forget_iteration(lane.path, index)
    output = end.data
    if each.output is not None:
        if each.output.as_ is not None:
            output = await lane.evaluate(each.output.as_, output, variables)
        await lane.check("output", each.output.schema_, output)
    if each.export is not None:
        if each.export.as_ is not None:
            context = await lane.evaluate(each.export.as_, output, {**variables, "output": output})
            lane.execution.frame.context = context
        await lane.check("exported context", each.export.schema_, lane.execution.frame.context)
    return output


# Processes and workflows


async def run_process(task: RunTask, frame: TaskFrame, data: JSON, lane: Lane) -> JSON:
    """Run what the task says; without `await` its output is its input."""
    body, run = frame.body_as(CallBody), task.run
    lane.run.checkpoint()  # before a container gets a name
    if run.workflow is not None:
        return await _run_workflow(run, body, data, lane)
    written: dict[str, Any] = _plan(lane).definition["run"]
    kind = next(one for one in ("container", "script", "shell") if one in written)
    arguments = {**written[kind], "return": run.return_, "await": run.await_}
    callee = Callee(kind, arguments)
    if run.script is not None and run.script.source is not None:
        uri, callee.of_document = _endpoint(arguments.pop("source")["endpoint"])
        callee.metadata = {"source": await lane.uri(uri, data)}
    if run.script is not None and run.script.code is not None and not is_whole_expression(run.script.code):
        callee.verbatim = ("code",)  # `${ }` in it is the script's
    if run.container is not None:
        await _complete_container(run, body, arguments, data, lane)
        callee.generated = () if run.container.name is not None else ("name",)
    return await make_call(callee, body, data, lane, forget=not run.await_)


async def _complete_container(run: Run, body: CallBody, arguments: dict[str, Any], data: JSON, lane: Lane) -> None:
    assert run.container is not None  # noqa: S101 - called for these alone
    document = lane.execution.program.workflow.document
    if run.container.name is None:
        if body.unique is None:
            body.unique = lane.run.host.new_id()
        arguments["name"] = f"{document.name}-{body.unique}.{document.namespace}-{_plan(lane).name}"
    lifetime = run.container.lifetime
    if lifetime is not None and lifetime.after is not None:
        arguments["lifetime"] = {**arguments["lifetime"], "after": await lane.seconds(lifetime.after, data)}


async def _run_workflow(run: Run, body: CallBody, data: JSON, lane: Lane) -> JSON:
    process, plan = run.workflow, _plan(lane)
    assert process is not None  # noqa: S101 - called for these alone
    lane.run.checkpoint()
    given = data if process.input is None else await lane.fill(plan.definition["run"]["workflow"]["input"], data)
    workflow_id = id_of(process.namespace, process.name)
    lane.emit(TraceKind.ACTION_STARTED, plan.name, subflow=workflow_id)
    if body.id is None:
        body.id = lane.run.next_id(lane.path).lstrip("/")
    call = SubflowCall(
        id=body.id,
        workflow_id=workflow_id,
        version=None if process.version == LATEST else process.version,
        data=given,
        state=lane.state_path,
        action=plan.name,
        fire_and_forget=not run.await_,
        parent_close_policy="terminate" if run.await_ else "abandon",
    )
    try:
        result = await lane.run.host.run_subflow(call)
    except WorkflowFault as fault:
        lane.locate(fault)
        lane.emit_failed_action(plan.name, {"subflow": workflow_id}, fault)
        raise
    body.id = None
    if not run.await_:
        return data
    lane.emit(TraceKind.ACTION_COMPLETED, plan.name, result=result)
    return result


def _plan(lane: Lane) -> "TaskPlan":
    assert lane.plan is not None  # noqa: S101 - it is the lane of a task
    return lane.plan
