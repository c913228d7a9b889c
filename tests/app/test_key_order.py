"""The order of keys, which expressions see, is kept by every worker that starts."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client as SdkClient
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultPayloadConverter,
    JSONPlainPayloadConverter,
    PayloadCodec,
)
from temporalio.worker import Worker as SdkWorker

from swf_temporal import Client, Plugin, UsageError, Worker, load


class Codec(PayloadCodec):
    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)


async def test_a_codec_of_ones_own_keeps_the_order() -> None:
    """The plugin converts data, and the codec stays."""
    mine = replace(DataConverter.default, payload_codec=Codec())
    client = await SdkClient.connect("127.0.0.1:1", lazy=True, data_converter=mine, plugins=[Plugin()])
    assert isinstance(client.data_converter.payload_codec, Codec)
    [payload] = client.data_converter.payload_converter.to_payloads([{"b": 1, "a": 2}])
    assert payload.data == b'{"b":1,"a":2}'


class Sorting(CompositePayloadConverter):
    """A payload converter of a program's own, which sorts keys."""

    def __init__(self) -> None:
        super().__init__(JSONPlainPayloadConverter())


PAIRS = load("""
id: pairs
version: 1.0.0
specVersion: "0.8"
functions: [{name: made, type: custom}]
states:
  - name: Make
    type: operation
    actions: [{functionRef: made, actionDataFilter: {toStateData: .made}}]
    stateDataFilter: {output: "${ {keys: [.made | to_entries[] | .key]} }"}
    end: true
""")


@pytest.mark.temporal
async def test_a_worker_with_a_plain_client_keeps_the_order(client: Client) -> None:
    """Whether it is one of ours or of the SDK; its client is then not changed for others."""
    functions = {"made": lambda: {"b": 1, "c": 2, "a": 3}}
    for queue in ("sdk", "ours"):
        plain = await SdkClient.connect(client.address)
        worker = (
            SdkWorker(plain, task_queue=queue, plugins=[Plugin(definitions=[PAIRS], functions=functions)])
            if queue == "sdk"
            else Worker(Client(plain), definitions=[PAIRS], functions=functions, task_queue=queue)
        )
        async with worker:
            assert await plain.execute_workflow("pairs", {}, id=f"order-{queue}", task_queue=queue) == {
                "keys": ["b", "c", "a"]
            }
        assert plain.data_converter.payload_converter_class is DefaultPayloadConverter


async def test_our_client_sends_keys_in_their_order() -> None:
    """Also one that is made of a plain client of the SDK, with what that has besides."""
    mine = replace(DataConverter.default, payload_codec=Codec())
    plain = await SdkClient.connect("127.0.0.1:1", lazy=True, data_converter=mine, identity="me")
    ours = Client(plain).temporal
    [payload] = ours.data_converter.payload_converter.to_payloads([{"b": 1, "a": 2}])
    assert payload.data == b'{"b":1,"a":2}'
    assert isinstance(ours.data_converter.payload_codec, Codec)
    assert (ours.identity, ours.service_client) == (plain.identity, plain.service_client)


async def test_a_worker_that_would_lose_the_order_does_not_start() -> None:
    """A payload converter of the program's own is not replaced."""
    mine = replace(DataConverter.default, payload_converter_class=Sorting)
    client = await SdkClient.connect("127.0.0.1:1", lazy=True, data_converter=mine)
    with pytest.raises(UsageError, match=r"Sorting, loses the order of keys.*\n.*sort_keys"):
        SdkWorker(client, task_queue="a", plugins=[Plugin()])
