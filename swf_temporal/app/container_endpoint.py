"""The address at which functions in containers reach the worker that calls them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from swf_temporal.app.option_values import Address
from swf_temporal.errors import UsageError
from swf_temporal.functions.containers.running_calls import RunningCalls
from swf_temporal.runtime.variables import VariableStore

_HINT = "choose another address with containerEndpoint or SWF_CONTAINER_ENDPOINT"


@asynccontextmanager
async def container_endpoint(address: Address, running: RunningCalls, variables: VariableStore) -> AsyncIterator[None]:
    """Answer `log` and `var` at *address* for as long as the context lasts. Raises UsageError."""
    try:
        from swf_temporal.app.asgi_server import asgi_server  # noqa: PLC0415 - of an extra
        from swf_temporal.functions.containers.endpoint import endpoint  # noqa: PLC0415 - of an extra
    except ImportError as error:
        why = f"requests of functions in containers need {error.name}: pip install 'swf-temporal[containers]'"
        raise UsageError(why, "see containerEndpoint") from None
    async with asgi_server(endpoint(running, variables), address, _HINT):
        yield
