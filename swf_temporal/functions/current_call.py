"""What a Python function may know of the call that it answers, and say meanwhile."""

import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from swf_temporal.base.errors import UsageError

T = TypeVar("T")


@dataclass(frozen=True)
class CurrentCall:
    """The attempt at a call that a Python function answers: of which instance, the how manieth, and for how long."""

    function: str
    """The function's name in the definition."""
    instance: str
    """The id of the instance that calls."""
    run_id: str
    definition: str | None
    """The id of its definition; None in a call that was invoked `async`, or that outlasts executions."""
    state: str
    action: str
    attempt: int
    """The number of the attempt, from 1."""
    idempotency_key: str
    """The same for every attempt at the call, and for no other call."""
    deadline: datetime | None
    """When the attempt is given up; None if it is not."""
    _beat: Callable[[], None] = field(repr=False)
    _is_made_again: Callable[[], Awaitable[bool]] | None = field(default=None, repr=False)
    _cancelled: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def remaining(self) -> timedelta | None:
        """How long the attempt may still take; None if there is no limit."""
        return None if self.deadline is None else max(self.deadline - datetime.now(UTC), timedelta())

    @property
    def is_cancelled(self) -> bool:
        """Whether the result is not waited for any more. An async function is cancelled where it awaits, too."""
        return self._cancelled.is_set()

    def wait_for_cancellation(self, timeout: timedelta) -> bool:
        """Wait, in a function that is not async, until its result is not waited for; tell whether that was in time."""
        return self._cancelled.wait(timeout.total_seconds())

    def heartbeat(self) -> None:
        """Tell the server that the function works; from any thread. It is told every ten seconds without."""
        self._beat()


_CURRENT: ContextVar[CurrentCall] = ContextVar("swf_current_call")


def current_call() -> CurrentCall:
    """Return the call that is being answered, in a Python function that a worker runs. Raises UsageError elsewhere."""
    try:
        return _CURRENT.get()
    except LookupError:
        raise UsageError("no call is being answered here", "ask in a function that a worker runs") from None


async def is_made_again() -> bool:
    """Tell whether there is another attempt at the call already, since this one was taken for lost."""
    current = _CURRENT.get(None)
    return current is not None and current._is_made_again is not None and await current._is_made_again()  # noqa: SLF001 - of the same module


_RESOURCES: ContextVar[Mapping[Any, Any]] = ContextVar("swf_resources", default={})  # noqa: B039 - never changed


def current_resource(opening: Callable[[], AbstractAsyncContextManager[T] | AbstractContextManager[T]]) -> T:
    """Return what the registry's resource *opening* yielded for this worker. Raises UsageError if it is not open."""
    opened = _RESOURCES.get()
    if opening not in opened:
        name = getattr(opening, "__name__", repr(opening))
        hint = "decorate it with @registry.resource, give the worker that registry, and ask in one of its functions"
        raise UsageError(f"the resource {name!r} is not open here", hint)
    resource: T = opened[opening]
    return resource


@contextmanager
def with_resources(opened: Mapping[Any, Any]) -> Iterator[None]:
    """Have the resources that are *opened* within the context."""
    token = _RESOURCES.set(opened)
    try:
        yield
    finally:
        _RESOURCES.reset(token)


@contextmanager
def answering(call: CurrentCall) -> Iterator[None]:
    """Have *call* be the current one within the context; if that is broken off, the call is cancelled."""
    token = _CURRENT.set(call)
    is_done = False
    try:
        yield
        is_done = True
    except Exception:
        is_done = True
        raise
    finally:
        if not is_done:
            call._cancelled.set()  # noqa: SLF001 - of the same module
        _CURRENT.reset(token)
