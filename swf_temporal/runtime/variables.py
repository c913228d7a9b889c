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

`thread`: an instance, and the sub-workflows that it calls once it has the variable. `file`: no variable, but a file of
the namespace, which can only be read.
"""
SCOPES: Final[tuple[VariableScope, ...]] = ("namespace", "workflow", "instance")
"""Those of the variables that callers give, and that functions leave behind."""


@dataclass(frozen=True, slots=True)
class VariableRef(Record):
    scope: VariableScope
    owner: str
    """The instance, the workflow or the namespace that it belongs to; of a file the workflow that asks for it."""
    key: str
    """Its name, or the path of a file in its namespace, which begins with a slash."""


@dataclass(frozen=True, slots=True)
class Variable(Record):
    WHAT: ClassVar[str] = "a variable"
    CAMEL_CASE: ClassVar[bool] = True

    content: bytes
    mime_type: str = JSON_TYPE


class VariableStore(Protocol):
    """A store of variables, where workflows run for real. Both methods raise StoreUnavailable."""

    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Return what the variable holds, or None if there is none."""

    async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        """Let each variable hold its value; None takes it away. Those of one scope change together.

        A write whose *write_id* was seen before changes nothing in the scopes that it changed then: it was repeated,
        since its maker was lost before it could tell. Raises PayloadTooLarge if a scope cannot hold so much.
        """


MAX_ATTEMPT: Final = timedelta(seconds=30)
"""How long one attempt may take that is made locally."""

MAX_RETRYING: Final = timedelta(seconds=5)
"""How long after its begin a local call begins another attempt."""


class NotLocal(FatalFault):
    """The call may not be made locally: it is to be made again as an ordinary one. Nothing was sent yet."""


LocalCalls: TypeAlias = Literal["safe"] | bool
"""Which calls are local: all, none, or those whose requests change nothing."""

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods of HTTP whose requests change nothing (RFC 9110)."""

_WANTED: ContextVar[LocalCalls | None] = ContextVar("local call", default=None)


@contextmanager
def locally(*, asked: bool) -> Iterator[None]:
    """Make calls locally as long as the context lasts. *asked* says whether the definition asks for it."""
    token = _WANTED.set(asked)
    try:
        yield
    finally:
        _WANTED.reset(token)


def is_local() -> bool:
    """Tell whether the call that is being made is a local one."""
    return _WANTED.get() is not None


def want_local(*, wanted: LocalCalls) -> None:
    """Let *wanted* win over what was said before of the local call that is being made."""
    _WANTED.set(wanted)


def is_wanted_local(method: str | None = None) -> bool:
    """Return whether the call being made is to be local, by all that was said; *method* is that of its request."""
    wanted = _WANTED.get()
    return method in SAFE_METHODS if wanted == "safe" else bool(wanted)


def may_be_safe() -> bool:
    """Return whether the call being made is to be local if its request changes nothing."""
    return _WANTED.get() == "safe"
