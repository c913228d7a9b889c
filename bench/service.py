"""The service that REST calls are measured against: `python -m bench.service` prints its URL.

It does as little as HTTP allows, in a process of its own, so that what is measured is who calls it.
"""

import asyncio
import json
import sys

DOCUMENT = {
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


class _Protocol(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._waiting = b""

    def data_received(self, data: bytes) -> None:
        *requests, self._waiting = (self._waiting + data).split(b"\r\n\r\n")
        for request in requests:
            path = request.split(b" ", 2)[1]
            number = path.partition(b"?")[0].rpartition(b"/")[2]
            document = path == b"/openapi.json"
            body = json.dumps(DOCUMENT if document else {"accepted": True, "number": int(number)}).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            self._transport.write(head.encode() + body)


async def main() -> None:
    """Answer until the input ends."""
    server = await asyncio.get_running_loop().create_server(_Protocol, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
