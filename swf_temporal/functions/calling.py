"""Who carries out a call of a function? One performer for each type that a definition can name."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.auth import with_tokens
from swf_temporal.functions.call import Call, refusal
from swf_temporal.functions.graphql import GraphQL
from swf_temporal.functions.http import Http
from swf_temporal.functions.oauth2 import Tokens
from swf_temporal.functions.odata import OData
from swf_temporal.functions.openapi import OpenApi
from swf_temporal.functions.plain_http import PlainHttp
from swf_temporal.functions.python import Python
from swf_temporal.functions.rpc import Rpc
from swf_temporal.functions.secrets import scrub
from swf_temporal.functions.settings import Settings

__all__ = ["Call", "Functions"]

_Performer = Callable[[Call], Awaitable[JSON]]

_UNSUPPORTED = {
    "asyncapi": "Using Functions for Async API Service Invocations",
    "expression": "Using Functions for Expression Evaluation",
}
"""The types that are not performed here, and their sections. Expressions are the interpreter's."""

_NO_REST = frozenset({"rpc", "graphql", "odata", *_UNSUPPORTED})
"""The types to which the specification gives another meaning than `rest:METHOD:URL`."""


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
        self._tokens = Tokens(self._http)
        openapi = OpenApi(self._http, settings, self._tokens)
        self._python = Python(custom or {}, settings)
        self._plain = self._with_tokens(PlainHttp(self._http, settings).perform)
        self._rpc = Rpc(settings)
        self._performers: dict[str, _Performer] = {
            "rest": openapi.perform,
            "openapi": openapi.perform,
            "http": self._plain,
            "graphql": self._with_tokens(GraphQL(self._http, settings).perform),
            "odata": self._with_tokens(OData(self._http, settings).perform),
            "rpc": self._with_tokens(self._rpc.perform),
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
            raise _completed(fault, call, self._hidden(call)) from fault
        except Exception as error:
            message = f"function '{call.function.name}' could not be called: {type(error).__name__}: {error}"
            unforeseen = CallFailed(message, code="InternalError", cause=type(error).__name__)
            raise _completed(unforeseen, call, self._hidden(call)) from error
        return scrub(result, self._hidden(call))

    async def aclose(self) -> None:
        """Close the connections that were kept open."""
        await self._http.aclose()
        await self._rpc.aclose()

    def _performer(self, call: Call) -> _Performer:
        operation = call.function.operation
        if isinstance(operation, dict) and call.function.type in {"rest", "openapi"}:
            return self._plain
        if isinstance(operation, str) and operation.startswith("rest:") and call.function.type not in _NO_REST:
            return self._plain
        return self._performers.get(call.function.type, self._python.perform)

    def _hidden(self, call: Call) -> dict[str, JSON]:
        """Return what nobody may read: the call's secrets, and the tokens that were obtained with some."""
        return {**call.secrets, "": [call.secrets.get(""), *self._tokens.issued()]}

    def _with_tokens(self, perform: _Performer) -> _Performer:
        """Return *perform* for calls whose auths may need tokens."""

        async def performed(call: Call) -> JSON:
            references = call.function.auth_ref
            names = (references.resource, references.invocation) if references else ()
            return await with_tokens(names, call, self._tokens, perform)

        return performed


async def _refuse(call: Call) -> JSON:
    kind = call.function.type
    section = _UNSUPPORTED[kind]
    message = f"function '{call.function.name}': the type '{kind}' (section “{section}”) is not carried out here"
    raise refusal("Unsupported", message)


def _completed(fault: CallFailed, call: Call, hidden: Mapping[str, JSON]) -> CallFailed:
    """Return *fault* knowing its function and attempt, and nothing of what is *hidden*."""
    return CallFailed(
        str(scrub(fault.message, hidden)),
        code=str(scrub(fault.code, hidden)),
        name=fault.name,
        status=fault.status,
        body=scrub(fault.body, hidden),
        attempt=call.attempt,
        function=fault.function or call.function.name,
        retryable=fault.retryable,
        cause=fault.cause,
    )
