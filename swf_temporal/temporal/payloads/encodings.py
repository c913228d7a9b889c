"""Encodings of payloads that are compressed or encrypted in transit. Nothing heavy is imported here."""

from typing import Any, Final, NoReturn

from temporalio.api.common.v1 import Payload
from temporalio.converter import EncodingPayloadConverter

from swf_temporal.base.errors import PayloadUnavailable
from swf_temporal.base.strict_json import NotJSON

ENCRYPTED: Final = b"binary/swf-encrypted"
COMPRESSED: Final = b"binary/zlib"
"""The encoding that Temporal SDKs use for compression: a whole payload within zlib."""
REFUSED: Final = b"binary/swf-refused"
"""The encoding of the local substitute for a payload that will never be read: its data say why. It is never sent."""
PAYLOAD_ENVELOPE: Final = 64 * 1024
"""The number of bytes that a payload may have besides its data."""
KEY_ID: Final = "swf-key-id"
"""The metadata key with the id of the encryption key."""


def key_id_of(payload: Payload) -> str:
    return payload.metadata.get(KEY_ID, b"").decode(errors="replace")


def is_unreadable(payload: Payload) -> bool:
    """Return whether *payload* is still compressed or encrypted."""
    return payload.metadata.get("encoding") in {ENCRYPTED, COMPRESSED}


def unreadable(payload: Payload) -> PayloadUnavailable:
    """Return the error of a program without the settings needed to read *payload*."""
    if payload.metadata.get("encoding") == COMPRESSED:
        return PayloadUnavailable("a payload is compressed", "set `compression` in the configuration of this program")
    what = f"a payload is encrypted with the key {key_id_of(payload)!r}, and no keys are configured here"
    return PayloadUnavailable(what, "give this program the section `encryption` of the configuration")


def refusal(reason: str) -> Payload:
    """Return the substitute for an untrusted payload that is not read because of *reason*."""
    return Payload(metadata={"encoding": REFUSED}, data=reason.encode())


def reason_of(payload: Payload) -> str | None:
    """Return why *payload* was not read; None if it was."""
    return payload.data.decode() if payload.metadata.get("encoding") == REFUSED else None


class Refusing(EncodingPayloadConverter):
    """Refuses to convert payloads of one of these encodings: what needs one fails for now, but not for good.

    A refused payload is treated like one that is not JSON.
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
