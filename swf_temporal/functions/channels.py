"""How is a gRPC server reached, and which fault does a workflow see when it answers with an error?"""

import asyncio
import importlib
import re
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import refusal

_SERVER = re.compile(r"(?:(grpcs?|https?)://)?((?:\[[^\]]+\]|[^:/?#\s]+)(:\d+)?)/?")
_TLS = frozenset({"grpcs", "https"})
_TOO_LARGE = "CLIENT: Received message larger than max"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a server listens."""

    address: str
    """Host and port."""
    is_secure: bool = False

    def __str__(self) -> str:
        """Return the target as a URL."""
        return f"{'grpcs' if self.is_secure else 'grpc'}://{self.address}"


def target_of(url: str) -> Target:
    """Return the server at *url*: `grpc://host:port`, `grpcs://host:port` for TLS, or `host:port`.

    Raises CallFailed if it is something else.
    """
    match = _SERVER.fullmatch(url.strip())
    if match is None:
        raise refusal("BadUrl", f"the server of gRPC is {url!r}; it is written grpc://host:port, or grpcs://host:port")
    scheme, address, port = match.groups()
    is_secure = scheme in _TLS
    return Target(address if port else f"{address}:{443 if is_secure else 80}", is_secure)


class Channels:
    """Keeps the connections of each event loop to each server open between calls."""

    def __init__(self, max_answer_bytes: int) -> None:
        self._options = (("grpc.max_receive_message_length", max_answer_bytes),)
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Target, Any]] = WeakKeyDictionary()

    def to(self, target: Target) -> Any:
        """Return the `grpc.aio.Channel` to *target*."""
        channels = self._open.setdefault(asyncio.get_running_loop(), {})
        if target not in channels:
            grpc, aio = library("grpc"), library("grpc.aio")
            channels[target] = (
                aio.secure_channel(target.address, grpc.ssl_channel_credentials(), options=self._options)
                if target.is_secure
                else aio.insecure_channel(target.address, options=self._options)
            )
        return channels[target]

    async def aclose(self) -> None:
        """Close the connections of this event loop; those of a loop that is gone went with it."""
        for channel in self._open.pop(asyncio.get_running_loop(), {}).values():
            await channel.close()


def library(module: str) -> Any:
    """Return a module of the gRPC libraries, which a worker need not have. Raises CallFailed if it has not."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        message = f"functions of type 'rpc' need {error.name or module}: pip install 'swf-temporal[grpc]'"
        raise refusal("NotInstalled", message) from error


def rpc_failure(error: Any, what: str) -> CallFailed:
    """Return the fault that a `grpc.aio.AioRpcError` is to a workflow: its code is the name of the status."""
    status, details = error.code(), error.details() or ""
    if _TOO_LARGE in details:
        return refusal("AnswerTooLarge", f"{what}: the answer is too large: {details}")
    trailing: dict[str, JSON] = {key: value for key, value in error.trailing_metadata() or () if isinstance(value, str)}
    body: JSON = {"code": status.value[0], "message": details, "metadata": trailing}
    text = f"{what} answered {status.name}" + (f": {details}" if details else "")
    return CallFailed(text, code=status.name, body=body, cause=type(error).__name__)
