"""The faults that a workflow gets when a service cannot be reached, or its answer cannot be read.

The codes are part of the interface: definitions name them in `errors`.
"""

import socket
import ssl

import httpx

from swf_temporal.base.errors import CallFailed, causes

FAULTS: dict[type[Exception], tuple[str, str]] = {
    httpx.ConnectTimeout: ("ConnectTimeout", "no connection was made in time"),
    httpx.TimeoutException: ("Timeout", "there was no answer in time"),
    httpx.PoolTimeout: ("Timeout", "no connection became free in time"),
    httpx.ConnectError: ("Unreachable", "no connection could be made"),
    httpx.NetworkError: ("ConnectionLost", "the connection broke"),
    httpx.ProxyError: ("ProxyFailed", "the proxy refused"),
    httpx.ProtocolError: ("ProtocolError", "the HTTP protocol was violated"),
    httpx.RemoteProtocolError: ("ProtocolError", "the answer ended early, or is not HTTP"),
    httpx.LocalProtocolError: ("BadRequestHead", "the request cannot be written as HTTP"),
    httpx.DecodingError: ("MalformedAnswer", "the answer cannot be decompressed"),
    httpx.TooManyRedirects: ("TooManyRedirects", "the service redirects without end"),
    httpx.UnsupportedProtocol: ("BadUrl", "the URL must start with http:// or https://"),
    httpx.InvalidURL: ("BadUrl", "the URL is invalid"),
    UnicodeError: ("BadUrl", "the URL has a host or characters that cannot be written"),
    httpx.CookieConflict: ("ProtocolError", "the service sent cookies that contradict each other"),
    httpx.StreamError: ("ConnectionLost", "the answer was cut off"),
    httpx.HTTPError: ("Unreachable", "the request failed"),
    TimeoutError: ("Timeout", "there was no answer in time"),
}
"""The code and the meaning of each lower exception; the entry of the nearest ancestor applies."""

_CAUSES: dict[type[BaseException], tuple[str, str]] = {
    ConnectionRefusedError: ("ConnectionRefused", "the connection was refused"),
    socket.gaierror: ("UnknownHost", "the host name is unknown"),
    ssl.SSLError: ("TlsFailed", "no secure connection could be made"),
    ConnectionResetError: ("ConnectionLost", "the connection broke"),
}
"""Causes of an httpx.ConnectError that are more specific."""

_FOR_GOOD = frozenset({"BadUrl", "BadRequestHead"})
_CLEAR = frozenset({"ConnectionRefused", "UnknownHost"})
"""Codes that need no message of the library."""


def failure(error: Exception, what: str) -> CallFailed:
    """Return the fault for a lower *error*; *what* is the request, such as `GET http://…`."""
    code, meaning = _fault(error)
    detail = "" if code in _CLEAR else str(error).strip()
    text = f"{what}: {meaning}" + (f" ({detail})" if detail and detail not in meaning else "")
    return CallFailed(text, code=code, retryable=code not in _FOR_GOOD, cause=type(error).__name__)


def _fault(error: Exception) -> tuple[str, str]:
    if isinstance(error, httpx.ConnectError):
        for cause in causes(error):
            for kind, fault in _CAUSES.items():
                if isinstance(cause, kind):
                    return fault
    for ancestor in type(error).__mro__:
        if ancestor in FAULTS:
            return FAULTS[ancestor]
    raise error
