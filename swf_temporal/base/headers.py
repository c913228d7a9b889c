"""Headers of HTTP requests by what they are about."""

from typing import Final

CREDENTIALS: Final = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key"})
"""Headers that hold credentials: they must not be stored in histories."""
_OF_ONE_REQUEST: Final = frozenset({
    "connection", "expect", "forwarded", "host", "keep-alive", "origin", "referer", "te", "trailer",
    "transfer-encoding", "upgrade", "user-agent", "via", "x-real-ip",
})  # fmt: skip
"""Headers that are about one request, its connection, its client or its way, rather than its meaning."""
_KINDS: Final = ("accept", "content-", "cookie", "if-", "proxy-", "sec-", "set-cookie", "x-forwarded-")


def may_be_passed_on(name: str) -> bool:
    """Return True if a call may have a header of that name from the request or event that started its instance.

    A client that may start an instance must not choose the credentials of its calls, nor forge their client.
    """
    key = name.lower()
    return key not in CREDENTIALS | _OF_ONE_REQUEST and not key.startswith(_KINDS)
