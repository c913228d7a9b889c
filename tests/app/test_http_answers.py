"""The small server of health checks."""

import asyncio
import socket

from swf_temporal.app import http_answers
from tests.cli.conftest import answer_of, free_port


async def test_many_that_say_nothing_leave_room() -> None:
    """Those are closed that have been open for longest; whoever asks is answered."""

    async def answer(path: str) -> tuple[int, str]:
        return 200, path

    port, most = free_port(), http_answers._MAX_CONNECTIONS
    async with http_answers.answering(port, answer, "--health", "127.0.0.1"):
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(most + 10)]
        try:
            assert await asyncio.to_thread(answer_of, port, "livez") == 200
            for one in silent[:10]:
                one.settimeout(1)
                assert await asyncio.to_thread(_is_closed, one)
            silent[-1].setblocking(False)  # noqa: FBT003 - of the library
            assert not _is_closed(silent[-1])
        finally:
            for one in silent:
                one.close()


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True
