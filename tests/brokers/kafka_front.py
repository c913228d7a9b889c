"""What stands in front of a Kafka broker to secure it, as far as a test needs it: TLS, and SASL with a password.

The broker behind it is librdkafka's mock cluster, which has neither. The front ends TLS, answers the requests of SASL
by itself, leads everything else to the broker, and puts its own port where the broker tells clients its own.
"""

import asyncio
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.brokers.servers import HOST

_API_VERSIONS, _SASL_HANDSHAKE, _SASL_AUTHENTICATE = 18, 17, 36
_UNSUPPORTED_MECHANISM, _AUTHENTICATION_FAILED = 33, 58


class Front:
    """Secures the broker that listens on a port of this machine."""

    def __init__(self, to: int, username: str, password: str) -> None:
        self._to = to
        self._proof = f"\0{username}\0{password}".encode()
        self.port = 0

    @asynccontextmanager
    async def opened(self, context: ssl.SSLContext) -> AsyncIterator["Front"]:
        server = await asyncio.start_server(self._serve, HOST, 0, ssl=context)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        broker_reader, broker_writer = await asyncio.open_connection(HOST, self._to)
        is_known = False
        try:
            while True:
                request = await _frame(reader)
                kind, _, number = struct.unpack_from(">hhi", request)
                body = request[10 + max(0, struct.unpack_from(">h", request, 8)[0]) :]
                if kind == _SASL_HANDSHAKE:
                    answer = self._mechanisms(body)
                elif kind == _SASL_AUTHENTICATE:
                    is_known = body.endswith(self._proof)
                    answer = struct.pack(">hhi", 0 if is_known else _AUTHENTICATION_FAILED, -1, 0)
                elif kind == _API_VERSIONS or is_known:
                    broker_writer.write(struct.pack(">i", len(request)) + request)
                    answer = self._led_back((await _frame(broker_reader))[4:], kind)
                else:
                    return
                writer.write(struct.pack(">ii", len(answer) + 4, number) + answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            broker_writer.close()

    def _mechanisms(self, body: bytes) -> bytes:
        return struct.pack(">hih5s", 0 if body[2:] == b"PLAIN" else _UNSUPPORTED_MECHANISM, 1, 5, b"PLAIN")

    def _led_back(self, answer: bytes, kind: int) -> bytes:
        if kind == _API_VERSIONS:
            error, count = struct.unpack_from(">hi", answer)
            added = struct.pack(">hhhhhh", _SASL_HANDSHAKE, 0, 1, _SASL_AUTHENTICATE, 0, 0)
            return struct.pack(">hi", error, count + 2) + answer[6 : 6 + 6 * count] + added + answer[6 + 6 * count :]
        return answer.replace(struct.pack(">i", self._to), struct.pack(">i", self.port))


async def _frame(reader: asyncio.StreamReader) -> bytes:
    (length,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(length)
