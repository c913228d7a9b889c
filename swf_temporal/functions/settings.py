"""What can the operator of a worker decide about calls?"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Self

import httpx

from swf_temporal.durations import parse_duration
from swf_temporal.errors import UsageError

_BASE_URL = "SWF_BASE_URL"


@dataclass(frozen=True, slots=True)
class Settings:
    """How functions reach their services. The defaults suit a worker that is given nothing."""

    base_urls: Mapping[str, str] = field(default_factory=dict)
    """Where services are, by the name of a function or of its document; wins over the document's servers."""
    base_url: str | None = None
    """Where services are that `base_urls` does not name; wins over the document's servers too."""
    timeout: timedelta = timedelta(seconds=30)
    """The longest that one attempt may take, from connecting to the last byte of the answer."""
    max_response_bytes: int = 2 * 1024 * 1024
    """The largest answer that is taken; the engine can carry no more than 2 MiB."""
    max_connections: int = 100
    document_lifetime: timedelta = timedelta(minutes=5)
    """For how long a document fetched from a URL is used before it is fetched again."""
    modules: tuple[str, ...] | None = None
    """The Python modules or packages whose functions `module:function` may name; None allows every one."""

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Self:
        """Return the settings that variables named `SWF_…` give, and the defaults for the others.

        `SWF_BASE_URL` and `SWF_BASE_URL_<NAME>` are URLs, `SWF_TIMEOUT` is in seconds or ISO 8601,
        `SWF_MAX_RESPONSE_BYTES` is a number and `SWF_FUNCTION_MODULES` a list with commas.
        Raises UsageError for a value that cannot be read.
        """
        defaults = cls()
        modules = env.get("SWF_FUNCTION_MODULES")
        prefix = f"{_BASE_URL}_"
        return cls(
            base_urls={key.removeprefix(prefix): _url(key, env[key]) for key in sorted(env) if key.startswith(prefix)},
            base_url=_url(_BASE_URL, env[_BASE_URL]) if env.get(_BASE_URL) else None,
            timeout=_timeout(env["SWF_TIMEOUT"]) if "SWF_TIMEOUT" in env else defaults.timeout,
            max_response_bytes=_size(env["SWF_MAX_RESPONSE_BYTES"])
            if "SWF_MAX_RESPONSE_BYTES" in env
            else defaults.max_response_bytes,
            modules=None if modules is None else tuple(name.strip() for name in modules.split(",") if name.strip()),
        )

    def base_url_for(self, names: Iterable[str]) -> str | None:
        """Return the URL configured for the first of *names* that has one, or else the one for all."""
        by_name = {environment_name(name): url for name, url in self.base_urls.items()}
        for name in names:
            if url := by_name.get(environment_name(name)):
                return url
        return self.base_url


def environment_name(name: str) -> str:
    """Return *name* as it appears in a variable's name: `check-stock` becomes `CHECK_STOCK`."""
    return re.sub(r"[^A-Z0-9]", "_", name.upper())


def _url(key: str, text: str) -> str:
    try:
        url = httpx.URL(text.strip())
    except httpx.InvalidURL as error:
        raise UsageError(f"{key} is {text!r}, which is not a URL: {error}") from error
    if url.scheme not in {"http", "https", "grpc", "grpcs"} or not url.host:
        hint = "it must be a URL such as https://orders.example.com/api or grpc://orders:50051"
        raise UsageError(f"{key} is {text!r}", hint)
    return text.strip()


def _timeout(text: str) -> timedelta:
    try:
        length = parse_duration(text) if text.strip().upper().startswith("P") else timedelta(seconds=float(text))
    except (ValueError, OverflowError):
        length = timedelta(0)
    if length <= timedelta(0):
        raise UsageError(f"SWF_TIMEOUT is {text!r}", "it must be a number of seconds, or a duration such as PT30S")
    return length


def _size(text: str) -> int:
    if not text.strip().isdecimal() or int(text) == 0:
        raise UsageError(f"SWF_MAX_RESPONSE_BYTES is {text!r}", "it must be a number of bytes, such as 2097152")
    return int(text)
