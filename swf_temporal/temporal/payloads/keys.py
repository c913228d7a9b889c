"""Encryption keys, by their ids: from variables, from files, and from functions that ask a service.

Random nonces of that length do not repeat, whatever the number of messages: https://c2sp.org/XAES-256-GCM.
"""

import asyncio
import base64
import binascii
import importlib
import inspect
import os
import stat
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

from swf_temporal.base.errors import PayloadUnavailable, UsageError

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 24

_HALF: Final = NONCE_BYTES // 2
_REDUCTION: Final = 0x87
_BLOCK_BITS: Final = 128


class Xaes:
    """The cipher with one key. Its `decrypt` raises `cryptography.exceptions.InvalidTag` if the data do not match."""

    def __init__(self, key: bytes) -> None:
        # One block at a time, which is what the CMAC of a one-block message amounts to.
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


KeyFunction = Callable[[str], bytes | str | Awaitable[bytes | str]]
"""A function that returns a key by its id: 32 bytes, or their base64. It may be `async`, and may raise anything."""

_FORM: Final = "a key is 32 bytes in base64, as `openssl rand -base64 32` prints them"
_OTHERS: Final = stat.S_IRWXO | stat.S_IWGRP
"""The permissions that a key file must not grant: any to others, and writing to its group."""


class Keys:
    """The keys of one program, each loaded once."""

    def __init__(self, sources: Mapping[str, str], env: Mapping[str, str] = os.environ) -> None:
        """Load the keys from variables and files. Raises UsageError if one is missing, or is not a key."""
        self._functions: dict[str, KeyFunction] = {}
        self._keys: dict[str, bytes] = {}
        self._lock = asyncio.Lock()
        for key_id, source in sources.items():
            kind, _, name = source.partition(":")
            if kind == "function":
                self._functions[key_id] = _function(key_id, name)
            else:
                text = _of_variable(key_id, name, env) if kind == "env" else _of_file(key_id, Path(name))
                self._keys[key_id] = _key(text, f"the key {key_id!r} in {name}")

    async def get(self, key_id: str) -> bytes:
        """Return the key with that id. Raises PayloadUnavailable if it is not available at the moment."""
        found = self._keys.get(key_id)
        if found is not None:
            return found
        function = self._functions.get(key_id)
        if function is None:
            what = f"a payload is encrypted with the key {key_id!r}, which is not configured here"
            known = ", ".join(sorted({*self._keys, *self._functions})) or "none"
            raise PayloadUnavailable(what, f"add it to encryption › keys, which has {known}; runs that need it wait")
        async with self._lock:
            if key_id not in self._keys:
                self._keys[key_id] = await _asked(function, key_id)
        return self._keys[key_id]


async def _asked(function: KeyFunction, key_id: str) -> bytes:
    try:
        answer = function(key_id) if inspect.iscoroutinefunction(function) else asyncio.to_thread(function, key_id)
        found = await answer
        if inspect.isawaitable(found):
            found = await found
    except Exception as error:
        why = f"the key {key_id!r} cannot be obtained: {type(error).__name__}: {error}"
        raise PayloadUnavailable(why, "runs that need it wait until its function returns it") from error
    try:
        return _key(found, f"what the function returns as key {key_id!r}")
    except UsageError as error:
        raise PayloadUnavailable(error.message, error.hint) from None


def _function(key_id: str, name: str) -> KeyFunction:
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")  # as `python -m` does
    try:
        function: KeyFunction = getattr(importlib.import_module(module), attribute)
    except Exception as error:
        raise UsageError(f"the function of the key {key_id!r}, {name}, does not exist: {error}") from error
    return function


def _of_variable(key_id: str, name: str, env: Mapping[str, str]) -> str:
    if not env.get(name):
        raise UsageError(f"the variable {name} with the key {key_id!r} is not set", _FORM)
    return env[name]


def _of_file(key_id: str, path: Path) -> str:
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not text"
        raise UsageError(f"the file {path} with the key {key_id!r} cannot be read: {reason}", _FORM) from None
    if os.name == "posix" and mode & _OTHERS:
        what = f"the file {path} with the key {key_id!r} can be read or changed by others: {stat.filemode(mode)}"
        raise UsageError(what, f"chmod 600 {path}; for a secret of Kubernetes, defaultMode: 0400 or 0440")
    return text


def _key(given: object, what: str) -> bytes:
    if isinstance(given, str):
        try:
            given = base64.b64decode("".join(given.split()), validate=True)
        except binascii.Error:
            raise UsageError(f"{what} is not a key", _FORM) from None
    if not isinstance(given, bytes) or len(given) != KEY_BYTES:
        raise UsageError(f"{what} is not a key of {KEY_BYTES} bytes", _FORM)
    return given
