"""The headers and the URL of the request with which HTTP, and so WebSocket, begins."""

import base64
import re

from swf_temporal.base.errors import permanent_failure
from swf_temporal.events.brokers.port import Channel, Message

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")
_OWN = frozenset(
    {
        *("connection", "content-length", "host", "transfer-encoding", "upgrade"),
        *(f"sec-websocket-{what}" for what in ("accept", "extensions", "key", "version")),
    }
)
"""The headers that say how the connection goes on, which is not for a message to say."""


def url_of(channel: Channel) -> str:
    """Return the URL of a channel: that of its server, and its address behind it."""
    host = f"[{channel.host}]" if ":" in channel.host else channel.host
    port = "" if channel.port is None else f":{channel.port}"
    address = channel.address.lstrip("/")
    return f"{channel.protocol}://{host}{port}{channel.path}/{address}"


def headers_of(channel: Channel, message: Message | None = None) -> list[tuple[str, str]]:
    """Return the headers to begin with. What the message itself says wins over what shows who is calling.

    Raises CallFailed for what is not a header or would begin another one, and for those that the connection needs.
    """
    headers = list(message.headers.items()) if message else []
    given = {name.lower() for name, _ in headers}
    headers += [(name, value) for name, value in channel.credentials.headers if name.lower() not in given]
    username, password = channel.credentials.username, channel.credentials.password
    if username is not None and "authorization" not in {name.lower() for name, _ in headers}:
        login = base64.b64encode(f"{username}:{password or ''}".encode()).decode("ascii")
        headers.append(("Authorization", f"Basic {login}"))
    for name, value in headers:
        if not _NAME.fullmatch(name) or name.lower() in _OWN or not _VALUE.fullmatch(value):
            raise permanent_failure(
                "BadArguments", f"{channel}: a message there cannot have the header {name!r}, or its value"
            )
    return headers
