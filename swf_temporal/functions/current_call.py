"""The current call of a Python function: its facts, its deadline and cancellation, and the worker's resources."""

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
    """The attempt at a call that a Python function answers: its instance, its number and its deadline."""

    function: str
    """The function's name in the definition."""
    instance: str
    """The id of the calling instance."""
    run_id: str
    definition: str | None
    """The id of its definition; None in a call that was invoked `async`, or that survives continue-as-new."""
    state: str
    action: str
    attempt: int
    """The number of the attempt, from 1."""
    idempotency_key: str
    """The same for every attempt at the call, and for no other call."""
    deadline: datetime | None
    """When the attempt times out; None if it does not."""
    _beat: Callable[[], None] = field(repr=False)
    _is_made_again: Callable[[], Awaitable[bool]] | None = field(default=None, repr=False)
    _cancelled: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def remaining(self) -> timedelta | None:
        """The time until the deadline; None if there is none."""
        return None if self.deadline is None else max(self.deadline - datetime.now(UTC), timedelta())

    @property
    def is_cancelled(self) -> bool:
        """Whether the result is no longer awaited. An async function is also cancelled where it awaits."""
        return self._cancelled.is_set()

    def wait_for_cancellation(self, timeout: timedelta) -> bool:
        """Wait, in a function that is not async, until the call is cancelled; return False if *timeout* comes first."""
        return self._cancelled.wait(timeout.total_seconds())

    def heartbeat(self) -> None:
        """Report to the server that the function is alive; from any thread. A worker also does so every ten seconds."""
        self._beat()


_CURRENT: ContextVar[CurrentCall] = ContextVar("swf_current_call")


def current_call() -> CurrentCall:
    """Return the call in progress, in a Python function that a worker runs. Raises UsageError elsewhere."""
    try:
        return _CURRENT.get()
    except LookupError:
        raise UsageError("no call is in progress here", "use it in a function that a worker runs") from None


def attempts_before() -> int:
    """Return the number of attempts at the call in progress that were made before this one."""
    current = _CURRENT.get(None)
    return 0 if current is None else current.attempt - 1


async def is_made_again() -> bool:
    """Return whether there is already another attempt at the call, since this one was considered lost."""
    current = _CURRENT.get(None)
    return current is not None and current._is_made_again is not None and await current._is_made_again()  # noqa: SLF001 - of the same module


_RESOURCES: ContextVar[Mapping[Any, Any]] = ContextVar("swf_resources", default={})  # noqa: B039 - never changed


def current_resource(opening: Callable[[], AbstractAsyncContextManager[T] | AbstractContextManager[T]]) -> T:
    """Return what the registry's resource *opening* yielded for this worker. Raises UsageError if it is not open."""
    opened = _RESOURCES.get()
    if opening not in opened:
        name = getattr(opening, "__name__", repr(opening))
        hint = "decorate it with @registry.resource, give the worker that registry, and use it in one of its functions"
        raise UsageError(f"the resource {name!r} is not open here", hint)
    resource: T = opened[opening]
    return resource


@contextmanager
def with_resources(opened: Mapping[Any, Any]) -> Iterator[None]:
    """Make the *opened* resources available within the context."""
    token = _RESOURCES.set(opened)
    try:
        yield
    finally:
        _RESOURCES.reset(token)


@contextmanager
def answering(call: CurrentCall) -> Iterator[None]:
    """Make *call* the current one within the context; if that is interrupted, the call is cancelled."""
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
