"""What stands in a history of data and failures."""

import os
from collections.abc import Sequence
from dataclasses import replace

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.client import Client
from temporalio.converter import (
    ActivitySerializationContext,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
)

from swf_temporal.base.errors import CallFailed
from swf_temporal.events.sinks import Sinks
from swf_temporal.functions.calling import Calls
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.temporal.call_records import application_error
from swf_temporal.temporal.client import start
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.worker import make_worker
from tests.temporal.building import operation
from tests.temporal.conftest import Bench

CALLING = {
    "id": "calling",
    "version": "1.0.0",
    "specVersion": "0.8",
    "start": "Call",
    "functions": [{"name": "answer", "type": "custom", "operation": "answer"}],
    "states": [operation("Call", {"name": "ask", "functionRef": "answer"}, end=True)],
}


class Noting(PayloadCodec, WithSerializationContext):
    """Changes nothing, and notes what the payloads belong to that it is given."""

    def __init__(
        self,
        context: SerializationContext | None = None,
        noted: list[tuple[SerializationContext | None, bytes]] | None = None,
    ) -> None:
        self.noted: list[tuple[SerializationContext | None, bytes]] = [] if noted is None else noted
        self._context = context

    def with_context(self, context: SerializationContext) -> "Noting":
        return Noting(context, self.noted)

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        self.noted += [(self._context, payload.data) for payload in payloads]
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)


async def written(error: BaseException) -> Failure:
    """Return the failure that stands in the history for *error*, once it was raised."""
    with pytest.raises(type(error)) as raised:
        raise error
    failure = Failure()
    await CONVERTER.encode_failure(raised.value, failure)
    return failure


async def test_a_fault_is_told_without_the_stack_of_the_interpreter() -> None:
    """What stands in the history is the fault with its facts, and no line of ours."""
    failure = await written(application_error(CallFailed("no", code="NoServer")))
    assert (failure.message, failure.application_failure_info.type) == ("no", "CallFailed")
    assert failure.application_failure_info.HasField("details")
    assert failure.stack_trace == ""


async def test_any_other_error_keeps_its_stack() -> None:
    assert "test_converter.py" in (await written(ValueError("no"))).stack_trace


async def test_a_codec_of_your_own_knows_what_a_payload_belongs_to(bench: Bench) -> None:
    """It is told of the call whose arguments or result a payload holds."""
    noting = Noting()
    converter = replace(CONVERTER, payload_codec=noting)
    client = Client(bench.client.service_client, namespace=bench.client.namespace, data_converter=converter)
    queue = f"contexts-{os.getpid()}"

    async def answer() -> int:
        return 42

    async with make_worker(client, Catalogue(), Calls({"answer": answer}), Sinks(), task_queue=queue):
        handle = await start(client, [load(CALLING)], {}, workflow_id=queue, task_queue=queue)
        await handle.result()
    of_call = [(of, data) for of, data in noting.noted if isinstance(of, ActivitySerializationContext)]
    assert {of.activity_id for of, _ in of_call} == {"Call/ask#1"}
    assert len(of_call) == 2, "the call, which the workflow writes, and its result"
