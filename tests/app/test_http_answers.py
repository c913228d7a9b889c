"""The small server of health checks."""

import asyncio
from contextlib import suppress

from swf_temporal.sdk import health
from tests.cli.conftest import answer_of, free_port


async def test_many_that_say_nothing_leave_room() -> None:
    async def answer(path: str) -> tuple[int, str]:
        return 200, path

    port, most = free_port(), health._MAX_CONNECTIONS
    async with health.answering(port, answer, "--health", "127.0.0.1"):
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(most + 10)]
        try:
            assert await asyncio.to_thread(answer_of, port, "livez") == 200
            for reader, _ in silent[:10]:
                with suppress(ConnectionResetError):
                    assert await reader.read() == b""
            assert not silent[-1][0].at_eof()
        finally:
            for _, writer in silent:
                writer.transport.abort()
