"""A server that does nothing: what others of it see of a crowd is the floor of what others of any server see.

`python -m tests.attacks.bare` prints its port.
"""

import socket
from typing import Any

import uvicorn


async def _answer(_: Any, receive: Any, send: Any) -> None:
    while (message := await receive())["type"] == "http.request" and message.get("more_body"):
        pass
    if message["type"] == "http.request":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


def main() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        print(listening.getsockname()[1], flush=True)
        server = uvicorn.Server(uvicorn.Config(_answer, lifespan="off", log_level="error"))
        server.run([listening])


if __name__ == "__main__":
    main()
