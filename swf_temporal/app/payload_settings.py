"""The settings of payloads, from variables and the configuration file; a variable wins over the file."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field

from swf_temporal.errors import UsageError
from swf_temporal.functions.operator.configuration import Section, configuration_file, content_of, validated
from swf_temporal.functions.operator.parsers import as_size, as_switch
from swf_temporal.payloads.settings import KIB, MIB, EncryptionSettings, PayloadSettings, StorageSettings

_MAX_THRESHOLD: Final = MIB
"""Payloads that are smaller than the threshold travel as they are: several of them have to fit into one request."""


def _as_folder(value: object) -> str:
    text = str(value).strip()
    parts = urlsplit(text)
    if not parts.scheme or "://" not in text or (parts.scheme == "file" and (parts.netloc or len(parts.path) <= 1)):
        raise ValueError("it must be the URL of a folder, such as file:///srv/payloads or s3://bucket/prefix")
    return text.rstrip("/") if parts.path.strip("/") else text


def _as_threshold(value: object) -> int:
    size = as_size(value)
    if size > _MAX_THRESHOLD:
        raise ValueError("it must be a size of at most 1MiB, such as 128KiB")
    return size


_STORAGE: dict[str, Callable[[object], Any]] = {
    "url": _as_folder,
    "threshold": _as_threshold,
    "max_bytes": as_size,
    "cache_bytes": as_size,
}
"""For each setting, what reads it in the file and in its variable."""


def _as_source(value: object) -> str:
    text = str(value).strip()
    kind, _, name = text.partition(":")
    if not name or kind not in {"env", "file", "function"} or (kind == "function" and ":" not in name):
        raise ValueError("it must be env:VARIABLE, file:PATH or function:MODULE:FUNCTION")
    return text


def _as_keys(value: object) -> dict[str, str]:
    if isinstance(value, str):
        pairs = [pair.partition("=") for pair in value.split(",") if pair.strip()]
        if not all(equals for _, equals, _ in pairs):
            raise ValueError("it must be ids of keys with their places, such as 2030-05=env:SWF_KEY")
        value = {key_id.strip(): source for key_id, _, source in pairs}
    if not isinstance(value, dict) or not all(str(key_id).strip() for key_id in value):
        raise ValueError("it must have a place for each id of a key, such as 2030-05: env:SWF_KEY")
    return {str(key_id): _as_source(source) for key_id, source in value.items()}


def _as_text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ValueError("it must be a text")
    return str(value).strip()


_ENCRYPTION: dict[str, Callable[[object], Any]] = {
    "keys": _as_keys,
    "key": _as_text,
    "encrypt": as_switch,
    "context": _as_text,
}


class _Encryption(Section):
    keys: Annotated[dict[str, str], BeforeValidator(_as_keys)] = Field(default_factory=dict)
    key: Annotated[str | None, BeforeValidator(_as_text)] = None
    encrypt: bool | None = None
    context: Annotated[str | None, BeforeValidator(_as_text)] = None


class _Compression(Section):
    compression: bool | None = None


class _Storage(Section):
    url: Annotated[str | None, BeforeValidator(_STORAGE["url"])] = None
    threshold: Annotated[int | None, BeforeValidator(_STORAGE["threshold"])] = None
    max_bytes: Annotated[int | None, BeforeValidator(_STORAGE["max_bytes"])] = None
    cache_bytes: Annotated[int | None, BeforeValidator(_STORAGE["cache_bytes"])] = None
    options: dict[str, Any] = Field(default_factory=dict)


def read_payload_settings(env: Mapping[str, str] = os.environ, *, file: Path | None = None) -> PayloadSettings:
    """Return what *env* says of payloads, else the configuration *file* or that in `SWF_CONFIG`. Raises UsageError."""
    path = configuration_file(env, file)
    content: Any = {} if path is None else content_of(path)
    sections = content if isinstance(content, dict) else {}
    compression: bool | None = None
    if path is not None:
        compression = validated(_Compression, {"compression": sections.get("compression")}, path).compression
    if env.get("SWF_COMPRESSION", "").strip():
        compression = _value("SWF_COMPRESSION", env["SWF_COMPRESSION"], as_switch)
    return PayloadSettings(
        _storage(env, path, sections.get("storage")), _encryption(env, path, sections.get("encryption")), compression
    )


def _encryption(env: Mapping[str, str], path: Path | None, section: Any) -> EncryptionSettings | None:
    found: dict[str, Any] = {}
    if path is not None and section is not None:
        configured = validated(_Encryption, section, path, ("encryption",))
        found = {name: value for name, value in configured if value is not None}
        found["keys"] = {key_id: _beside(path, source) for key_id, source in configured.keys.items()}
    for name, reader in _ENCRYPTION.items():
        variable = f"SWF_ENCRYPTION_{name.upper()}"
        if env.get(variable, "").strip():
            found[name] = _value(variable, env[variable], reader)
    if not found:
        return None
    settings = EncryptionSettings(**{"keys": {}, **found})
    if not settings.keys:
        raise UsageError("the encryption has no keys", "give encryption › keys, or SWF_ENCRYPTION_KEYS")
    if settings.encrypt and settings.key not in settings.keys:
        known = ", ".join(settings.keys)
        what = (
            "encryption › key is missing"
            if settings.key is None
            else f"encryption › key {settings.key!r} is not among the keys"
        )
        raise UsageError(f"{what}: it names the key that encrypts", f"there are {known}; or set encrypt: false")
    return settings


def _beside(path: Path, source: str) -> str:
    """Return *source*, a file relative to the configuration at *path*."""
    kind, _, name = source.partition(":")
    return f"file:{path.parent / name}" if kind == "file" else source


def _storage(env: Mapping[str, str], path: Path | None, section: Any) -> StorageSettings | None:
    found: dict[str, Any] = {}
    if path is not None and section is not None:
        configured = validated(_Storage, section, path, ("storage",))
        found = {name: value for name, value in configured if value is not None}
    for name, reader in _STORAGE.items():
        variable = "SWF_STORAGE" if name == "url" else f"SWF_STORAGE_{name.upper()}"
        if env.get(variable, "").strip():
            found[name] = _value(variable, env[variable], reader)
    if not found:
        return None
    if "url" not in found:
        raise UsageError("large payloads have settings, but no storage", "give storage › url, or SWF_STORAGE")
    settings = StorageSettings(**found)
    if settings.threshold >= settings.max_bytes:
        raise UsageError(
            "storage › threshold is not less than storage › maxBytes", f"usual are {128 * KIB} and {256 * MIB}"
        )
    return settings


def _value(variable: str, text: str, reader: Callable[[object], Any]) -> Any:
    try:
        return reader(text)
    except ValueError as error:
        raise UsageError(f"{variable} is {text!r}", str(error)) from None
