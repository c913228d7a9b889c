"""Encodings of payloads that were compressed or encrypted on their way. Nothing heavy is imported here."""

from typing import Any, Final, NoReturn

from temporalio.api.common.v1 import Payload
from temporalio.converter import EncodingPayloadConverter

from swf_temporal.errors import PayloadUnavailable

ENCRYPTED: Final = b"binary/swf-encrypted"
COMPRESSED: Final = b"binary/zlib"
"""The encoding that SDKs of Temporal write who compress: a whole payload within zlib."""
KEY_ID: Final = "swf-key-id"
"""The key of the metadata that names the key of the encryption."""


def key_id_of(payload: Payload) -> str:
    return payload.metadata.get(KEY_ID, b"").decode(errors="replace")


def is_unreadable(payload: Payload) -> bool:
    """Tell whether *payload* is still compressed or encrypted."""
    return payload.metadata.get("encoding") in {ENCRYPTED, COMPRESSED}


def unreadable(payload: Payload) -> PayloadUnavailable:
    """Return the error of a program that has no settings with which *payload* could be read."""
    if payload.metadata.get("encoding") == COMPRESSED:
        return PayloadUnavailable("a payload is compressed", "set `compression` in the configuration of this program")
    what = f"a payload is encrypted with the key {key_id_of(payload)!r}, and no keys are configured here"
    return PayloadUnavailable(what, "give this program the section `encryption` of the configuration")


class Refusing(EncodingPayloadConverter):
    """Converts no payload of one of these encodings: what needs it fails for the moment, and not for good."""

    def __init__(self, encoding: bytes) -> None:
        self._encoding = encoding.decode()

    @property
    def encoding(self) -> str:
        return self._encoding

    def to_payload(self, value: Any) -> None:
        """Leave it to others."""

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> NoReturn:  # noqa: ARG002 - as above
        raise unreadable(payload)
