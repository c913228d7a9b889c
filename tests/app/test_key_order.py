"""The order of keys, which expressions see, is kept whatever codec a client with the plugin has."""

from collections.abc import Sequence
from dataclasses import replace

from temporalio.api.common.v1 import Payload
from temporalio.client import Client as SdkClient
from temporalio.converter import DataConverter, PayloadCodec

from swf_temporal import Plugin


class Codec(PayloadCodec):
    """A codec of a program's own."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Leave them as they are."""
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Leave them as they are."""
        return list(payloads)


async def test_a_codec_of_ones_own_keeps_the_order() -> None:
    """The plugin converts data, and the codec stays."""
    mine = replace(DataConverter.default, payload_codec=Codec())
    client = await SdkClient.connect("127.0.0.1:1", lazy=True, data_converter=mine, plugins=[Plugin()])
    assert isinstance(client.data_converter.payload_codec, Codec)
    [payload] = client.data_converter.payload_converter.to_payloads([{"b": 1, "a": 2}])
    assert payload.data == b'{"b":1,"a":2}'
