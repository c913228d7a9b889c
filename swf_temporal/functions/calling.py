"""Performs the calls of workflows, each by the type of its function."""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from swf_temporal.base.arguments import kind_of
from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, FatalFault, StoreUnavailable, UsageError, permanent_failure
from swf_temporal.base.function_types import TYPES, operation_type
from swf_temporal.base.strict_json import NotJSON
from swf_temporal.functions.auth.auth import derived_secrets
from swf_temporal.functions.call import HIDE_SECRETS, Call, cause_here, switch, with_resources
from swf_temporal.functions.custom.outcomes import as_json, exceptions_as_faults
from swf_temporal.functions.documents.local_documents import document_named, file_named, looked
from swf_temporal.functions.local_calls import check_local_function
from swf_temporal.functions.log_scrubbing import scrub_libraries, scrubbing
from swf_temporal.functions.port import MAX_THREADS, DeclaredType, Described, FunctionType, Performer, Services
from swf_temporal.functions.registry import Registry
from swf_temporal.functions.secrets import ProvidedSecrets, SecretProvider, Secrets, is_strong, scrubbed, withhold
from swf_temporal.languages.performing import fill_auth_of, filled, made_of_secrets
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.settings.calls import Settings, read_settings

if TYPE_CHECKING:
    import httpx


_MADE: Final = "\0made of secrets"
_CONFIGURED: Final = "\0configured"
_RECENT: Final = "\0recent tokens"
"""The names, which no secret has, under which other texts than secrets are hidden in every encoding."""
_MAX_RECENT: Final = 16
"""The number of tokens that are hidden in every encoding; older ones only as they are, since looking takes time."""

__all__ = ["Call", "Functions"]


class Functions:
    """Performs the calls of workflows. A type is imported when its first function is called or inspected."""

    def __init__(
        self,
        custom: Mapping[str, Callable[..., Any]] | None = None,
        settings: Settings | None = None,
        *,
        transport: "httpx.AsyncBaseTransport | None" = None,
        replaced: Mapping[str, Callable[[Services], Performer]] | None = None,
        max_threads: int = MAX_THREADS,
    ) -> None:
        """Offer the functions and types in *custom*; *replaced* has factories of performers for built-in types.

        *max_threads* is the number of functions that are not async to run at once.
        """
        self._services = Services(settings, custom, transport, max_threads)
        # Answers are data: even credentials are only hidden if they cannot be ordinary data.
        self._credentials: list[JSON] = [one for one in self._services.settings.credentials if is_strong(one)]
        scrub_libraries()
        own = custom.types if isinstance(custom, Registry) else {}
        self._own = frozenset(own)
        self._performers: dict[str, Performer] = {name: _OwnType(kind) for name, kind in own.items()}
        self._to_open = custom.resources if isinstance(custom, Registry) else []
        self._resources: dict[Any, Any] = {}
        self._opened = AsyncExitStack()
        for name, made in (replaced or {}).items():
            self._performers[name] = made(self._services)

    async def open(self) -> None:
        """Open the resources of the registry for functions, until `aclose`. Their exceptions are raised unchanged."""
        try:
            for opening in self._to_open:
                manager = opening()
                if isinstance(manager, AbstractAsyncContextManager):
                    self._resources[opening] = await self._opened.enter_async_context(manager)
                elif isinstance(manager, AbstractContextManager):
                    self._resources[opening] = self._opened.enter_context(manager)
                else:
                    name = getattr(opening, "__name__", repr(opening))
                    raise UsageError(f"the resource {name!r} returned {kind_of(manager)}, and not a context manager")  # noqa: TRY301 - closes what was opened
        except BaseException:
            await self._opened.aclose()
            raise

    async def call(self, call: Call) -> JSON:
        """Return the function's result, and keep the secrets of *call* out of logs of libraries; see `_call`."""
        served = self._served(call.function)
        if served is not call.function:
            call = replace(call, function=served)
        with with_resources(self._resources):
            if not (call.secrets or self._credentials):
                return await self._call(call)
            with scrubbing(lambda: self._hidden(call)):
                return await self._call(call)

    async def _call(self, call: Call) -> JSON:
        """Return the function's result. Raises CallFailed for any failure of the function.

        FatalFault and StoreUnavailable are raised for failures of variables that it reads and writes.

        The definition decides whether a failed call is retried, unless the fault's `retryable` is False: then the
        definition or its data would have to change first. Secrets are kept out of faults and, unless the function says
        otherwise, of results.
        """
        try:
            are_shown = switch(call, HIDE_SECRETS) is False
            performer = self._performer(call.function)
            check_local_function(self._services.settings, call.callee, call.function.type)
            async with self._services.limits.of_callee(call.callee):
                result = await performer.perform(call)
            return result if are_shown else withhold(result, self._hidden(call))
        except (FatalFault, StoreUnavailable):
            raise  # a failure of variables, not of the function
        except CallFailed as fault:
            raise _completed(cause_here(fault), call, self._hidden(call)) from fault
        except (NotJSON, RecursionError) as error:
            why = f"not JSON: {error}" if isinstance(error, NotJSON) else "nested too deeply"
            message = f"what function '{call.function.name}' was given or returned is {why}"
            raise _completed(permanent_failure("NotJSON", message), call, {}) from error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # This call was not cancelled: some libraries cancel waiting callers when a connection ends.
            message = f"function '{call.function.name}' was aborted because its connection ended"
            raise _completed(CallFailed(message, code="ConnectionLost"), call, {}) from error
        except Exception as error:
            message = f"function '{call.function.name}' could not be called: {type(error).__name__}: {error}"
            unforeseen = CallFailed(message, code="InternalError", cause=type(error).__name__)
            unforeseen.__cause__ = error
            raise _completed(cause_here(unforeseen), call, self._hidden(call)) from error

    async def look(self, function: Function, base: str | None) -> Described | None:
        """Return the description of *function*, by its operation and by files on this machine.

        Nothing is fetched: None means that nothing is known without fetching. Raises CallFailed if the file, or the
        operation in it, does not exist.
        """
        function = self._served(function)
        if document_named(function) is not None and file_named(function, base) is None:
            return None
        return await looked(self._performer(function).look, function, base)

    async def prepare(self, function: Function, base: str | None) -> Described | None:
        """Return the description of *function* in a file on this machine, cached for its first call.

        None means that no such file describes it; custom types are always asked.
        """
        function = self._served(function)
        if function.type not in self._own and file_named(function, base) is None:
            return None
        return await self.look(function, base)

    def check(self, function: Function) -> None:
        """Raise CallFailed if *function* is known not to exist, or may not be called here."""
        function = self._served(function)
        self._performer(function).check(Call(function))

    async def aclose(self) -> None:
        """Close the resources, and the connections kept open."""
        await self._services.aclose()
        for performer in self._performers.values():
            await performer.aclose()
        self._resources.clear()
        await self._opened.aclose()

    def _served(self, function: Function) -> Function:
        """Return *function* with the operation in the operator's settings, if any, instead of the definition's."""
        operation = self._services.settings.for_function(function.name).operation
        return function if operation is None else replace(function, type="custom", operation=operation)

    def _performer(self, function: Function) -> Performer:
        """Return the performer of *function*; an unknown type is treated as `custom`."""
        name = function.type if function.type in self._own or function.type in TYPES else "custom"
        if name not in self._performers:
            declared = cast("DeclaredType", operation_type(name))
            self._performers[name] = declared.performer(self._services)
        return self._performers[name]

    def _hidden(self, call: Call) -> dict[str, JSON]:
        """Return what to hide: the call's secrets, texts derived from them, tokens, and the operator's credentials."""
        tokens = self._services.issued_tokens()
        if not (tokens or call.secrets or call.made_of_secrets or call.function.auth_ref or self._credentials):
            return {}
        # Of derived texts, only those that cannot be ordinary data, which a word such as `yes` may be.
        made = [*derived_secrets(call), *(word for word in call.made_of_secrets if is_strong(word))]
        return {
            **call.secrets,
            _MADE: made,
            _CONFIGURED: self._credentials,
            _RECENT: tokens[-_MAX_RECENT:],
            "": [call.secrets.get(""), *tokens[:-_MAX_RECENT]],
        }


def _completed(fault: CallFailed, call: Call, hidden: Mapping[str, JSON]) -> CallFailed:
    """Return *fault* with its function and attempt, and without what is *hidden*."""
    told = scrubbed(fault, hidden)
    told.attempt, told.function = call.attempt, fault.function or call.function.name
    told.frames = fault.frames
    return told


class _OwnType(Performer):
    """A custom type, as `Functions` uses it: exceptions become faults, and results JSON."""

    def __init__(self, kind: type[FunctionType] | FunctionType) -> None:
        self._is_made_here = isinstance(kind, type)
        self._kind: Any = kind() if isinstance(kind, type) else kind

    async def perform(self, call: Call) -> JSON:
        """Return the function's result. Raises CallFailed."""
        with exceptions_as_faults():
            result = await self._kind.perform(call)
        return as_json(call, result)

    async def look(self, call: Call) -> Described | None:
        """Return the type's description of the function, if it has one."""
        if not hasattr(self._kind, "look"):
            return None
        found = self._kind.look(call)
        address = await found if inspect.isawaitable(found) else found
        return address if address is None or isinstance(address, Described) else Described(dict(address))

    def check(self, call: Call) -> None:
        """Raise CallFailed if the type refuses the function before it is called."""
        if hasattr(self._kind, "check"):
            with exceptions_as_faults():
                self._kind.check(call)

    async def aclose(self) -> None:
        if self._is_made_here and hasattr(self._kind, "aclose"):
            await self._kind.aclose()


class Calls:
    def __init__(
        self,
        custom: Mapping[str, Callable[..., Any]] | None = None,
        *,
        env: Mapping[str, str] | None = None,
        settings: Settings | None = None,
        secrets: Secrets | None = None,
        functions: Functions | None = None,
        provider: SecretProvider | None = None,
    ) -> None:
        """Take settings and secrets that are not given from the environment *env*.

        *functions* perform the calls instead of those made from *custom* and *settings*. Secrets of *provider* override
        *secrets*.
        """
        self.functions = functions or Functions(custom, settings or read_settings(env or {}))
        self.secrets = secrets or Secrets.from_environment(env or {})
        self._provided = None if provider is None else ProvidedSecrets(provider)

    async def perform(self, call: FunctionCall, *, source: str, key: str, attempt: int) -> JSON:
        # A secret that only a document asks for may be unknown: the service decides about a call without it.
        is_needed = call.secret_template is not None or call.function.auth_ref is not None
        known = self.secrets
        if self._provided is not None and call.secrets:
            known = known.beneath(await self._provided.of(call.secrets))
        secrets = known.entrusted(call.secrets) if is_needed else known.as_mapping(call.secrets)
        arguments = filled(call, secrets)
        return await self.functions.call(
            Call(
                function=call.function,
                arguments=arguments,
                selection_set=call.selection_set,
                headers=call.headers,
                base=folder_of(source),
                idempotency_key=key,
                attempt=attempt,
                auth=call.auth,
                secrets=secrets,
                fill_auth=fill_auth_of(call),
                made_of_secrets=made_of_secrets(call, secrets, arguments),
                folder=call.folder,
            )
        )

    async def aclose(self) -> None:
        await self.functions.aclose()


@lru_cache(maxsize=512)
def folder_of(source: str) -> str | None:
    """Return the folder of a definition, or its URL; documents are relative to it."""
    if "://" in source:
        return source
    return None if source.startswith("<") else str(Path(source).parent)
