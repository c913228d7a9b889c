"""The service that calls over HTTP are measured against: `python -m bench.service` prints its URL.

It does as little as HTTP allows, in a process of its own, so that what is measured is who calls it.
"""

import argparse
import asyncio
import json
import re
import sys
from functools import partial
from typing import Any

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Answers", "version": "1"},
    "paths": {
        "/answers/{number}": {
            "get": {
                "operationId": "answer",
                "parameters": [
                    {"name": "number", "in": "path", "required": True, "schema": {"type": "integer"}},
                    {"name": "unit", "in": "query", "schema": {"type": "string"}},
                ],
                "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {}}}}},
            }
        }
    },
}


_LENGTH = re.compile(rb"^content-length: *(\d+)", re.IGNORECASE | re.MULTILINE)


class _Protocol(asyncio.Protocol):
    def __init__(self, filling: str, seconds: float) -> None:
        self._filling = {"filling": filling} if filling else {}
        self._seconds = seconds

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._waiting = b""

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        while (begun := self._waiting.find(b"\r\n\r\n")) >= 0:
            head = self._waiting[:begun]
            length = _LENGTH.search(head)
            end = begun + 4 + (int(length[1]) if length else 0)
            if len(self._waiting) < end:
                return
            body, self._waiting = self._waiting[begun + 4 : end], self._waiting[end:]
            self._answer(head, body)

    def _answer(self, head: bytes, given: bytes) -> None:
        method, path, _ = head.split(b" ", 2)
        if method == b"POST":
            answer: dict[str, Any] = {"accepted": True, "number": json.loads(given)["number"]}
        elif path == b"/openapi.json":
            answer = DOCUMENT
        elif method == b"GET":
            answer = {"accepted": True, "number": int(path.partition(b"?")[0].rpartition(b"/")[2]), **self._filling}
        else:
            answer = {}
        body = json.dumps(answer).encode()
        told = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        if self._seconds and method == b"GET" and path != b"/openapi.json":
            asyncio.get_running_loop().call_later(self._seconds, self._transport.write, told.encode() + body)
        else:
            self._transport.write(told.encode() + body)


async def main() -> None:
    """Answer until the input ends."""
    parser = argparse.ArgumentParser(prog="python -m bench.service")
    parser.add_argument("--bytes", type=int, default=0, help="how large answers are, about")
    parser.add_argument("--seconds", type=float, default=0, help="how long they take")
    given = parser.parse_args()
    made = partial(_Protocol, "x" * given.bytes, given.seconds)
    server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
