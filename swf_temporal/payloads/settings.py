"""Settings of payloads; `app/payload_settings.py` reads them. Nothing heavy is imported here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

KIB: Final = 1024
MIB: Final = 1024 * KIB


@dataclass(frozen=True, slots=True)
class StorageSettings:
    """The storage for large payloads, and the size from which they are stored. Sizes are in bytes."""

    url: str
    """`file:///FOLDER`, or the URL of a folder that fsspec can open, such as `s3://BUCKET/PREFIX`."""
    threshold: int = 128 * KIB
    """From which size on a payload is stored there, after compression and encryption."""
    max_bytes: int = 256 * MIB
    """What one payload may hold, as JSON."""
    cache_bytes: int = 64 * MIB
    """How much of what was read or written a process keeps in memory."""
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)  # may have passwords
    """What the library of the file system is given besides the URL."""


@dataclass(frozen=True, slots=True)
class EncryptionSettings:
    """The keys of payloads, and which of them encrypts."""

    keys: Mapping[str, str]
    """Where each key is, by its id: `env:VARIABLE`, `file:PATH` or `function:MODULE:FUNCTION`."""
    key: str | None = None
    """The id of the key that encrypts; the others decrypt what they have encrypted."""
    encrypt: bool = True
    """Whether payloads are encrypted. If not, encrypted ones are read nevertheless."""
    context: str | None = None
    """What payloads are bound to; None is the namespace."""


@dataclass(frozen=True, slots=True)
class PayloadSettings:
    """The settings by which payloads are encoded before they are sent to a server. By default they are plain JSON."""

    storage: StorageSettings | None = None
    encryption: EncryptionSettings | None = None
    compression: bool | None = None
    """Whether payloads are compressed; None says so where they are encrypted."""


PLAIN: Final = PayloadSettings()

_VARIABLES: Final = ("SWF_CONFIG", "SWF_STORAGE", "SWF_ENCRYPTION", "SWF_COMPRESSION")


def are_in(env: Mapping[str, str]) -> bool:
    """Tell whether *env* may say something of payloads; if not, it need not be read."""
    return any(name.startswith(_VARIABLES) for name in env)
