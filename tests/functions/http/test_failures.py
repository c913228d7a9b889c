"""How exceptions of the library beneath become faults, and when a service wants to be asked again."""

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest

from swf_temporal.functions.http.client import seconds_to_wait
from swf_temporal.functions.http.failures import FAULTS, failure
from swf_temporal.runtime.retrying import MAX_DELAY

# A status is looked at, never raised: only `raise_for_status` makes this one.
_NEVER_RAISED = {httpx.HTTPStatusError}


def _exceptions(kind: type[Exception]) -> Iterator[type[Exception]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _exceptions(child)


def _all_of_httpx() -> list[type[Exception]]:
    public = (getattr(httpx, name) for name in httpx.__all__)
    roots = [kind for kind in public if isinstance(kind, type) and issubclass(kind, Exception)]
    kinds = {child for root in roots for child in _exceptions(root) if child.__module__.startswith("httpx")}
    return sorted(kinds - _NEVER_RAISED, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", _all_of_httpx())
def test_every_exception_of_httpx_has_a_fault(kind: type[Exception]) -> None:
    """No exception of the library beneath, of this version or a newer one, escapes as it is."""
    error = kind.__new__(kind)
    Exception.__init__(error, "something broke")
    fault = failure(error, "GET http://x")
    assert fault.code.isalnum()
    assert fault.message.startswith("GET http://x: ")
    assert fault.cause == kind.__name__


def test_only_the_general_kinds_fall_back() -> None:
    """A new kind of trouble in the library beneath must be given a code of its own."""
    general = {httpx.HTTPError, httpx.RequestError, httpx.TransportError}
    nearest = {kind: next(a for a in kind.__mro__ if a in FAULTS) for kind in _all_of_httpx()}
    assert {kind for kind, entry in nearest.items() if entry is httpx.HTTPError} == general


@pytest.mark.parametrize(("cause", "code"), [
    (ConnectionRefusedError(111, "refused"), "ConnectionRefused"),
    (socket.gaierror(-2, "Name or service not known"), "UnknownHost"),
    (ssl.SSLCertVerificationError(1, "self-authenticated"), "TlsFailed"),
    (ExceptionGroup("two addresses", [OSError("a"), ConnectionRefusedError("b")]), "ConnectionRefused"),
    (OSError("network is down"), "Unreachable"),
])  # fmt: skip
def test_what_lies_beneath_a_failed_connection_is_told(cause: Exception, code: str) -> None:
    error = httpx.ConnectError("All connection attempts failed")
    error.__cause__ = cause
    assert failure(error, "GET http://x").code == code


@pytest.mark.parametrize(("kind", "retryable"), [(httpx.UnsupportedProtocol, False), (httpx.ReadError, True)])
def test_only_mistakes_are_for_good(*, kind: type[httpx.RequestError], retryable: bool) -> None:
    assert failure(kind("x"), "GET http://x").retryable is retryable


NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(("headers", "seconds"), [
    ({}, None),
    ({"retry-after": "17"}, 17),
    ({"retry-after": " 0 "}, 0),
    ({"retry-after": "9" * 400}, MAX_DELAY),
    ({"retry-after": "Sat, 31 Jan 2026 12:01:00 GMT"}, 60),
    ({"retry-after": "Sat, 31 Jan 2026 13:01:00 +0100"}, 60),
    ({"retry-after": "Sat, 31 Jan 2026 11:00:00 GMT"}, 0),
    ({"retry-after": "Sat, 31 Jan 2026 12:01:00 GMT", "date": "Sat, 31 Jan 2026 12:00:30 GMT"}, 30),
    ({"retry-after": "Sat, 31 Jan 2026 12:01:00 GMT", "date": "today"}, 60),
    ({"retry-after": "-1"}, None),
    ({"retry-after": "1.5"}, None),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "Sat, 99 Jan 2026 12:01:00 GMT"}, None),
    ({"retry-after": "\u0667"}, None),
])  # fmt: skip
def test_seconds_and_dates(headers: dict[str, str], seconds: float | None) -> None:
    """No number is more than a history can hold: a call whose failure cannot be recorded would be made for ever."""
    assert seconds_to_wait(headers, NOW) == seconds
