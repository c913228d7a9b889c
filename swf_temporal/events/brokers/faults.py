"""The faults that a workflow sees when a broker cannot be reached, or refuses."""

import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from typing import TypeAlias, TypeVar

from swf_temporal.base.errors import CallFailed, causes
from swf_temporal.events.brokers.port import Channel

Fault: TypeAlias = tuple[str, str]
"""A code, and what it means."""
Faults: TypeAlias = Mapping[type[BaseException], Fault]
_T = TypeVar("_T")

DENIED: Fault = ("AuthFailed", "the broker does not permit this")
UNKNOWN: Fault = ("UnknownChannel", "the broker has no such channel")
TOO_LARGE: Fault = ("MessageTooLarge", "the message is larger than the broker takes")
LOST: Fault = ("ConnectionLost", "the connection broke")
REFUSED: Fault = ("BrokerError", "the broker refused")

_CONNECTING: Faults = {
    ConnectionRefusedError: ("ConnectionRefused", "the connection was refused"),
    socket.gaierror: ("UnknownHost", "the host name is unknown"),
    ssl.SSLError: ("TlsFailed", "no secure connection could be made"),
}
"""Causes that say more than the library's own exceptions do."""
_OF_ALL: Faults = {
    TimeoutError: ("Timeout", "the broker did not answer in time"),
    ConnectionError: LOST,
    OSError: ("Unreachable", "no connection could be made"),
}
_FOR_GOOD = frozenset({"AuthFailed", "MessageTooLarge", "BadArguments"})


class Refused(Exception):  # noqa: N818 - it carries a fault, and is none itself
    """The broker refused, in a way that its library does not raise."""

    def __init__(self, fault: Fault, detail: str = "") -> None:
        self.fault = fault
        super().__init__(detail)


@contextmanager
def translating(channel: Channel, known: Faults, root: type[Exception], general: Fault = REFUSED) -> Iterator[None]:
    """Turn what goes wrong within into a CallFailed that names *channel*.

    *known* has the faults of a library's exceptions, special ones first. The library's *root* may mean anything: it
    is the *general* fault where neither the error nor what lies beneath it says more.
    """
    try:
        yield
    except CallFailed:
        raise
    except Exception as error:
        raise _failure(error, channel, {**_CONNECTING, **known, **_OF_ALL, root: general}) from error


@asynccontextmanager
async def mapped(
    connecting: AbstractAsyncContextManager[_T], mapping: Callable[[], AbstractContextManager[None]]
) -> AsyncIterator[_T]:
    """Connect and disconnect with faults that *mapping* turns into CallFailed; what is raised between stays itself."""
    with mapping():
        connection = await connecting.__aenter__()
    try:
        yield connection
    finally:
        with mapping():
            await connecting.__aexit__(None, None, None)


def _failure(error: Exception, channel: Channel, known: Faults) -> CallFailed:
    code, meaning = _fault(error, known)
    detail = str(error).strip()
    text = f"{channel}: {meaning}" + (f" ({detail})" if detail and detail not in meaning else "")
    return CallFailed(text, code=code, retryable=code not in _FOR_GOOD, cause=type(error).__name__)


def _fault(error: Exception, known: Faults) -> Fault:
    chain = [error, *causes(error)]
    for each in chain:
        if isinstance(each, Refused):
            return each.fault
    for kind, fault in known.items():
        if any(isinstance(each, kind) for each in chain):
            return fault
    raise error
