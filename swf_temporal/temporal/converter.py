"""Conversion of data and failures for histories.

Data is written as JSON, as by the SDK, but the keys of objects keep their order: an expression such as `to_entries`
sees that order, and it should not depend on whether the data has been through the server. A failure that carries a
fault omits the interpreter's stack, since the fault says everything.

Clients check the sizes of what they send here, before they send it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultFailureConverter,
    DefaultPayloadConverter,
    EncodingPayloadConverter,
    JSONPlainPayloadConverter,
    PayloadCodec,
    PayloadConverter,
    SerializationContext,
    WorkflowSerializationContext,
)
from temporalio.exceptions import ApplicationError

from swf_temporal.base.client_errors import TooLargeToSendError
from swf_temporal.base.errors import MissingExtra, PayloadUnavailable, UsageError
from swf_temporal.base.strict_json import NotJSON, read_json, read_written, write_json
from swf_temporal.runtime.performing import MAX_PAYLOAD_BYTES
from swf_temporal.temporal.constants import DEFAULT_NAMESPACE, MAX_INPUT_BYTES
from swf_temporal.temporal.payloads.encodings import COMPRESSED, ENCRYPTED, REFUSED, Refusing, is_unreadable, unreadable

if TYPE_CHECKING:
    from swf_temporal.settings.payloads import PayloadSettings


class OrderedJSON(JSONPlainPayloadConverter):
    """Writes plain JSON and keeps the order of keys."""

    def to_payload(self, value: Any) -> Payload | None:
        """Return *value* as JSON; what is not plain JSON is left to the SDK. Raises NotJSON if that fails."""
        try:
            text = write_json(value)
        except NotJSON as refusal:
            try:
                payload = super().to_payload(value)
            except (TypeError, ValueError, RecursionError):
                raise refusal from None
            if payload is not None:  # the SDK has converted its own types, possibly to what is not JSON
                read_json(payload.data)
            return payload
        payload = Payload(data=text.encode())
        payload.metadata["encoding"] = _JSON
        return payload

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        data = payload.data
        if type_hint is None or type_hint is Any:
            with suppress(NotJSON):
                return read_written(data)
        return super().from_payload(payload, type_hint)


class SwfPayloadConverter(CompositePayloadConverter):
    """The SDK's converters, with ours for JSON."""

    max_payload_bytes: ClassVar[int] = MAX_PAYLOAD_BYTES
    """The size limit of one payload, in bytes of JSON."""

    def __init__(self) -> None:
        super().__init__(*_CONVERTERS)

    def to_payloads(self, values: Sequence[Any]) -> list[Payload]:
        """Write *values*. Most are JSON by their type, and need not be tried with each converter in turn."""
        json_converter = self.converters[_JSON]
        payloads = []
        for value in values:
            if type(value) is RawValue:
                payloads.append(value.payload)
                continue
            payload = json_converter.to_payload(value) if type(value) in _PLAIN else None
            payloads.append(super().to_payloads([value])[0] if payload is None else payload)
        return payloads

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        """Read *payloads*. Nearly always there is one, which is JSON or stays as it is."""
        if type_hints == _RAW and len(payloads) == 1:
            return [RawValue(payloads[0])]
        if type_hints is None and len(payloads) == 1 and payloads[0].metadata.get("encoding") == _JSON:
            with suppress(RuntimeError):  # the SDK's own error, which follows, says more
                return [self.converters[_JSON].from_payload(payloads[0])]
        return super().from_payloads(payloads, type_hints)

    def with_context(self, context: SerializationContext) -> Self:  # noqa: ARG002 - the SDK's name
        """Return this converter, which does not depend on the context; the SDK would copy it twice for every call."""
        return self


class SwfFailureConverter(DefaultFailureConverter):
    """The SDK's converter. The stack of a fault comes from the user's code: ours would not lead to the cause."""

    def to_failure(self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure) -> None:
        super().to_failure(exception, payload_converter, failure)
        if isinstance(exception, ApplicationError) and _carries_fault(exception):
            frames = getattr(exception, "frames", "")
            if not failure.HasField("encoded_attributes"):
                failure.stack_trace = frames
            else:
                [attributes] = payload_converter.from_payloads([failure.encoded_attributes])
                [encoded] = payload_converter.to_payloads([{**attributes, "stack_trace": frames}])
                failure.encoded_attributes.CopyFrom(encoded)

    def from_failure(self, failure: Failure, payload_converter: PayloadConverter) -> BaseException:
        """Return *failure* as an exception. Raises PayloadUnavailable if its message cannot be read here.

        Without its message and details it would be another fault, which a definition could handle differently.
        """
        if failure.HasField("encoded_attributes") and is_unreadable(failure.encoded_attributes):
            raise unreadable(failure.encoded_attributes)
        try:
            return super().from_failure(failure, payload_converter)
        except NotJSON:  # extra data written by others is dropped if it was refused
            bare = Failure()
            bare.CopyFrom(failure)
            bare.ClearField("encoded_attributes")
            bare.application_failure_info.ClearField("details")
            return super().from_failure(bare, payload_converter)


class EncodedFailureConverter(SwfFailureConverter):
    """Moves messages and stacks of failures to where the payload codec encrypts them."""

    def __init__(self) -> None:
        super().__init__(encode_common_attributes=True)
        self._open = SwfFailureConverter()

    def to_failure(self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure) -> None:
        """Write *exception* into *failure*: unencrypted if it is about keys or storage, since these may be missing."""
        if isinstance(exception, PayloadUnavailable):
            self._open.to_failure(exception, payload_converter, failure)
        else:
            super().to_failure(exception, payload_converter, failure)


def _carries_fault(error: ApplicationError) -> bool:
    facts = error.details[0] if error.details else None
    return isinstance(facts, dict) and "kind" in facts


def _ours(converter: EncodingPayloadConverter) -> EncodingPayloadConverter:
    return OrderedJSON() if converter.encoding == _ENCODING else converter


_ENCODING = "json/plain"
_JSON = _ENCODING.encode()
_RAW: Final = [RawValue]
_PLAIN: Final = frozenset({dict, list, str, int, float, bool})
_CONVERTERS: Final = (
    *map(_ours, DefaultPayloadConverter.default_encoding_payload_converters),
    *map(Refusing, (ENCRYPTED, COMPRESSED, REFUSED)),
)
"""Shared, since they hold no payload state: the SDK asks for a converter twice in every activation."""

CONVERTER: Final = DataConverter(
    payload_converter_class=SwfPayloadConverter, failure_converter_class=SwfFailureConverter
)
"""The data converter of our clients and workers; any other Temporal program can read its output."""


def converter_of(payloads: "PayloadSettings | None", namespace: str = DEFAULT_NAMESPACE) -> DataConverter:
    """Return the data converter of clients and workers for the settings *payloads*. Raises UsageError."""
    if payloads is None:
        return CONVERTER
    converter, storage, encryption = CONVERTER, payloads.storage, payloads.encryption
    if storage is not None:
        from swf_temporal.temporal.payloads.storage import storage_of  # noqa: PLC0415 - only where it is configured

        kind = _with_limit(storage.max_bytes)
        converter = replace(converter, payload_converter_class=kind, external_storage=storage_of(storage))
    if encryption is not None or payloads.compression:
        converter = replace(converter, payload_codec=codec_of(payloads, namespace))
    if encryption is not None and encryption.encrypt:
        converter = replace(converter, failure_converter_class=EncodedFailureConverter)
    return converter


def codec_of(payloads: "PayloadSettings", namespace: str) -> PayloadCodec:
    """Return the codec of *payloads* in a namespace. Raises UsageError if keys cannot be loaded."""
    try:
        from swf_temporal.temporal.payloads.codec import Compressing, Encrypting, InflatedSizes  # noqa: PLC0415 - of an extra
        from swf_temporal.temporal.payloads.keys import Keys  # noqa: PLC0415 - as above
    except ImportError as error:
        raise MissingExtra("encryption", "encryption of payloads", error.name) from None
    encryption, storage = payloads.encryption, payloads.storage
    sizes = InflatedSizes() if storage is None else InflatedSizes.of_storage(storage.max_bytes)
    if encryption is None:
        return Compressing(sizes)
    return Encrypting(
        Keys(encryption.keys),
        encryption.context or namespace,
        encryption.key if encryption.encrypt else None,
        compression=payloads.compression is not False,
        stored_from=None if storage is None else storage.threshold,
        sizes=sizes,
    )


def keeping_order(converter: DataConverter) -> DataConverter:
    """Return *converter* with our conversion in place of the SDK's usual one; its codec and storage stay."""
    changes: dict[str, Any] = {}
    if converter.payload_converter_class is DefaultPayloadConverter:
        changes["payload_converter_class"] = SwfPayloadConverter
    if converter.failure_converter_class is DefaultFailureConverter:
        changes["failure_converter_class"] = SwfFailureConverter
    return replace(converter, **changes) if changes else converter


def with_order(client: "Client") -> "Client":
    """Return *client*, with our conversion if it has the SDK's usual one, which sorts keys."""
    converter = keeping_order(client.data_converter)
    if converter is client.data_converter:
        return client
    config = client.config()
    config["data_converter"] = converter
    return type(client)(**config)


def check_order(converter: DataConverter) -> None:
    """Raise UsageError if *converter* loses the order of keys: expressions such as `to_entries` see it."""
    given = {"b": 1, "a": 2}
    [read] = converter.payload_converter.from_payloads(converter.payload_converter.to_payloads([given]))
    if list(read) != list(given):
        kind = converter.payload_converter_class.__name__
        what = f"the payload converter of the worker's client, {kind}, loses the order of keys, which definitions see"
        raise UsageError(what, "let it write JSON without sort_keys, or leave it out")


def _with_limit(most: int) -> type[SwfPayloadConverter]:
    class Limited(SwfPayloadConverter):
        max_payload_bytes = most

    return Limited


def is_contextual(converter: DataConverter) -> bool:
    """Return whether the output of *converter* depends on the workflow or call of the data. Ours does not."""
    return converter.with_context(WorkflowSerializationContext(DEFAULT_NAMESPACE, "")) is not converter


def unwrapped(converter: PayloadConverter) -> PayloadConverter:
    """Return the converter inside the SDK's wrapper *converter*, for JSON: the wrapper is only for the SDK's types."""
    # There is no API for this; if a release of the SDK wraps in another way, more is converted than necessary.
    ours: PayloadConverter = getattr(converter, "_inner_payload_converter", converter)
    return ours


def limit_of(converter: PayloadConverter) -> int:
    """Return the size limit of a payload of *converter*, in bytes of JSON."""
    ours = unwrapped(converter)
    return ours.max_payload_bytes if isinstance(ours, SwfPayloadConverter) else MAX_PAYLOAD_BYTES


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
