"""Local calls: those that a host makes on the spot, and what they are bounded by."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Final

from swf_temporal.base.errors import FatalFault

MAX_ATTEMPT: Final = timedelta(seconds=30)
"""How long one attempt may take that is made locally."""

MAX_RETRYING: Final = timedelta(seconds=5)
"""How long after its begin a local call begins another attempt."""


class NotLocal(FatalFault):
    """The call may not be made locally: it is to be made again as an ordinary one. Nothing was sent yet."""


_WANTED: ContextVar[bool | None] = ContextVar("local call", default=None)


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


def want_local(*, wanted: bool) -> None:
    """Let *wanted* win over what was said before of the local call that is being made."""
    _WANTED.set(wanted)


def is_wanted_local() -> bool:
    """Tell whether the call that is being made is a local one, and is to be, by all that was said so far."""
    return bool(_WANTED.get())
