"""The payload codec for given settings."""

from typing import TYPE_CHECKING

from temporalio.converter import PayloadCodec

from swf_temporal.base.errors import UsageError

if TYPE_CHECKING:
    from swf_temporal.settings.payloads import PayloadSettings


def codec_of(payloads: "PayloadSettings", namespace: str) -> PayloadCodec:
    """Return the codec of *payloads* in a namespace. Raises UsageError if keys cannot be loaded."""
    try:
        from swf_temporal.temporal.payloads.codec import Compressing, Encrypting, InflatedSizes  # noqa: PLC0415 - of an extra
        from swf_temporal.temporal.payloads.keys import Keys  # noqa: PLC0415 - as above
    except ImportError as error:
        raise UsageError(f"encryption needs {error.name}", "pip install 'swf-temporal[encryption]'") from None
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
