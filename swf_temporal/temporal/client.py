"""How does a program outside start workflows, send them events and read their results?"""

from collections.abc import Mapping, Sequence
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.envconfig import ClientConfig
from temporalio.exceptions import ApplicationError, CancelledError, TerminatedError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.data import JSON
from swf_temporal.errors import UsageError, WorkflowFault
from swf_temporal.model.cloudevent import CloudEvent
from swf_temporal.model.workflow import Workflow
from swf_temporal.temporal.addressing import EVENT
from swf_temporal.temporal.records import Pin, pinned
from swf_temporal.temporal.worker import TASK_QUEUE

Handle = WorkflowHandle[Any, Any]


class RunEnded(WorkflowFault):
    """A run that ended without an output: failed, cancelled or terminated. `status` of the run is `how`."""

    default_name = "RunEnded"

    def __init__(self, message: str, how: str, fault: WorkflowFault | None = None) -> None:
        super().__init__(message, name=fault.name if fault else how)
        self.how = how
        self.fault = fault


async def connect(*, address: str | None = None, namespace: str | None = None) -> Client:
    """Return a client of the cluster that the environment names (`TEMPORAL_ADDRESS`, `TEMPORAL_API_KEY` and so on).

    Raises UsageError if no server answers there.
    """
    config: dict[str, Any] = dict(ClientConfig.load_client_connect_config())
    if address is not None:
        config["target_host"] = address
    if namespace is not None:
        config["namespace"] = namespace
    config.setdefault("target_host", "localhost:7233")
    try:
        return await Client.connect(**config)
    except (RuntimeError, RPCError) as error:
        raise UsageError(
            f"no Temporal server answers at {config['target_host']}",
            f"start one with `swf dev`, or name another with TEMPORAL_ADDRESS ({_reason(error)})",
        ) from None


async def start(  # noqa: PLR0913 - what a start consists of
    client: Client,
    workflows: Sequence[Workflow],
    data: JSON = None,
    *,
    workflow_id: str,
    task_queue: str = TASK_QUEUE,
    events: Sequence[Mapping[str, Any]] = (),
    suspend_after: int | None = None,
) -> Handle:
    """Start an instance of the first of *workflows*; the others are its sub-workflows.

    The definitions are pinned: the run keeps them, whatever becomes of the files. *events* are there from the start.
    Raises UsageError if an instance of that id is running.
    """
    first = workflows[0]
    pin = Pin(pinned(list(workflows)), version=first.version, suspend_after=suspend_after)
    pin.events = [CloudEvent.from_json(event, default_id=f"start-{n}").to_json() for n, event in enumerate(events)]
    try:
        return await client.start_workflow(
            first.id,
            args=[{} if data is None else data, pin.to_json()],
            id=workflow_id,
            task_queue=task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            static_summary=first.name or first.id,
        )
    except WorkflowAlreadyStartedError:
        raise UsageError(f"an instance {workflow_id!r} is running already", "choose another --id") from None


async def send_event(client: Client, workflow_id: str, event: Mapping[str, Any]) -> None:
    """Send a CloudEvent to a running instance. Raises UsageError if it is no event, or nobody is there to take it."""
    try:
        cloud_event = CloudEvent.from_json(event, default_id="")
    except ValueError as error:
        raise UsageError(str(error)) from None
    try:
        await client.get_workflow_handle(workflow_id).signal(EVENT, cloud_event.to_json())
    except RPCError as error:
        raise _not_there(error, workflow_id) from None


async def query(client: Client, workflow_id: str, name: str) -> Any:
    """Return what an instance answers to a query: `status`, `data` or `trace`."""
    try:
        return await client.get_workflow_handle(workflow_id).query(name)
    except RPCError as error:
        raise _not_there(error, workflow_id) from None


async def result(handle: Handle) -> JSON:
    """Return the output of an instance, once it has ended. Raises RunEnded if it has none to give."""
    try:
        output: JSON = await handle.result()
    except WorkflowFailureError as error:
        raise _ended(error.cause) from None
    except RPCError as error:
        raise _not_there(error, handle.id) from None
    return output


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


def _not_there(error: RPCError, workflow_id: str) -> UsageError:
    if error.status == RPCStatusCode.NOT_FOUND:
        return UsageError(f"there is no running instance {workflow_id!r}", "see `swf list`")
    return UsageError(f"the server did not answer for {workflow_id!r}: {error.message}")


def _reason(error: Exception) -> str:
    text = str(error)
    for sign in ("Connection refused", "dns error", "tls", "timed out", "Unauthenticated", "PermissionDenied"):
        if sign.lower() in text.lower():
            return sign
    return text.splitlines()[0][:200] if text else type(error).__name__
