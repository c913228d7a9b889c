"""A call of a function, as performers and as Python functions see it: its options, its deadline and its faults."""

import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

from swf_temporal.base.calls import Auth, FillAuth, Function, fill_plain_auth
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, UsageError, causes, permanent_failure
from swf_temporal.base.files import NO_MORE_FILES, can_open_more
from swf_temporal.base.function_types import Callee, callee_of

if TYPE_CHECKING:
    from swf_temporal.runtime.host import CallFolder

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


CHECK_RESPONSE = "checkResponse"
HIDE_SECRETS = "hideSecrets"
FAIL_ON_STATUS_CODE = "failOnStatusCode"
RETURNS_VARIABLES = "returnsVariables"
SERVER_VARIABLES = "serverVariables"
IDEMPOTENCY_KEY: Final = "Idempotency-Key"
"""The header, or metadata, in which services get the idempotency key of a call."""
_PRINTABLE: Final = "".join(map(chr, range(ord(" "), ord("~") + 1)))


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt to call a function."""

    function: Function
    arguments: JSON = None
    selection_set: JSON = None
    """The selection set of a GraphQL function: the fields to return."""
    base: str | None = None
    """The folder or URL of the definition; documents are found relative to it."""
    idempotency_key: str | None = None
    """The same for every attempt, so that a service can recognise a repetition."""
    attempt: int = 1
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers of the request that began the instance: OpenAPI operations send those that they do not set."""
    auth: tuple[Auth, ...] = ()
    """The definition's `auth`, some of which the function may use."""
    secrets: Mapping[str, JSON] = field(default_factory=dict, repr=False)
    """The secrets that the definition's `auth` may refer to. Kept out of results and of error texts."""
    fill_auth: FillAuth = fill_plain_auth
    """Replaces secrets in `auth`, by the rules of the definition's language."""
    made_of_secrets: tuple[str, ...] = ()
    """Texts in the arguments derived from secrets. Kept out of results and of error texts, too."""
    folder: "CallFolder | None" = None
    """The directory of a function in a container, and its files."""

    @property
    def callee(self) -> Callee:
        """The target of the call, by the names that settings and secrets use for it."""
        return callee_of(self.function)

    @property
    def key_in_headers(self) -> str | None:
        """The idempotency key in a form for headers and metadata of any protocol; None if the call has none.

        The original consists of state names and the instance's id, with any characters and line breaks.
        """
        return quote(self.idempotency_key, safe=_PRINTABLE) if self.idempotency_key else None


def cause_here(fault: CallFailed) -> CallFailed:
    """Return *fault*, or TooManyOpenFiles if it was caused by the limit of open files of this process.

    That also makes look-ups of hosts and imports of modules fail, for which libraries report other reasons: a failed
    look-up has the number of an unrelated earlier error.
    """
    chain = [fault, *causes(fault)]
    is_for_files = any(isinstance(each, OSError) and each.errno in NO_MORE_FILES for each in chain)
    may_be = fault.code == "UNAVAILABLE" or any(isinstance(each, OSError | ImportError) for each in chain)
    if not is_for_files and (not may_be or can_open_more()):
        return fault
    what = "too many open files: raise the limit of this process (ulimit -n; LimitNOFILE of systemd)"
    return CallFailed(f"{what}: {fault.message}", code="TooManyOpenFiles", cause=fault.cause)


def switch(call: Call, name: str) -> bool | None:
    """Return whether the function enables the option *name*, or None if it does not set it.

    If the operation is an object, that may set it as well. Raises CallFailed if it is not a boolean.
    """
    operation = call.function.operation
    holders = (operation if isinstance(operation, dict) else {}, call.function.metadata)
    value: JSON = next((holder[name] for holder in holders if holder.get(name) is not None), None)
    if value is None or isinstance(value, bool):
        return value
    raise permanent_failure(
        "BadOperation", f"'{name}' of function '{call.function.name}' is {value!r}; it must be true or false"
    )


def variables(call: Call) -> Mapping[str, JSON]:
    """Return the values that the function gives to variables of its server.

    Raises CallFailed if they are not an object.
    """
    value: JSON = call.function.metadata.get(SERVER_VARIABLES)
    if value is None or isinstance(value, dict):
        return value or {}
    message = f"'{SERVER_VARIABLES}' of function '{call.function.name}' is {value!r}; it must be an object"
    raise permanent_failure("BadOperation", message)
