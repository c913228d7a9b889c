"""The port of function types: what `Functions` asks of a type, ours or the user's own, and what it shares with it.

A type of ours is a `DeclaredType`, which is light and says what its operations look like; what it makes of `Services`
performs the calls. A type of the user's own needs no more than `perform`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
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
from swf_temporal.functions.limits import RateLimits
from swf_temporal.settings.calls import Settings

if TYPE_CHECKING:
    import httpx

    from swf_temporal.functions.auth.oauth2 import Tokens
    from swf_temporal.functions.http.client import Http


MAX_THREADS = 200
"""How many functions that are not async run at once, where nobody says how many calls there are at once."""


@dataclass(frozen=True, slots=True)
class Described:
    """A description of a function, from its operation and from documents on this machine, without a call."""

    address: Mapping[str, JSON]
    """Where it leads, as people are shown it, such as a method and a path."""
    credentials: tuple[tuple[str, ...], ...] = ()
    """The credentials that a document asks for, by name, in each of several possibilities."""


@runtime_checkable
class FunctionType(Protocol):
    """Performs the functions of one type. The user's own types satisfy this, and may have more of `Performer`."""

    async def perform(self, call: Call) -> JSON:
        """Return the result of one attempt. What it raises is the function's error."""


class Performer(ABC):
    """Performs the functions of one type. Only `perform` has to be there."""

    @abstractmethod
    async def perform(self, call: Call) -> JSON:
        """Return the result of one attempt. Raises CallFailed."""

    async def look(self, call: Call) -> Described | None:  # noqa: ARG002 - for those that know something
        """Return what is known of the function before it is called. Nothing is fetched, and None is for nothing.

        Raises CallFailed if what describes the function is not there, and NotLocalError if it leads to the web.
        """
        return None

    def check(self, call: Call) -> None:  # noqa: B027 - most can only tell by calling
        """Raise CallFailed if the function is not there, or may not be called here."""

    async def aclose(self) -> None:  # noqa: B027 - most hold nothing
        """Close the connections that were kept open."""


class Services:
    """The services that function types share. Clients are made when they are first needed: validation needs none."""

    def __init__(
        self,
        settings: Settings | None = None,
        custom: Mapping[str, Callable[..., Any]] | None = None,
        transport: "httpx.AsyncBaseTransport | None" = None,
        max_threads: int = MAX_THREADS,
    ) -> None:
        self.settings = settings or Settings()
        self.custom = {} if custom is None else custom
        """The Python functions that workflows may call by name."""
        self.limits = RateLimits(self.settings)
        self._transport = transport
        self._max_threads = max_threads

    @cached_property
    def http(self) -> "Http":
        """The HTTP client."""
        from swf_temporal.functions.http.client import Http  # noqa: PLC0415 - heavy

        return Http(self.settings, self._transport, self.limits)

    @cached_property
    def threads(self) -> ThreadPoolExecutor:
        """Threads for functions that are not async: of their own, so that they keep nobody else from working."""
        return ThreadPoolExecutor(self._max_threads, "function")

    @cached_property
    def tokens(self) -> "Tokens":
        """The tokens of OAuth2."""
        from swf_temporal.functions.auth.oauth2 import Tokens  # noqa: PLC0415 - heavy

        return Tokens(self.http)

    def issued_tokens(self) -> list[JSON]:
        """Return the newest tokens, which no result or message may show."""
        return self.tokens.issued() if "tokens" in self.__dict__ else []

    async def aclose(self) -> None:
        """Close the connections that were kept open."""
        if "http" in self.__dict__:
            await self.http.aclose()
        if "threads" in self.__dict__:
            self.threads.shutdown(wait=False)


class DeclaredType(OperationType):
    """A type of functions that `function_types.TYPES` names."""

    performed_by: ClassVar[str]
    """The class of its performer, as `module:class`: it stands above the type, and is imported once it is needed."""

    def services(self, operation: JSON) -> tuple[str, ...]:
        """Return the names of the document of *operation*: as it is written, and that of its file."""
        document = self.document(operation)
        if document is None:
            return ()
        return tuple(dict.fromkeys(one for one in (document, PurePosixPath(path_of(document)).name) if one))

    def performer(self, services: Services) -> Performer:
        """Return what performs the functions of this type."""
        module, _, name = self.performed_by.partition(":")
        made: Performer = getattr(module_named(module), name)(services)
        return made


@dataclass(frozen=True, slots=True)
class PartedForm:
    """The form of an operation that is a text of several parts with a `#` between them, and an example."""

    parts: tuple[str, ...]
    example: str

    def split(self, operation: JSON) -> dict[str, str]:
        """Return the parts that *operation* has; empty if it is not a text.

        As in any URI, its first `#` ends what comes before, and all behind may be percent-encoded.
        """
        if not isinstance(operation, str):
            return {}
        first, *fragment = operation.split("#", len(self.parts) - 1)
        found = [first, *map(unquote, fragment)]
        return dict(zip(self.parts, (part.strip() for part in found), strict=False))

    def first(self, operation: JSON) -> str | None:
        """Return the first part, such as a document, of an operation that has one of each."""
        given = self.split(operation)
        return given[self.parts[0]] if len(given) == len(self.parts) and given[self.parts[0]] else None

    def of(self, function: Function) -> list[str]:
        """Return all parts of the operation of *function*. Raises CallFailed if it has not all of them."""
        given = list(self.split(function.operation).values())
        if len(given) == len(self.parts) and all(given):
            return given
        raise permanent_failure(
            "BadOperation",
            f"the operation of function '{function.name}' is {function.operation!r}; "
            f"one of type '{function.type}' is written '{self.example}'",
        )

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield what is missing in the operation of *function*."""
        written = f"one of the type {function.type} is written {self.example}"
        if not isinstance(function.operation, str):
            yield OperationProblem(f"the operation must be a text: {written}")
            return
        given = self.split(function.operation)
        missing = [part for part in self.parts if not given.get(part)]
        if missing:
            names = f"names no {' and no '.join(missing)}"
            yield OperationProblem(f"the operation {function.operation!r} {names}: {written}")
