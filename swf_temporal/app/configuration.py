"""The settings of a worker, from options, variables and the configuration file.

An option wins over a variable, and a variable over the section `worker` of the file. The rest of the file is about
calls: `functions/operator/configuration.py` reads it.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator

from swf_temporal.app.settings import Address, LogFormat, LogLevel, WorkerSettings
from swf_temporal.errors import UsageError
from swf_temporal.functions.operator.configuration import Section, configuration_file, content_of, validated
from swf_temporal.functions.operator.parsers import as_count, as_size, as_switch, as_timeout
from swf_temporal.runtime.budgets import MIN_DEPTH, MIN_EXECUTIONS, MIN_HELD_BYTES, MIN_STATES
from swf_temporal.stores.addresses import as_store, without_password
from swf_temporal.temporal.constants import MIN_CACHED_BYTES
from swf_temporal.temporal.deployment import Versioning

_MAX_PORT = 65535

_Word = TypeVar("_Word", bound=StrEnum)


def _as_name(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("it must be a text")
    return value.strip()


def _as_port(value: object) -> int:
    text = str(value).strip()
    if not text.isdecimal() or not 0 < int(text) <= _MAX_PORT:
        raise ValueError(f"it must be a port, from 1 to {_MAX_PORT}")
    return int(text)


def _as_address(value: object) -> Address:
    host, colon, port = str(value).strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host:
        raise ValueError("it must be an address and a port, such as 127.0.0.1:8889")
    return Address(host, _as_port(port))


def _as_one_of(words: type[_Word]) -> Callable[[object], _Word]:
    def read(value: object) -> _Word:
        try:
            return words(str(value).strip().lower())
        except ValueError:
            raise ValueError(f"it must be one of {', '.join(words)}") from None

    return read


_as_versioning = _as_one_of(Versioning)


def _as_versioning_of(value: object) -> dict[str, Versioning]:
    if isinstance(value, dict):
        pairs = [(str(key), text) for key, text in value.items()]
    else:
        pairs = [(key.strip(), text) for key, _, text in (one.partition("=") for one in str(value).split(","))]
    if not all(key for key, _ in pairs):
        raise ValueError("it must name definitions, such as orders=pinned,reports=auto-upgrade")
    found = {}
    for key, text in pairs:
        try:
            found[key] = _as_versioning(text)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from None
    return found


def _at_least(least: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        number = as_count(value)
        if number < least:
            raise ValueError(f"it must be at least {least:,}")
        return number

    return read


def _size_of(least: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        size = as_size(value)
        if size < least:
            raise ValueError(f"it must be at least {least // 2**20}MiB")
        return size

    return read


_READERS: dict[str, Callable[[object], Any]] = {
    "task_queue": _as_name,
    "known_definitions_only": as_switch,
    "max_activities": as_count,
    "max_cached_workflows": as_count,
    "max_cached_bytes": _size_of(MIN_CACHED_BYTES),
    "max_states_without_waiting": _at_least(MIN_STATES),
    "max_executions_without_waiting": _at_least(MIN_EXECUTIONS),
    "max_subflow_depth": _at_least(MIN_DEPTH),
    "max_held_bytes": _size_of(MIN_HELD_BYTES),
    "grace_period": as_timeout,
    "health_port": _as_port,
    "container_endpoint": _as_address,
    "log_format": _as_one_of(LogFormat),
    "log_level": _as_one_of(LogLevel),
    "variables": as_store,
    "deployment": _as_name,
    "build_id": _as_name,
    "versioning": _as_versioning,
    "versioning_of": _as_versioning_of,
}
"""For each setting, what reads it in the file and in its variable."""


class _Worker(Section):
    task_queue: Annotated[str | None, BeforeValidator(_READERS["task_queue"])] = None
    known_definitions_only: Annotated[bool | None, BeforeValidator(_READERS["known_definitions_only"])] = None
    max_activities: Annotated[int | None, BeforeValidator(_READERS["max_activities"])] = None
    max_cached_workflows: Annotated[int | None, BeforeValidator(_READERS["max_cached_workflows"])] = None
    max_cached_bytes: Annotated[int | None, BeforeValidator(_READERS["max_cached_bytes"])] = None
    max_states_without_waiting: Annotated[int | None, BeforeValidator(_READERS["max_states_without_waiting"])] = None
    max_executions_without_waiting: Annotated[
        int | None, BeforeValidator(_READERS["max_executions_without_waiting"])
    ] = None
    max_subflow_depth: Annotated[int | None, BeforeValidator(_READERS["max_subflow_depth"])] = None
    max_held_bytes: Annotated[int | None, BeforeValidator(_READERS["max_held_bytes"])] = None
    grace_period: Annotated[timedelta | None, BeforeValidator(_READERS["grace_period"])] = None
    health_port: Annotated[int | None, BeforeValidator(_READERS["health_port"])] = None
    container_endpoint: Annotated[Address | None, BeforeValidator(_READERS["container_endpoint"])] = None
    log_format: Annotated[LogFormat | None, BeforeValidator(_READERS["log_format"])] = None
    log_level: Annotated[LogLevel | None, BeforeValidator(_READERS["log_level"])] = None
    variables: Annotated[str | None, BeforeValidator(_READERS["variables"])] = None
    deployment: Annotated[str | None, BeforeValidator(_READERS["deployment"])] = None
    build_id: Annotated[str | None, BeforeValidator(_READERS["build_id"])] = None
    versioning: Annotated[Versioning | None, BeforeValidator(_READERS["versioning"])] = None
    versioning_of: Annotated[dict[str, Versioning] | None, BeforeValidator(_READERS["versioning_of"])] = None


def read_worker_settings(env: Mapping[str, str], *, file: Path | None = None, **options: object) -> WorkerSettings:
    """Return the settings that *options* give, else *env*, else the configuration *file* (or that in `SWF_CONFIG`).

    An option that is None says nothing. Raises UsageError for what cannot be read, naming the place or the variable.
    """
    path = configuration_file(env, file)
    content: Any = {} if path is None else content_of(path)
    found: dict[str, Any] = {}
    if path is not None and isinstance(content, dict) and isinstance(content.get("worker"), dict):
        section = validated(_Worker, content["worker"], path, ("worker",))
        found = {name: value for name, value in section if value is not None}
    for name, reader in _READERS.items():
        variable = f"SWF_{name.upper()}"
        if env.get(variable, "").strip():
            found[name] = _value(variable, env[variable], reader)
    found |= {name: value for name, value in options.items() if value is not None}
    return WorkerSettings(**found)


def _value(variable: str, text: str, reader: Callable[[object], Any]) -> Any:
    try:
        return reader(text)
    except ValueError as error:
        raise UsageError(f"{variable} is {without_password(text)!r}", str(error)) from None
