"""The port of function types: what `Functions` calls on a type, built-in or custom, and what it shares with it.

A built-in type is a `DeclaredType`, which is light and describes the form of its operations; the performer that it
makes from `Services` makes the calls. A custom type only needs `perform`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable
from urllib.parse import unquote

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.function_types import OperationProblem, OperationType, path_of
from swf_temporal.base.importing import module_named
from swf_temporal.functions.call import Call

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    import httpx

    from swf_temporal.functions.auth.oauth2 import Tokens
    from swf_temporal.functions.http.client import Http
    from swf_temporal.functions.limits import RateLimits
    from swf_temporal.settings.calls import Settings


MAX_THREADS = 200
"""The default number of functions that are not async to run at once, if the number of calls is not set."""


@dataclass(frozen=True, slots=True)
class Described:
    """A description of a function, from its operation and from documents on this machine, without a call."""

    address: Mapping[str, JSON]
    """The function's address for people, such as a method and a path."""
    credentials: tuple[tuple[str, ...], ...] = ()
    """The alternatives of credentials that a document asks for, by name."""


@runtime_checkable
class FunctionType(Protocol):
    """Performs the functions of one type. Custom types implement this, and may have more."""

    async def perform(self, call: Call) -> JSON:
        """Return the result of one attempt. What it raises is the function's error."""


class Performer(ABC):
    """Performs the functions of one type. Only `perform` is required."""

    @abstractmethod
    async def perform(self, call: Call) -> JSON:
        """Return the result of one attempt. Raises CallFailed."""

    async def look(self, call: Call) -> Described | None:  # noqa: ARG002 - for types that know something
        """Return what is known of the function before it is called, or None. Nothing is fetched.

        Raises CallFailed if the function's description is missing, and NotLocalError if it is on the web.
        """
        return None

    def check(self, call: Call) -> None:  # noqa: B027 - most only find out by calling
        """Raise CallFailed if the function does not exist, or may not be called here."""

    async def aclose(self) -> None:  # noqa: B027 - most hold nothing
        """Close the connections kept open."""


class Services:
    """The services that function types share. Clients are made on first use: validation needs none."""

    def __init__(
        self,
        settings: "Settings | None" = None,
        custom: Mapping[str, Callable[..., Any]] | None = None,
        transport: "httpx.AsyncBaseTransport | None" = None,
        max_threads: int = MAX_THREADS,
    ) -> None:
        from swf_temporal.settings.calls import Settings  # noqa: PLC0415 - heavy, and validation has no services

        self.settings = settings or Settings()
        self.custom = {} if custom is None else custom
        """The Python functions that workflows may call by name."""
        self._transport = transport
        self._max_threads = max_threads

    @cached_property
    def http(self) -> "Http":
        """The HTTP client."""
        from swf_temporal.functions.http.client import Http  # noqa: PLC0415 - heavy

        return Http(self.settings, self._transport, self.limits)

    @cached_property
    def limits(self) -> "RateLimits":
        """The limits of concurrency and rate."""
        from swf_temporal.functions.limits import RateLimits  # noqa: PLC0415 - of calls alone

        return RateLimits(self.settings)

    @cached_property
    def threads(self) -> "ThreadPoolExecutor":
        """Threads for functions that are not async, which must not exhaust the default executor."""
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - as above

        return ThreadPoolExecutor(self._max_threads, "function")

    @cached_property
    def tokens(self) -> "Tokens":
        """The tokens of OAuth2."""
        from swf_temporal.functions.auth.oauth2 import Tokens  # noqa: PLC0415 - heavy

        return Tokens(self.http)

    def issued_tokens(self) -> list[JSON]:
        """Return the tokens used last, which no result or message may show, the latest at the end."""
        return self.tokens.issued() if "tokens" in self.__dict__ else []

    async def aclose(self) -> None:
        """Close the connections kept open."""
        if "http" in self.__dict__:
            await self.http.aclose()
        if "threads" in self.__dict__:
            self.threads.shutdown(wait=False)


class DeclaredType(OperationType):
    """A type of functions in `function_types.TYPES`."""

    performed_by: ClassVar[str]
    """The class of its performer, as `module:class`: that is in a layer above the type, and imported on first use."""

    def services(self, operation: JSON) -> tuple[str, ...]:
        """Return the names of the document of *operation*: as it is written, and the name of its file."""
        document = self.document(operation)
        if document is None:
            return ()
        return tuple(dict.fromkeys(one for one in (document, PurePosixPath(path_of(document)).name) if one))

    def performer(self, services: Services) -> Performer:
        """Return the performer of this type's functions."""
        module, _, name = self.performed_by.partition(":")
        made: Performer = getattr(module_named(module), name)(services)
        return made


@dataclass(frozen=True, slots=True)
class PartedForm:
    """The form of an operation that is a text of several parts separated by `#`, with an example."""

    parts: tuple[str, ...]
    example: str

    def split(self, operation: JSON) -> dict[str, str]:
        """Return the parts of *operation*; empty if it is not a text.

        As in any URI, its first `#` begins the fragment, which may be percent-encoded.
        """
        if not isinstance(operation, str):
            return {}
        first, *fragment = operation.split("#", len(self.parts) - 1)
        found = [first, *map(unquote, fragment)]
        return dict(zip(self.parts, (part.strip() for part in found), strict=False))

    def first(self, operation: JSON) -> str | None:
        """Return the first part, such as a document, of an operation that has all parts."""
        given = self.split(operation)
        return given[self.parts[0]] if len(given) == len(self.parts) and given[self.parts[0]] else None

    def of(self, function: Function) -> list[str]:
        """Return all parts of the operation of *function*. Raises CallFailed if some are missing."""
        given = list(self.split(function.operation).values())
        if len(given) == len(self.parts) and all(given):
            return given
        raise permanent_failure(
            "BadOperation",
            f"the operation of function '{function.name}' is {function.operation!r}; "
            f"one of type '{function.type}' is written '{self.example}'",
        )

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield the missing parts of the operation of *function*."""
        written = f"one of the type {function.type} is written {self.example}"
        if not isinstance(function.operation, str):
            yield OperationProblem(f"the operation must be a text: {written}")
            return
        given = self.split(function.operation)
        missing = [part for part in self.parts if not given.get(part)]
        if missing:
            names = f"names no {' and no '.join(missing)}"
            yield OperationProblem(f"the operation {function.operation!r} {names}: {written}")
