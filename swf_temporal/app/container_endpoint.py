"""The address at which functions in containers reach the worker that calls them."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from swf_temporal.app.settings import Address
from swf_temporal.errors import UsageError
from swf_temporal.functions.containers.running_calls import RunningCalls
from swf_temporal.runtime.variables import VariableStore

_GRACE = 5
"""Seconds in which requests that are under way may still be answered."""


@asynccontextmanager
async def container_endpoint(address: Address, running: RunningCalls, variables: VariableStore) -> AsyncIterator[None]:
    """Answer `log` and `var` at *address* for as long as the context lasts. Raises UsageError."""
    try:
        import uvicorn  # noqa: PLC0415 - of an extra

        from swf_temporal.functions.containers.endpoint import endpoint  # noqa: PLC0415 - of an extra
    except ImportError as error:
        why = f"what functions in containers ask for needs {error.name}: pip install 'swf-temporal[containers]'"
        raise UsageError(why, "see containerEndpoint") from None

    class Server(uvicorn.Server):
        """A server in a process that has its own way of being told to stop."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    with _listening(address) as listening:
        config = uvicorn.Config(
            endpoint(running, variables),
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=_GRACE,
        )
        server = Server(config)
        serving = asyncio.create_task(server.serve([listening]))
        try:
            yield
        finally:
            server.should_exit = True
            await serving


def _listening(address: Address) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        return socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        why = f"nothing can listen at {address}: {error.strerror or error}"
        raise UsageError(why, "choose another address with containerEndpoint or SWF_CONTAINER_ENDPOINT") from None
