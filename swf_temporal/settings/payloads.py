"""The settings by which payloads are encoded before they are sent to a server."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from swf_temporal.settings.configuration import NO_VARIABLE, FromVariable, Section, Variable, reading
from swf_temporal.settings.forms import PAIRS, Name, Size
from swf_temporal.text.model_errors import validation_error

KIB: Final = 1024
MIB: Final = 1024 * KIB


def _folder(value: object) -> str:
    text = str(value).strip()
    parts = urlsplit(text)
    if not parts.scheme or "://" not in text or (parts.scheme == "file" and (parts.netloc or len(parts.path) <= 1)):
        raise ValueError("it must be the URL of a folder, such as file:///srv/payloads or s3://bucket/prefix")
    return text.rstrip("/") if parts.path.strip("/") else text


def _source(value: object, info: ValidationInfo) -> str:
    text = str(value).strip()
    kind, _, name = text.partition(":")
    if not name or kind not in {"env", "file", "function"} or (kind == "function" and ":" not in name):
        raise ValueError("it must be env:VARIABLE, file:PATH or function:MODULE:FUNCTION")
    read_with = reading(info)
    if kind == "file" and read_with is not None and not isinstance(value, FromVariable):
        return f"file:{read_with.folder / name}"
    return text


class StorageSettings(Section):
    """The storage for large payloads, and the size from which they are stored. Sizes are in bytes."""

    prefix: ClassVar[str] = "SWF_STORAGE_"

    url: Annotated[str, BeforeValidator(_folder), Variable("SWF_STORAGE")]
    """`file:///FOLDER`, or the URL of a folder that fsspec can open, such as `s3://BUCKET/PREFIX`."""
    threshold: Size = Field(128 * KIB, le=MIB)
    """The size from which a payload is stored there, after compression and encryption. Smaller ones are sent inline:
    several of them have to fit into one request."""
    max_bytes: Size = 256 * MIB
    """The maximum size of one payload, as JSON."""
    cache_bytes: Size = 64 * MIB
    """The maximum size of the payloads that a process caches in memory after reading or writing them."""
    options: Annotated[Mapping[str, Any], NO_VARIABLE] = Field(default_factory=dict, repr=False)  # may have passwords
    """Options for the file system's library, besides the URL."""

    @model_validator(mode="after")
    def _can_store(self) -> Self:
        if self.threshold >= self.max_bytes:
            hint = "the defaults are 128KiB and 256MiB"
            raise validation_error("it is not less than maxBytes", "threshold", hint=hint)
        return self


class EncryptionSettings(Section):
    """The keys by which payloads are encrypted, and where they are."""

    prefix: ClassVar[str] = "SWF_ENCRYPTION_"

    keys: Annotated[Mapping[str, Annotated[str, BeforeValidator(_source)]], PAIRS]
    """The source of each key, by its id: `env:VARIABLE`, `file:PATH` or `function:MODULE:FUNCTION`."""
    key: Name | None = None
    """The id of the key that encrypts; the others only decrypt."""
    encrypt: bool = True
    """Whether payloads are encrypted. If not, encrypted ones can still be read."""
    context: Name | None = None
    """The context that payloads are bound to; None means the namespace."""

    @model_validator(mode="after")
    def _can_encrypt(self) -> Self:
        if self.encrypt and self.key not in self.keys:
            what = "it is missing" if self.key is None else f"{self.key!r} is not among the keys"
            hint = f"the keys are {', '.join(self.keys)}; or set encrypt: false"
            raise validation_error(f"{what}: it names the key that encrypts", "key", hint=hint)
        return self


class PayloadSettings(Section):
    """The encoding of payloads. By default they are plain JSON."""

    prefix: ClassVar[str] = "SWF_"

    storage: StorageSettings | None = None
    encryption: EncryptionSettings | None = None
    compression: bool | None = None
    """Whether payloads are compressed; with None, only if they are encrypted."""


PLAIN: Final = PayloadSettings()
