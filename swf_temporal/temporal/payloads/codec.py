"""The payload codec: compresses payloads if that makes them smaller, and encrypts them.

The whole payload is encrypted with its metadata, and a byte that says whether it was compressed. The id of the key, and
the context, which is the namespace, are authenticated with it: a payload copied from another namespace does not
decrypt.

Nonces are random. Only a payload that goes to the storage has a nonce that is derived from it: a replay, which sends it
again, has to produce the same object. That reveals that two large payloads are equal, as their objects do.
"""

import asyncio
import hmac
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Self

from cryptography.exceptions import InvalidTag
from google.protobuf.message import DecodeError
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from swf_temporal.base.errors import PayloadUnavailable
from swf_temporal.runtime.budgets import HELD_BYTES
from swf_temporal.runtime.performing import MAX_RESULT_BYTES
from swf_temporal.temporal.payloads.encodings import (
    COMPRESSED,
    ENCRYPTED,
    KEY_ID,
    PAYLOAD_ENVELOPE,
    key_id_of,
    refusal,
    unreadable,
)
from swf_temporal.temporal.payloads.keys import NONCE_BYTES, Keys, Xaes

_PLAIN, _ZLIB = b"\0", b"\1"
_SMALL: Final = 256
"""The size in bytes up to which payloads are not compressed: little would be gained."""
_LEVEL: Final = 1
"""The zlib level: higher ones take three times as long, and gain a few percent for JSON."""
_LARGE: Final = 128 * 1024
"""The size in bytes from which on a thread does the work, so that the event loop is not blocked."""
_MAX_TOGETHER: Final = 4
"""The number of payloads of maximum size to inflate at once: a list may have many that are small in transit."""
_INFLATED: Final = 32
"""The assumed growth factor of a payload when inflated, to decide whether a thread does it."""
_ENVELOPE: Final = 512
"""The maximum number of bytes that encryption and a payload's metadata add."""


@dataclass(frozen=True, slots=True)
class InflatedSizes:
    """Size limits of payloads once they are inflated, in bytes."""

    each: int = MAX_RESULT_BYTES + PAYLOAD_ENVELOPE
    together: int = _MAX_TOGETHER * (MAX_RESULT_BYTES + PAYLOAD_ENVELOPE)
    """The total of those in one list whose origin is not authenticated, such as the arguments of a workflow."""

    @classmethod
    def of_storage(cls, max_bytes: int) -> Self:
        """Return the limits if a payload of *max_bytes* may be stored: a run has as many as it may hold results."""
        each = max_bytes + PAYLOAD_ENVELOPE
        return cls(each, _MAX_TOGETHER * each + HELD_BYTES)


class Compressing(PayloadCodec):
    """Compresses payloads, and reads what others have compressed."""

    def __init__(self, sizes: InflatedSizes = InflatedSizes()) -> None:
        self._sizes = sizes

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Return *payloads*, compressed if that makes them smaller."""
        return [await _off_loop(len(one.data), _compressed, one) for one in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Return *payloads* as they were. Raises PayloadUnavailable for those that are encrypted."""
        return await _all_inflated(payloads, self._sizes)


class Encrypting(PayloadCodec):
    """Encrypts payloads with the current key, and decrypts what any of the keys has encrypted."""

    def __init__(
        self,
        keys: Keys,
        context: str,
        current: str | None,
        *,
        compression: bool = True,
        stored_from: int | None = None,
        sizes: InflatedSizes = InflatedSizes(),
    ) -> None:
        """Encrypt with the key *current*; None only decrypts. Payloads from *stored_from* bytes on are stored."""
        self._keys = keys
        self._context = context
        self._current = current
        self._compression = compression
        self._stored_from = stored_from
        self._sizes = sizes
        self._ciphers: dict[str, tuple[Xaes, bytes]] = {}

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Return *payloads* encrypted. Raises PayloadUnavailable without the key."""
        if self._current is None:
            return list(payloads)
        key_id = self._current
        cipher, subkey = await self._cipher(key_id)
        return [await _off_loop(len(one.data), self._encrypted, one, key_id, cipher, subkey) for one in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Return *payloads* as they were; those that were never encrypted as they are. Raises PayloadUnavailable."""
        found: dict[int, Payload] = {}
        for index, one in enumerate(payloads):
            if one.metadata.get("encoding") == ENCRYPTED:
                key_id = key_id_of(one)
                cipher, _ = await self._cipher(key_id)
                found[index] = await _off_loop(len(one.data), self._decrypted, one, key_id, cipher)
        others = iter(await _all_inflated([one for n, one in enumerate(payloads) if n not in found], self._sizes))
        return [found[index] if index in found else next(others) for index in range(len(payloads))]

    async def _cipher(self, key_id: str) -> tuple[Xaes, bytes]:
        """Return the cipher of a key, and the key that derives nonces."""
        if key_id not in self._ciphers:
            key = await self._keys.get(key_id)
            self._ciphers[key_id] = Xaes(key), hmac.digest(key, b"swf-temporal: nonces of stored payloads", sha256)
        return self._ciphers[key_id]

    def _encrypted(self, payload: Payload, key_id: str, cipher: Xaes, subkey: bytes) -> Payload:
        data = self._packed(payload)
        associated = self._associated(key_id)
        is_stored = self._stored_from is not None and len(data) + _ENVELOPE >= self._stored_from
        nonce = hmac.digest(subkey, associated + data, sha256)[:NONCE_BYTES] if is_stored else os.urandom(NONCE_BYTES)
        metadata = {"encoding": ENCRYPTED, KEY_ID: key_id.encode()}
        return Payload(metadata=metadata, data=nonce + cipher.encrypt(nonce, data, associated))

    def _packed(self, payload: Payload) -> bytes:
        whole = payload.SerializeToString(deterministic=True)
        if self._compression and len(whole) > _SMALL and len(smaller := zlib.compress(whole, _LEVEL)) < len(whole):
            return _ZLIB + smaller
        return _PLAIN + whole

    def _decrypted(self, payload: Payload, key_id: str, cipher: Xaes) -> Payload:
        nonce, data = payload.data[:NONCE_BYTES], payload.data[NONCE_BYTES:]
        try:
            packed = cipher.decrypt(nonce, data, self._associated(key_id))
        except (InvalidTag, ValueError):
            what = f"a payload that names the key {key_id!r} cannot be decrypted in {self._context!r}"
            why = "here another key has that name, the payload was changed, or it is from another namespace"
            raise PayloadUnavailable(what, f"{why}; runs that need the payload wait") from None
        if packed[:1] != _ZLIB:
            return Payload.FromString(packed[1:])
        whole = _inflated(packed[1:], self._sizes.each)
        if whole is None:  # its writer has the key: the operator may want to read it
            hint = "raise storage › maxBytes here; runs that need the payload wait"
            raise PayloadUnavailable(f"an encrypted payload inflates to more than {self._sizes.each:,} bytes", hint)
        return Payload.FromString(whole)

    def _associated(self, key_id: str) -> bytes:
        """Return the associated data of a payload, whose parts are length-prefixed."""
        parts = (ENCRYPTED, key_id.encode(), self._context.encode())
        return b"".join(len(part).to_bytes(4) + part for part in parts)


def _compressed(payload: Payload) -> Payload:
    whole = payload.SerializeToString(deterministic=True)
    if len(whole) > _SMALL and len(smaller := zlib.compress(whole, _LEVEL)) + len(COMPRESSED) < len(whole):
        return Payload(metadata={"encoding": COMPRESSED}, data=smaller)
    return payload


async def _all_inflated(payloads: Sequence[Payload], sizes: InflatedSizes) -> list[Payload]:
    """Return *payloads* inflated, with a refusal in place of each that would exceed *sizes*."""
    found, left = list[Payload](), sizes.together
    for one in payloads:
        if one.metadata.get("encoding") == ENCRYPTED:
            raise unreadable(one)
        if one.metadata.get("encoding") != COMPRESSED:
            found.append(one)
            continue
        most = min(left, sizes.each)
        payload = await _off_loop(len(one.data) * _INFLATED, _decompressed, one, most)
        left -= len(payload.data)
        found.append(payload)
    return found


def _decompressed(payload: Payload, most: int) -> Payload:
    try:
        whole = _inflated(payload.data, most)
        return (
            refusal(f"a payload inflates to more than {most:,} bytes") if whole is None else Payload.FromString(whole)
        )
    except (zlib.error, DecodeError) as error:
        return refusal(f"a compressed payload cannot be read: {error}")


def _inflated(data: bytes, most: int) -> bytes | None:
    """Return *data* inflated, or None if that has more than *most* bytes. Raises zlib.error."""
    reader = zlib.decompressobj()
    whole = reader.decompress(data, most + 1)
    if len(whole) > most:
        return None
    if not reader.eof:
        raise zlib.error("it is cut short")
    return whole


async def _off_loop(size: int, work: Callable[..., Payload], *args: object) -> Payload:
    return work(*args) if size < _LARGE else await asyncio.to_thread(work, *args)
