"""The options of calls to one function or host."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from functools import lru_cache
from typing import Self

from swf_temporal.functions.operator.tls import Tls


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate: how many calls are made in how many seconds."""

    calls: float
    seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class SharedFolder:
    """A folder that a worker and functions in containers both see, each at a path of its own."""

    worker: str
    container: str


@dataclass(frozen=True, slots=True)
class Options:
    """The settings for calls of one function, or to one host. None means the setting for all calls."""

    timeout: timedelta | None = None
    """The longest that one attempt may take, from connecting to the last byte of the answer."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent along, unless the definition says another value."""
    tls: Tls | None = None
    proxy: str | None = field(default=None, repr=False)
    """The URL of a proxy; an empty one is for none, whatever the environment says."""
    concurrency: int | None = None
    """How many calls one worker makes at once; others wait."""
    rate: Rate | None = None
    """How often one worker calls; others wait."""
    max_response_bytes: int | None = None
    """The largest answer that is taken."""
    check_responses: bool | None = None
    """Whether answers must fit the schema that an OpenAPI document has for them."""
    retry_on_closed_connection: bool | None = None
    """Whether a request that may be repeated is sent again if a kept connection is closed before it is answered."""
    shared_folder: SharedFolder | None = None
    """Where the directories of calls stand that are given one: functions in containers."""

    def merged_over(self, other: Self) -> Self:
        """Return these options, and those of *other* where these have none; headers of both."""
        own = {name: value for name in _NAMES if (value := getattr(self, name)) is not None}
        return type(self)(**{**{name: getattr(other, name) for name in _NAMES}, **own, "headers": self._with(other)})

    def _with(self, other: Self) -> Mapping[str, str]:
        given = {name.lower() for name in self.headers}
        return {**{name: value for name, value in other.headers.items() if name.lower() not in given}, **self.headers}


_NAMES = tuple(each.name for each in fields(Options))


@dataclass(frozen=True, slots=True)
class Effective:
    """The resolved settings of one call."""

    timeout: timedelta
    max_response_bytes: int
    tls: Tls
    headers: Mapping[str, str]
    proxy: str | None
    check_responses: bool
    retry_on_closed_connection: bool


@lru_cache(maxsize=4096)
def environment_name(name: str) -> str:
    """Return *name* as it appears in a variable's name: `check-stock` becomes `CHECK_STOCK`."""
    return re.sub(r"[^A-Z0-9]", "_", name.upper())
