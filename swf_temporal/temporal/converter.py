"""How is data written into histories?

As JSON, like the SDK does it, but with the keys of objects in the order in which they are: an expression such as
`to_entries` sees that order, and it should not depend on whether the data has been through the server.
"""

import json
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultPayloadConverter,
    EncodingPayloadConverter,
    JSONPlainPayloadConverter,
)


class OrderedJSON(JSONPlainPayloadConverter):
    """Writes plain JSON and keeps the order of keys."""

    def to_payload(self, value: Any) -> Payload | None:
        """Return *value* as JSON; what is not plain JSON is left to the SDK."""
        try:
            text = _ENCODER.encode(value)
        except (TypeError, ValueError):
            return super().to_payload(value)
        return Payload(metadata=_METADATA, data=text.encode())


class SwfPayloadConverter(CompositePayloadConverter):
    """The SDK's converters, with ours for JSON."""

    def __init__(self) -> None:
        super().__init__(*(_ours(one) for one in DefaultPayloadConverter.default_encoding_payload_converters))


def _ours(converter: EncodingPayloadConverter) -> EncodingPayloadConverter:
    return OrderedJSON() if converter.encoding == _ENCODING else converter


_ENCODER = json.JSONEncoder(separators=(",", ":"))
_ENCODING = "json/plain"
_METADATA = {"encoding": _ENCODING.encode()}

CONVERTER = DataConverter(payload_converter_class=SwfPayloadConverter)
"""What clients and workers of ours write with; any other Temporal program reads it."""
