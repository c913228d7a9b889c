"""The settings of payloads, from variables and the configuration file; a variable wins over the file."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field

from swf_temporal.errors import UsageError
from swf_temporal.functions.operator.configuration import Section, configuration_file, content_of, validated
from swf_temporal.functions.operator.parsers import as_size
from swf_temporal.payloads.settings import KIB, MIB, PayloadSettings, StorageSettings

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
    return PayloadSettings(storage=_storage(env, path, sections.get("storage")))


def _storage(env: Mapping[str, str], path: Path | None, section: Any) -> StorageSettings | None:
    found: dict[str, Any] = {}
    if path is not None and section is not None:
        said = validated(_Storage, section, path, ("storage",))
        found = {name: value for name, value in said if value is not None}
    for name, reader in _STORAGE.items():
        variable = "SWF_STORAGE" if name == "url" else f"SWF_STORAGE_{name.upper()}"
        if env.get(variable, "").strip():
            found[name] = _value(variable, env[variable], reader)
    if not found:
        return None
    if "url" not in found:
        raise UsageError("large payloads have settings, but no place", "give storage › url, or SWF_STORAGE")
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
