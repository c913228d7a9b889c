"""Who carries out a call of a function? One performer for each type that a definition can name."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import Call, refusal
from swf_temporal.functions.http import Http
from swf_temporal.functions.openapi import OpenApi
from swf_temporal.functions.plain_http import PlainHttp
from swf_temporal.functions.python import Python
from swf_temporal.functions.secrets import scrub
from swf_temporal.functions.settings import Settings

__all__ = ["Call", "Functions"]

_Performer = Callable[[Call], Awaitable[JSON]]

_UNSUPPORTED = {
    "rpc": "Using Functions for RPC Service Invocations",
    "graphql": "Using Functions for GraphQL Service Invocations",
    "odata": "Using Functions for OData Service Invocations",
    "asyncapi": "Using Functions for Async API Service Invocations",
    "expression": "Using Functions for Expression Evaluation",
}
"""The types that are not performed here, and their sections. Expressions are the interpreter's."""


class Functions:
    """Performs the calls of workflows."""

    def __init__(
        self,
        custom: Mapping[str, Callable[..., Any]] | None = None,
        settings: Settings | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        settings = settings or Settings()
        self._http = Http(settings, transport)
        openapi, plain = OpenApi(self._http, settings), PlainHttp(self._http, settings)
        self._python = Python(custom or {}, settings)
        self._plain = plain
        self._performers: dict[str, _Performer] = {
            "rest": openapi.perform,
            "openapi": openapi.perform,
            "http": plain.perform,
            **dict.fromkeys(_UNSUPPORTED, _refuse),
        }

    async def call(self, call: Call) -> JSON:
        """Return the function's result. Raises CallFailed, and nothing else, whatever goes wrong.

        Whether a failed call is tried again is for the definition to decide, unless the fault's `retryable`
        is False: then the definition or its data would have to change first. Secrets are kept out of results
        and faults.
        """
        try:
            result = await self._performer(call)(call)
        except CallFailed as fault:
            raise _completed(fault, call) from fault
        except Exception as error:
            message = f"function '{call.function.name}' could not be called: {type(error).__name__}: {error}"
            raise _completed(CallFailed(message, code="InternalError", cause=type(error).__name__), call) from error
        return scrub(result, call.secrets)

    async def aclose(self) -> None:
        """Close the connections that were kept open."""
        await self._http.aclose()

    def _performer(self, call: Call) -> _Performer:
        operation = call.function.operation
        if isinstance(operation, dict) and call.function.type in {"rest", "openapi"}:
            return self._plain.perform
        if isinstance(operation, str) and operation.startswith("rest:") and call.function.type not in _UNSUPPORTED:
            return self._plain.perform
        return self._performers.get(call.function.type, self._python.perform)


async def _refuse(call: Call) -> JSON:
    kind = call.function.type
    section = _UNSUPPORTED[kind]
    message = f"function '{call.function.name}': the type '{kind}' (section “{section}”) is not carried out here"
    raise refusal("Unsupported", message)


def _completed(fault: CallFailed, call: Call) -> CallFailed:
    """Return *fault* knowing its function and attempt, and nothing of the call's secrets."""
    return CallFailed(
        str(scrub(fault.message, call.secrets)),
        code=str(scrub(fault.code, call.secrets)),
        name=fault.name,
        status=fault.status,
        body=scrub(fault.body, call.secrets),
        attempt=call.attempt,
        function=fault.function or call.function.name,
        retryable=fault.retryable,
        cause=fault.cause,
    )
