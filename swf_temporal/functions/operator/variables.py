"""The settings of calls in variables named `SWF_…`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from swf_temporal.errors import UsageError
from swf_temporal.functions.operator import parsers
from swf_temporal.functions.operator.network import Pattern, read_pattern
from swf_temporal.functions.operator.options import Options
from swf_temporal.functions.operator.tls import Tls

_BASE_URL = "SWF_BASE_URL"
_MODULES = "SWF_FUNCTION_MODULES"
_OPTIONS: Mapping[str, tuple[str, Callable[[object], Any]]] = {
    "SWF_TIMEOUT": ("timeout", parsers.as_timeout),
    "SWF_HEADERS": ("headers", parsers.as_headers),
    "SWF_PROXY": ("proxy", parsers.as_proxy),
    "SWF_CONCURRENCY": ("concurrency", parsers.as_count),
    "SWF_RATE": ("rate", parsers.as_rate),
    "SWF_MAX_RESPONSE_BYTES": ("max_response_bytes", parsers.as_count),
    "SWF_CHECK_RESPONSES": ("check_responses", parsers.as_switch),
    "SWF_RETRY_ON_CLOSED_CONNECTION": ("retry_on_closed_connection", parsers.as_switch),
    "SWF_SHARED_FOLDER": ("shared_folder", parsers.as_shared_folder),
}
"""Each may be followed by `_` and the name of a function or a host."""
_CONFIDENTIAL = ("SWF_HEADERS", "SWF_PROXY")
"""Variables that may hold passwords: mistakes in them are reported without their value."""
_TLS = {"SWF_TLS_CA": "ca", "SWF_TLS_CERT": "cert", "SWF_TLS_KEY": "key"}


class Variables:
    """The environment of a worker. Every method raises UsageError for a value that cannot be read."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    def options(self, name: str = "") -> Options:
        """Return what is said of all calls, or of the function or host that variables call *name*."""
        ending = f"_{name}" if name else ""
        options = {
            option: read
            for stem, (option, reader) in _OPTIONS.items()
            if (read := self._value(stem + ending, reader)) is not None
        }
        files = {option: self._env[stem + ending] for stem, option in _TLS.items() if self._env.get(stem + ending)}
        if files:
            options["tls"] = Tls(verify=True, **files)
            options["tls"].context()
        return Options(**options)

    def names(self) -> list[str]:
        """Return the functions and hosts of which something is said, as variables call them."""
        stems = tuple(f"{stem}_" for stem in (*_OPTIONS, *_TLS))
        found = {key.removeprefix(stem) for key in self._env for stem in stems if key.startswith(stem)}
        return sorted(name for name in found if name)

    def base_url(self) -> str | None:
        """Return where all services are."""
        url: str | None = self._value(_BASE_URL, parsers.as_url)
        return url

    def base_urls(self) -> dict[str, str]:
        """Return where single services are."""
        prefix = f"{_BASE_URL}_"
        keys = sorted(key for key in self._env if key.startswith(prefix))
        return {key.removeprefix(prefix): str(self._read(key, parsers.as_url)) for key in keys}

    def modules(self, otherwise: Sequence[str] | None) -> tuple[str, ...] | None:
        """Return from where definitions may name Python functions."""
        if _MODULES in self._env:
            return parsers.as_names(self._env[_MODULES])
        return None if otherwise is None else tuple(otherwise)

    def patterns(self, key: str) -> tuple[Pattern, ...]:
        """Return a list of hosts."""
        try:
            return tuple(read_pattern(text) for text in parsers.as_names(self._env.get(key, "")))
        except UsageError as error:
            raise UsageError(f"{key}: {error.message}", error.hint) from None

    def switch(self, key: str, otherwise: bool) -> bool:  # noqa: FBT001 - what it is if nothing is said
        """Return whether something is so."""
        value = self._value(key, parsers.as_switch)
        return otherwise if value is None else bool(value)

    def _value(self, key: str, reader: Callable[[object], Any]) -> Any:
        """Return what the variable says; one that is empty says nothing, except that there is no proxy."""
        text = self._env.get(key)
        return None if text is None or not (text.strip() or reader is parsers.as_proxy) else self._read(key, reader)

    def _read(self, key: str, reader: Callable[[object], Any]) -> Any:
        try:
            return reader(self._env[key])
        except ValueError as error:
            shown = "is not what it should be" if key.startswith(_CONFIDENTIAL) else f"is {self._env[key]!r}"
            raise UsageError(f"{key} {shown}", str(error)) from None
