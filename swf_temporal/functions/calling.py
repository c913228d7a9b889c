"""Who carries out a call of a function? One performer for each type that a definition can name."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import httpx
from google.protobuf.descriptor import MethodDescriptor

from swf_temporal.calls import Function
from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.asyncapi.asyncapi import AsyncApi
from swf_temporal.functions.asyncapi.brokers.protocols import Brokers
from swf_temporal.functions.asyncapi.operations import Operation
from swf_temporal.functions.auth.auth import proofs, with_tokens
from swf_temporal.functions.auth.oauth2 import Tokens
from swf_temporal.functions.call import Call, permanent_failure
from swf_temporal.functions.custom.custom import Custom
from swf_temporal.functions.custom.python import Python
from swf_temporal.functions.custom.script import Scripts
from swf_temporal.functions.documents.local_documents import file_named, looked
from swf_temporal.functions.graphql.graphql import GraphQL
from swf_temporal.functions.http.client import Http
from swf_temporal.functions.metadata import HIDE_SECRETS, switch
from swf_temporal.functions.odata.odata import OData
from swf_temporal.functions.openapi.looking import Described
from swf_temporal.functions.openapi.openapi import OpenApi
from swf_temporal.functions.operator.limits import Limits
from swf_temporal.functions.operator.settings import Settings
from swf_temporal.functions.own_types import close, performers
from swf_temporal.functions.plain.plain import PlainHttp
from swf_temporal.functions.registry import FunctionType, Registry
from swf_temporal.functions.rpc.rpc import Rpc
from swf_temporal.functions.secrets import scrub, withhold, withhold_strong
from swf_temporal.runtime.external_activities import is_external_activity

__all__ = ["Call", "Found", "Functions"]

Found: TypeAlias = Described | Operation | MethodDescriptor
"""What an OpenAPI document, an AsyncAPI document or a proto file says of a function."""

_Performer = Callable[[Call], Awaitable[JSON]]

_UNSUPPORTED = {
    "expression": "Using Functions for Expression Evaluation",
}
"""The types that are not performed here, and their sections. Expressions are the interpreter's."""

_NO_REST = frozenset({"asyncapi", "rpc", "graphql", "odata", *_UNSUPPORTED})
"""The types to which the specification gives another meaning than `rest:METHOD:URL`."""


class Functions:
    """Performs the calls of workflows."""

    def __init__(
        self,
        custom: Mapping[str, Callable[..., Any]] | None = None,
        settings: Settings | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        brokers: Callable[[Http], Brokers] | None = None,
    ) -> None:
        settings = settings or Settings()
        self._limits = Limits(settings)
        self._http = Http(settings, transport, self._limits)
        self._tokens = Tokens(self._http)
        openapi = OpenApi(self._http, settings, self._tokens)
        self._custom = Custom(Python(custom or {}, settings), Scripts(settings))
        self._types: Mapping[str, FunctionType] = custom.types if isinstance(custom, Registry) else {}
        self._plain = PlainHttp(self._http, settings, self._tokens).perform
        self._rpc = Rpc(self._http, settings, self._limits)
        self._asyncapi = AsyncApi(
            self._http, settings, self._tokens, self._limits, brokers(self._http) if brokers else None
        )
        self._performers: dict[str, _Performer] = {
            "rest": openapi.perform,
            "openapi": openapi.perform,
            "http": self._plain,
            "graphql": self._with_tokens(GraphQL(self._http, settings).perform),
            "odata": self._with_tokens(OData(self._http, settings).perform),
            "asyncapi": self._asyncapi.perform,
            "rpc": self._with_tokens(self._rpc.perform),
            **dict.fromkeys(_UNSUPPORTED, _refuse),
        }
        self._looks: dict[str, Callable[[Call], Awaitable[Found]]] = {
            "rest": openapi.look,
            "openapi": openapi.look,
            "asyncapi": self._asyncapi.look,
            "rpc": self._rpc.look,
        }
        self._own = performers(self._types)

    async def call(self, call: Call) -> JSON:
        """Return the function's result. Raises CallFailed, and nothing else, whatever goes wrong.

        Whether a failed call is tried again is for the definition to decide, unless the fault's `retryable`
        is False: then the definition or its data would have to change first. Secrets are kept out of faults and,
        unless the function says otherwise, of results.
        """
        try:
            are_shown = switch(call, HIDE_SECRETS) is False
            async with self._limits.of_function(call.function.name):
                result = await self._performer(call)(call)
            return result if are_shown else withhold(result, self._hidden(call))
        except CallFailed as fault:
            raise _completed(fault, call, self._hidden(call)) from fault
        except RecursionError as error:
            message = f"what function '{call.function.name}' was given or returned is nested too deeply"
            raise _completed(permanent_failure("NotJSON", message), call, {}) from error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody cancelled this call. Some libraries let those who wait know in this way that a connection ended.
            message = f"function '{call.function.name}' was given up by what carries it out, as a connection ended"
            raise _completed(CallFailed(message, code="ConnectionLost"), call, {}) from error
        except Exception as error:
            message = f"function '{call.function.name}' could not be called: {type(error).__name__}: {error}"
            unforeseen = CallFailed(message, code="InternalError", cause=type(error).__name__)
            raise _completed(unforeseen, call, self._hidden(call)) from error

    async def prepare(self, function: Function, base: str | None) -> Found | None:
        """Return what a file on this machine says of *function*, which its first call then need not read or compile.

        Nothing is fetched: None is for a function that no such file describes, or not without documents on the web.
        Raises CallFailed if the file, or what is named in it, is not there.
        """
        if file_named(function, base) is None:
            return None
        return await looked(self._looks[function.type], function, base)

    def check(self, function: Function) -> None:
        """Raise CallFailed if *function* is written in Python and is not there, or may not be called here."""
        call = Call(function)
        if self._performer(call) == self._custom.perform and not is_external_activity(function):
            self._custom.check(call)

    async def aclose(self) -> None:
        """Close the connections that were kept open."""
        await self._http.aclose()
        await self._rpc.aclose()
        await self._asyncapi.aclose()
        await close(self._types.values())

    def _performer(self, call: Call) -> _Performer:
        kind, operation = call.function.type, call.function.operation
        if kind in self._own:
            return self._own[kind]
        if isinstance(operation, dict) and kind in {"rest", "openapi"}:
            return self._plain
        if isinstance(operation, str) and operation.startswith("rest:") and kind not in _NO_REST:
            return self._plain
        return self._performers.get(kind, self._custom.perform)

    def _hidden(self, call: Call) -> dict[str, JSON]:
        """Return what nobody may read: the call's secrets, what was made of them, and tokens obtained with some."""
        return {**call.secrets, "": [call.secrets.get(""), *proofs(call), *self._tokens.issued()]}

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
    raise permanent_failure("Unsupported", message)


def _completed(fault: CallFailed, call: Call, hidden: Mapping[str, JSON]) -> CallFailed:
    """Return *fault* knowing its function and attempt, and nothing of what is *hidden*."""
    return CallFailed(
        _readable(scrub(fault.message, hidden)),
        code=_readable(withhold_strong(fault.code, hidden)),
        name=fault.name,
        status=fault.status,
        body=scrub(fault.body, hidden),
        attempt=call.attempt,
        function=fault.function or call.function.name,
        retryable=fault.retryable,
        retry_after=fault.retry_after,
        cause=fault.cause,
    )


def _readable(text: JSON) -> str:
    """Return *text* without halves of characters: JSON can have them, and what people read cannot."""
    return str(text).encode(errors="replace").decode()
