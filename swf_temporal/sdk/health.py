"""Health checks over HTTP: whether a worker is alive, and whether it can work."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from swf_temporal.sdk.http_answers import ANY_HOST, answering
from swf_temporal.sdk.worker_process import LOOPBACK, WorkerProcess

Probe = Callable[[], Awaitable[bool]]


def health_endpoint(port: int, is_ready: Probe) -> AbstractAsyncContextManager[None]:
    """Answer `/livez` and `/readyz` on *port* for as long as the context lasts. Raises UsageError if it is taken."""

    async def answer(path: str) -> tuple[int, str]:
        if path == "/livez":
            return 200, "alive\n"
        if path != "/readyz":
            return 404, "there are /livez and /readyz\n"
        return (200, "ready\n") if await is_ready() else (503, "not ready\n")

    return answering(port, answer, "--health", ANY_HOST if WorkerProcess.own() is None else LOOPBACK)
