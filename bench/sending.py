"""How is an event sent to a running instance: by a signal, or by the update `deliver`? And what if it is refused?"""

import asyncio
import json
from collections import Counter
from typing import Any, Protocol
from uuid import uuid4

from temporalio.api.common.v1 import Payload, Payloads, WorkflowExecution
from temporalio.api.enums.v1 import UpdateWorkflowExecutionLifecycleStage
from temporalio.api.update.v1 import Input, Meta, Request, WaitPolicy
from temporalio.api.workflowservice.v1 import SignalWorkflowExecutionRequest, UpdateWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.service import RPCError

from swf_temporal.temporal.constants import DELIVER, EVENT

_PAUSE = 0.05
"""Seconds before a refused event is sent again."""
_COMPLETED = UpdateWorkflowExecutionLifecycleStage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED


class UpdateFailedError(Exception):
    """An update that the workflow refused."""


class Send(Protocol):
    """A way to send events."""

    async def __call__(self, workflow_id: str, event: dict[str, Any], *, retry: bool) -> None:
        """Send *event*; with *retry* as the SDK's client does, else by one attempt."""


class Refusals(Protocol):
    """What is counted of events that were not taken at once."""

    put_off: Counter[str]
    refused: Counter[str]


async def sent(send: Send, workflow_id: str, event: dict[str, Any], refusals: Refusals) -> None:
    """Send *event* until it is accepted; take note of what happened before."""
    try:
        return await send(workflow_id, event, retry=False)
    except (RPCError, UpdateFailedError) as error:
        refusals.put_off[str(error)] += 1
    is_first = True
    while True:
        try:
            return await send(workflow_id, event, retry=True)
        except (RPCError, UpdateFailedError) as error:
            if is_first:
                refusals.refused[str(error)] += 1
            is_first = False
            await asyncio.sleep(_PAUSE)


def by_signal(client: Client) -> Send:
    """Return what sends events by signals."""

    async def send(workflow_id: str, event: dict[str, Any], *, retry: bool) -> None:
        request = SignalWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
            signal_name=EVENT,
            input=Payloads(payloads=[_payload(event)]),
            request_id=str(uuid4()),
        )
        await client.workflow_service.signal_workflow_execution(request, retry=retry)

    return send


def by_update(client: Client) -> Send:
    """Return what sends events by the update `deliver`."""

    async def send(workflow_id: str, event: dict[str, Any], *, retry: bool) -> None:
        update = Request(
            meta=Meta(update_id=str(uuid4())),
            input=Input(name=DELIVER, args=Payloads(payloads=[_payload(event)])),
        )
        completed = WaitPolicy(lifecycle_stage=_COMPLETED)
        request = UpdateWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
            request=update,
            wait_policy=completed,
        )
        answer = await client.workflow_service.update_workflow_execution(request, retry=retry)
        if answer.outcome.HasField("failure"):
            raise UpdateFailedError(answer.outcome.failure.message)

    return send


def _payload(event: dict[str, Any]) -> Payload:
    return Payload(metadata={"encoding": b"json/plain"}, data=json.dumps(event).encode())
