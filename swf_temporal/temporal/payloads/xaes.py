"""XAES-256-GCM, as C2SP specifies it: AES-256-GCM with a key derived for each message, and nonces of 192 bits.

Random nonces of that length do not repeat, whatever the number of messages: https://c2sp.org/XAES-256-GCM.
"""

from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 24

_HALF: Final = NONCE_BYTES // 2
_REDUCTION: Final = 0x87
_BLOCK_BITS: Final = 128


class Xaes:
    """The cipher with one key. Its `decrypt` raises `cryptography.exceptions.InvalidTag` for what does not belong."""

    def __init__(self, key: bytes) -> None:
        # One block at a time, which is what the CMAC of a message of one block comes to.
        self._cipher = Cipher(AES(key), ECB())  # noqa: S305 - see above
        doubled = int.from_bytes(self._blocks(bytes(16))) << 1
        if doubled >> _BLOCK_BITS:
            doubled ^= (1 << _BLOCK_BITS) | _REDUCTION
        subkey = doubled.to_bytes(16)
        self._prefixes = [
            int.from_bytes(subkey) ^ int.from_bytes(bytes((0, counter, ord("X"), 0)) + bytes(_HALF))
            for counter in (1, 2)
        ]

    def encrypt(self, nonce: bytes, data: bytes, associated: bytes) -> bytes:
        """Return *data* encrypted, with its tag at the end."""
        return self._derived(nonce).encrypt(nonce[_HALF:], data, associated)

    def decrypt(self, nonce: bytes, data: bytes, associated: bytes) -> bytes:
        """Return what was encrypted with the same *nonce* and *associated* data."""
        return self._derived(nonce).decrypt(nonce[_HALF:], data, associated)

    def _derived(self, nonce: bytes) -> AESGCM:
        half = int.from_bytes(nonce[:_HALF])
        return AESGCM(self._blocks(b"".join((prefix ^ half).to_bytes(16) for prefix in self._prefixes)))

    def _blocks(self, data: bytes) -> bytes:
        encryptor = self._cipher.encryptor()
        return encryptor.update(data) + encryptor.finalize()
