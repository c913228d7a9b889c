"""What does the request say with which HTTP, and so WebSocket, begins?"""

import base64

from swf_temporal.functions.asyncapi.brokers.port import Channel, Message


def url_of(channel: Channel) -> str:
    """Return the URL of a channel: that of its server, and its address behind it."""
    host = f"[{channel.host}]" if ":" in channel.host else channel.host
    port = "" if channel.port is None else f":{channel.port}"
    address = channel.address.lstrip("/")
    return f"{channel.protocol}://{host}{port}{channel.path}/{address}"


def headers_of(channel: Channel, message: Message | None = None) -> list[tuple[str, str]]:
    """Return the headers to begin with. What the message itself says wins over what shows who is calling."""
    headers = list(message.headers.items()) if message else []
    given = {name.lower() for name, _ in headers}
    headers += [(name, value) for name, value in channel.credentials.headers if name.lower() not in given]
    username, password = channel.credentials.username, channel.credentials.password
    if username is not None and "authorization" not in {name.lower() for name, _ in headers}:
        login = base64.b64encode(f"{username}:{password or ''}".encode()).decode("ascii")
        headers.append(("Authorization", f"Basic {login}"))
    return headers
