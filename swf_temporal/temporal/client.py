"""The client: starts workflows, sends them events, reads their results."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import (
    Client,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import HeaderCodecBehavior, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.envconfig import ClientConfig
from temporalio.exceptions import (
    ApplicationError,
    CancelledError,
    TerminatedError,
    WorkflowAlreadyStartedError,
)
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.errors import UsageError, WorkflowFault
from swf_temporal.strict_json import NotJSON, json_of
from swf_temporal.temporal import statuses, summaries  # noqa: F401 - the SDK then reads every status
from swf_temporal.temporal.addresses import refuse_malformed
from swf_temporal.temporal.client_errors import (
    AlreadyStartedError,
    InboxFullError,
    NeverTakenError,
    NoAnswerError,
    ServerUnavailableError,
    has_ended,
    not_there,
    refused_by_server,
)
from swf_temporal.temporal.connection_errors import trouble_of
from swf_temporal.temporal.constants import (
    DEFAULT_HOST,
    DEFAULT_NAMESPACE,
    DEFAULT_PORT,
    DELIVER,
    EVENT,
    EVENT_REFUSED,
    INBOX_FULL,
    TASK_QUEUE,
)
from swf_temporal.temporal.converter import converter_of
from swf_temporal.temporal.sending import sendable

if TYPE_CHECKING:
    from swf_temporal.languages.port import Definition
    from swf_temporal.payloads.settings import PayloadSettings

Handle = WorkflowHandle[Any, Any]

PATIENCE = timedelta(seconds=10)
"""The time limit for a worker's answer to an event."""

SENT = "sent"
"""The answer for an event whose outcome is not known."""


class RunEnded(WorkflowFault):
    """A run that ended without an output: failed, cancelled or terminated. `status` of the run is `how`."""

    default_name = "RunEnded"

    def __init__(self, message: str, how: str, fault: WorkflowFault | None = None) -> None:
        super().__init__(message, name=fault.name if fault else how)
        self.how = how
        self.fault = fault


async def connect(
    *, address: str | None = None, namespace: str | None = None, payloads: "PayloadSettings | None" = None
) -> Client:
    """Return a client of the cluster that the environment names (`TEMPORAL_ADDRESS`, `TEMPORAL_API_KEY` and so on).

    *payloads* is what becomes of payloads on their way.
    Raises ServerUnavailableError if no server answers there, and UsageError if it has no such namespace.
    """
    config = configured()
    if address is not None:
        config["target_host"] = address
    if namespace is not None:
        config["namespace"] = namespace
    config.setdefault("target_host", f"{DEFAULT_HOST}:{DEFAULT_PORT}")
    refuse_malformed(config["target_host"], "--address" if address is not None else "TEMPORAL_ADDRESS")
    converter = converter_of(payloads, config.get("namespace", DEFAULT_NAMESPACE))
    try:
        client = await Client.connect(
            **config,
            data_converter=converter,
            header_codec_behavior=HeaderCodecBehavior.CODEC
            if converter.payload_codec
            else HeaderCodecBehavior.NO_CODEC,
        )
    except (RuntimeError, ValueError, RPCError) as error:
        trouble = trouble_of(error)
        host = config["target_host"]
        text = f"the server at {host} cannot be used" if trouble.is_refusal else f"no Temporal server answers at {host}"
        kind = UsageError if trouble.is_refusal else ServerUnavailableError
        raise kind(f"{text}: {trouble.what}", trouble.hint) from None
    await _refuse_unknown_namespace(client)
    return client


def configured() -> dict[str, Any]:
    """Return what the environment, and the user's configuration of Temporal, say of the server. Raises UsageError."""
    try:
        return dict(ClientConfig.load_client_connect_config())
    except Exception as error:  # noqa: BLE001 - the library has no public class for what it raises
        raise UsageError(f"the configuration of Temporal cannot be used: {error}", "see TEMPORAL_PROFILE") from None


async def _refuse_unknown_namespace(client: Client) -> None:
    request = DescribeNamespaceRequest(namespace=client.namespace)
    try:
        await client.workflow_service.describe_namespace(request)
    except RPCError as error:
        # A caller without the right to describe it may still have the right to use it.
        if error.status == RPCStatusCode.NOT_FOUND:
            raise _no_namespace(client) from None


async def refuse_unless_readable(client: Client) -> None:
    """Raise UsageError if the server does not let *client* ask for instances: such as without the right to that.

    A namespace that one may not describe can also be missing: connecting does not tell.
    """
    host, namespace = client.service_client.config.target_host, client.namespace
    try:
        await client.get_workflow_handle("swf").describe(rpc_timeout=PATIENCE)
    except RPCError as error:
        if error.status in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED):
            text = f"the server at {host} does not let the caller ask for instances in the namespace {namespace!r}"
            raise UsageError(text, "see TEMPORAL_API_KEY, and who may use the namespace") from None
        if error.status != RPCStatusCode.NOT_FOUND:
            raise refused_by_server(error, f"the server at {host} does not answer for {namespace!r}") from None
        if error.message.lower().startswith("namespace"):
            raise _no_namespace(client) from None


def _no_namespace(client: Client) -> UsageError:
    host = client.service_client.config.target_host
    return UsageError(
        f"the server at {host} has no namespace {client.namespace!r}",
        "name another with --namespace or TEMPORAL_NAMESPACE",
    )


async def start(  # noqa: PLR0913 - what may be said of a start, most of it optional
    client: Client,
    workflows: "Sequence[Definition]",
    data: JSON = None,
    *,
    workflow_id: str,
    task_queue: str = TASK_QUEUE,
    events: Sequence[Mapping[str, Any]] = (),
    others: Mapping[str, JSON] | None = None,
    once: bool = False,
) -> Handle:
    """Start an instance of the first of *workflows*; the others are its sub-workflows.

    The definitions are pinned: the run keeps them, whatever becomes of the files. *events* are there from the start.
    *others* are fields of the run's record that mean something to a worker of the caller's own.
    Raises AlreadyStartedError if an instance of that id is running or, where it is to start *once*, has ended; and
    UsageError if the data or an event is not JSON.
    """
    from swf_temporal.temporal.records import Pin, pinned  # noqa: PLC0415 - heavy, and for definitions alone

    first = workflows[0]
    pin = Pin(pinned(workflows), version=first.version, others=others or {})
    pin.events = _ready(events)
    arguments = {"an input": _input(data), "the definitions and events": cast("JSON", pin.to_json())}
    return await _start(client, first.id, arguments, workflow_id, task_queue, summaries.of_instance(first), once=once)


async def start_known(
    client: Client,
    definition_id: str,
    data: JSON = None,
    *,
    workflow_id: str,
    task_queue: str = TASK_QUEUE,
    events: Sequence[Mapping[str, Any]] = (),
    once: bool = False,
) -> Handle:
    """Start an instance of a definition that the workers know by its id, as every client of the engine can.

    Raises AlreadyStartedError and UsageError as `start` does.
    """
    arguments = {"an input": _input(data)}
    if events:
        from swf_temporal.temporal.records import Pin  # noqa: PLC0415 - as above

        arguments["events"] = cast("JSON", Pin([], events=_ready(events)).to_json())
    summary = summaries.of_instance_by_id(definition_id)
    return await _start(client, definition_id, arguments, workflow_id, task_queue, summary, once=once)


async def send_data(client: Client, workflow_id: str, name: str, data: JSON = None) -> None:
    """Send the data of an event that the definition knows as *name*.

    Raises UsageError if it is not JSON, or the instance is not there.
    """
    try:
        [value] = sendable(client, {f"data for {name!r}": json_of(data)})
        await client.get_workflow_handle(workflow_id).signal(name, value)
    except NotJSON as error:
        raise UsageError(f"the data of the event {name!r} is not JSON: {error}") from None
    except RPCError as error:
        raise not_there(error, workflow_id) from None


async def send_event(client: Client, workflow_id: str, event: Mapping[str, Any]) -> None:
    """Send a CloudEvent to a running instance. Raises UsageError if it is not an event, or there is no instance."""
    try:
        given: Any = json_of(event)
        cloud_event = CloudEvent.from_json(given, default_id="")
    except ValueError as error:
        raise UsageError(str(error)) from None
    try:
        [value] = sendable(client, {"an event": cloud_event.to_json()})
        await client.get_workflow_handle(workflow_id).signal(EVENT, value)
    except RPCError as error:
        raise not_there(error, workflow_id) from None


async def deliver(client: Client, workflow_id: str, event: Mapping[str, Any], patience: timedelta = PATIENCE) -> str:
    """Give an event to a running instance; return what became of it: `taken`, `kept` or `duplicate`.

    *event* is a CloudEvent, or holds the `name` that the definition gives to an event, and its `data`. The answer is
    `sent` where it was sent by a signal, because the run has answered as often as the engine lets it. Raises
    NeverTakenError if the definition describes no such event, InboxFullError if the instance has no room for it now,
    NoAnswerError if no worker answers in time, and UsageError if it is not an event, or there is no instance.
    """
    handle = client.get_workflow_handle(workflow_id)
    [value] = sendable(client, {"an event": dict(event)})
    try:
        answer = await handle.execute_update(DELIVER, value, rpc_timeout=patience)
    except WorkflowUpdateFailedError as error:
        refusal = _refusal_of(error, workflow_id)
        raise refusal or UsageError(f"{workflow_id!r} refuses the event: {error.cause}") from None
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError from None
        seconds = patience.total_seconds()
        raise NoAnswerError(f"no worker answered for {workflow_id!r} within {seconds:g} seconds") from None
    except RPCError as error:
        if error.status != RPCStatusCode.RESOURCE_EXHAUSTED:
            raise not_there(error, workflow_id) from None
    else:
        return str(answer["status"])
    await send(client, workflow_id, event)
    return SENT


async def send(client: Client, workflow_id: str, event: Mapping[str, Any]) -> None:
    """Send an event, as `deliver` takes it, by a signal, which does not wait for a worker. Raises UsageError."""
    if "type" in event or "name" not in event:
        await send_event(client, workflow_id, event)
    else:
        await send_data(client, workflow_id, event["name"], event.get("data"))


async def query(client: Client, workflow_id: str, name: str) -> Any:
    """Return what an instance answers to a query: `status`, `data` or `trace`."""
    try:
        return await client.get_workflow_handle(workflow_id).query(name)
    except RPCError as error:
        raise not_there(error, workflow_id) from None


async def result(handle: Handle) -> JSON:
    """Return the output of an instance, once it has ended. Raises RunEnded if it has none to give."""
    try:
        output: JSON = await handle.result()
    except WorkflowFailureError as error:
        raise _ended(error.cause) from None
    except RPCError as error:
        raise not_there(error, handle.id) from None
    return output


async def _start(
    client: Client,
    workflow_type: str,
    arguments: Mapping[str, JSON],
    workflow_id: str,
    task_queue: str,
    summary: str,
    *,
    once: bool = False,
) -> Handle:
    values = sendable(client, arguments)
    try:
        return await client.start_workflow(
            workflow_type,
            args=values,
            id=workflow_id,
            task_queue=task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE if once else WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            static_summary=summary,
        )
    except WorkflowAlreadyStartedError:
        what = "was started before" if once else "is running already"
        message = f"an instance {workflow_id!r} {what}"
        raise AlreadyStartedError(message, "choose another --id", instance=workflow_id) from None
    except RPCError as error:
        raise refused_by_server(error, f"the server did not start {workflow_id!r}") from None


def _ready(events: Sequence[Mapping[str, Any]]) -> list[dict[str, JSON]]:
    try:
        given: list[Any] = [json_of(event) for event in events]
    except NotJSON as error:
        raise UsageError(f"an event is one JSON object: {error}") from None
    return [CloudEvent.from_json(event, default_id=f"start-{n}").to_json() for n, event in enumerate(given)]


def _input(data: JSON) -> JSON:
    try:
        return {} if data is None else json_of(data)
    except NotJSON as error:
        raise UsageError(f"the input of a workflow is one JSON value: {error}") from None


def _refusal_of(error: WorkflowUpdateFailedError, workflow_id: str) -> UsageError | None:
    """Return the error of an event that was refused; None if that is not known."""
    cause = error.cause
    kind = cause.type if isinstance(cause, ApplicationError) else None
    message = cause.message if isinstance(cause, ApplicationError) else str(cause)
    if kind == EVENT_REFUSED and isinstance(cause, ApplicationError):
        return NeverTakenError(f"{workflow_id!r} {message}", cause.details[0] if cause.details else None)
    if kind == INBOX_FULL:
        return InboxFullError(f"{workflow_id!r} {message}", "send it again later; `swf status` shows what it waits for")
    if kind == "AcceptedUpdateCompletedWorkflow":
        return has_ended(workflow_id)
    if "expected but not found" in message:
        return UsageError(f"{workflow_id!r} is not an instance of a definition: it takes no events")
    return None


def _ended(cause: BaseException | None) -> RunEnded:
    if isinstance(cause, ApplicationError):
        facts = cause.details[0] if cause.details else None
        fault = WorkflowFault.from_json(facts) if isinstance(facts, dict) and "kind" in facts else None
        return RunEnded(cause.message, "failed", fault)
    if isinstance(cause, CancelledError):
        return RunEnded("the workflow was cancelled", "cancelled")
    if isinstance(cause, TerminatedError):
        return RunEnded(f"the workflow was terminated: {cause}", "terminated")
    return RunEnded(f"the workflow failed: {cause}", "failed")
