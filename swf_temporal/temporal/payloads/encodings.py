"""Encodings of payloads that were compressed or encrypted on their way. Nothing heavy is imported here."""

from typing import Any, Final, NoReturn

from temporalio.api.common.v1 import Payload
from temporalio.converter import EncodingPayloadConverter

from swf_temporal.base.errors import PayloadUnavailable
from swf_temporal.base.strict_json import NotJSON

ENCRYPTED: Final = b"binary/swf-encrypted"
COMPRESSED: Final = b"binary/zlib"
"""The encoding that SDKs of Temporal write who compress: a whole payload within zlib."""
REFUSED: Final = b"binary/swf-refused"
"""The encoding of what stands here for a payload that is not read, for good: its data say why. None ever travels."""
PAYLOAD_ENVELOPE: Final = 64 * 1024
"""Bytes that a payload may have besides its data."""
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


def refusal(reason: str) -> Payload:
    """Return what stands for a payload that anyone may have written, and that is not read because of *reason*."""
    return Payload(metadata={"encoding": REFUSED}, data=reason.encode())


def reason_of(payload: Payload) -> str | None:
    """Return why *payload* was not read; None if it was."""
    return payload.data.decode() if payload.metadata.get("encoding") == REFUSED else None


class Refusing(EncodingPayloadConverter):
    """Converts no payload of one of these encodings: what needs it fails for the moment, and not for good.

    One that was refused is like one that is not JSON.
    """

    def __init__(self, encoding: bytes) -> None:
        self._encoding = encoding.decode()

    @property
    def encoding(self) -> str:
        return self._encoding

    def to_payload(self, value: Any) -> None:
        """Leave it to others."""

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> NoReturn:  # noqa: ARG002 - as above
        raise unreadable(payload) if (reason := reason_of(payload)) is None else NotJSON(reason)
