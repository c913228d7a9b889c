"""Size limits of what a client sends, checked before sending."""

from collections.abc import Mapping
from typing import Any, Final

from temporalio.client import Client
from temporalio.common import RawValue

from swf_temporal.base.client_errors import TooLargeToSendError
from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import NotJSON
from swf_temporal.runtime.performing import MAX_PAYLOAD_BYTES
from swf_temporal.temporal.constants import MAX_INPUT_BYTES
from swf_temporal.temporal.converter import limit_of

_ADVICE: Final = (
    "store large payloads outside of Temporal (`storage` in the configuration), or send a reference to the data"
)
_RAISE: Final = "raise `storage › maxBytes` in the configuration, or send a reference to the data"


def advice_for(limit: int) -> str:
    """Return advice about data that is larger than *limit*."""
    return _ADVICE if limit == MAX_PAYLOAD_BYTES else _RAISE


def sendable(client: Client, values: Mapping[str, Any]) -> list[RawValue]:
    """Return *values*, keyed by their names in messages, ready to be sent together. Raises UsageError if too large."""
    converter = client.data_converter.payload_converter
    try:
        limit, payloads = limit_of(converter), converter.to_payloads(list(values.values()))
    except NotJSON as error:
        raise UsageError(f"{' or '.join(values)} is not JSON: {error}") from None
    sizes = [len(payload.data) for payload in payloads]
    for name, size in zip(values, sizes, strict=True):
        if size > limit:
            text = f"{name} of {size:,} bytes: more than {limit:,} cannot be sent"
            raise TooLargeToSendError(text, advice_for(limit), size=size, limit=limit)
    if limit == MAX_PAYLOAD_BYTES and sum(sizes) > MAX_INPUT_BYTES:
        text = f"{' and '.join(values)} of {sum(sizes):,} bytes together: more than {MAX_INPUT_BYTES:,} cannot be sent"
        raise TooLargeToSendError(text, advice_for(limit), size=sum(sizes), limit=MAX_INPUT_BYTES)
    return [RawValue(payload) for payload in payloads]
