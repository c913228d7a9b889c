"""Variables that outlive a step: named bytes with a MIME type, in a scope that says who shares them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Final, Literal, Protocol, TypeAlias

from swf_temporal.base.errors import FatalFault
from swf_temporal.base.records import Record

JSON_TYPE: Final = "application/json"

VariableScope = Literal["instance", "workflow", "namespace", "thread", "file"]
"""The scope of a variable: who shares it.

`thread`: an instance, and the sub-workflows that it calls once it has the variable. `file`: not a variable, but a file
of the namespace, which can only be read.
"""
SCOPES: Final[tuple[VariableScope, ...]] = ("namespace", "workflow", "instance")
"""The scopes of variables that callers can set, and that functions can leave behind."""


@dataclass(frozen=True, slots=True)
class VariableRef(Record):
    scope: VariableScope
    owner: str
    """The instance, workflow or namespace that it belongs to; for a file, the workflow that reads it."""
    key: str
    """Its name, or the path of a file in its namespace, which begins with a slash."""


@dataclass(frozen=True, slots=True)
class Variable(Record):
    WHAT: ClassVar[str] = "a variable"
    CAMEL_CASE: ClassVar[bool] = True

    content: bytes
    mime_type: str = JSON_TYPE


class VariableStore(Protocol):
    """A store of variables for workflows on Temporal. Both methods raise StoreUnavailable."""

    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Return the value of the variable, or None if it is not set."""

    async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        """Set each variable to its value; None deletes it. Those of one scope change atomically.

        A write whose *write_id* was seen before changes nothing in the scopes that it changed then: it is a retry, made
        because the first response was lost. Raises PayloadTooLarge if the values exceed the limit of a scope.
        """


MAX_ATTEMPT: Final = timedelta(seconds=30)
"""The time limit of one local attempt."""

MAX_RETRYING: Final = timedelta(seconds=5)
"""The time after the start of a local call in which further attempts begin."""


class NotLocal(FatalFault):
    """The call must not be made locally: it is to be made again as an ordinary one. Nothing was sent yet."""


LocalCalls: TypeAlias = Literal["safe"] | bool
"""The calls that are local: all, none, or those whose requests change nothing."""

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods of HTTP whose requests change nothing (RFC 9110)."""

_WANTED: ContextVar[LocalCalls | None] = ContextVar("local call", default=None)


@contextmanager
def locally(*, asked: bool) -> Iterator[None]:
    """Make calls locally within the context. *asked* says whether the definition asks for it."""
    token = _WANTED.set(asked)
    try:
        yield
    finally:
        _WANTED.reset(token)


def is_local() -> bool:
    """Return whether the call that is being made is a local one."""
    return _WANTED.get() is not None


def want_local(*, wanted: LocalCalls) -> None:
    """Let *wanted* win over what was said before of the local call that is being made."""
    _WANTED.set(wanted)


def is_wanted_local(method: str | None = None) -> bool:
    """Return True if the call being made is to be local, by all settings; *method* is the method of its request."""
    wanted = _WANTED.get()
    return method in SAFE_METHODS if wanted == "safe" else bool(wanted)


def may_be_safe() -> bool:
    """Return whether the call being made is to be local if its request changes nothing."""
    return _WANTED.get() == "safe"
