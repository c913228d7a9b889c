"""The settings of calls: for all, by function, by service and by host."""

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import AfterValidator, Field, field_validator

from swf_temporal.base.function_types import Callee, environment_name
from swf_temporal.runtime.variables import LocalCalls
from swf_temporal.settings import credentials
from swf_temporal.settings.configuration import NO_KEY, NO_VARIABLE, Section, Variable, argument
from swf_temporal.settings.forms import (
    HEADERS,
    RATE,
    SHARED_FOLDER,
    SPLIT,
    Count,
    Duration,
    Operation,
    Proxy,
    Rate,
    SharedFolder,
    Size,
    Url,
)
from swf_temporal.settings.network import HostPattern, Network, Pattern, Tls, read_pattern
from swf_temporal.text.fetching.resources import Resources
from swf_temporal.text.model_errors import validation_error

_NAMED = f"{NO_KEY}named"
_CONFIDENTIAL = Variable(is_confidential=True)
_URL_OF_OPERATION = re.compile(r"rest:(?:[^:/]*:)?\s*(https?://[^/?#{}\s]+)(?=[/?#]|\s*$)", re.IGNORECASE)
"""The scheme and the host of an operation, unless the arguments of calls say a part of them."""


class HostOptions(Section):
    """The settings of calls to one host, or how one call is made: what is not set is as for all calls."""

    prefix: ClassVar[str] = "SWF_"

    timeout: Duration = timedelta(seconds=30)
    """The longest that one attempt may take, from connecting to the last byte of the answer."""
    headers: Annotated[Mapping[str, str], HEADERS, _CONFIDENTIAL] = Field(default_factory=dict, repr=False)
    """Sent along, unless the definition says another value."""
    tls: Tls = Tls()
    proxy: Annotated[Proxy | None, Variable(is_confidential=True, may_be_empty=True)] = Field(None, repr=False)
    """The URL of a proxy; an empty one is for none, whatever the environment says."""
    concurrency: Count | None = None
    """How many calls one worker makes at once; others wait."""
    rate: Annotated[Rate, RATE] | None = None
    """How often one worker calls; others wait."""
    max_response_bytes: Size = 2 * 1024 * 1024
    """The largest answer that is taken; the engine can carry no more than 2 MiB."""
    check_responses: bool = False
    """Whether answers must fit the schema that an OpenAPI document has for them."""
    local_calls: LocalCalls | None = None
    """Whether calls are made within the workflow task; `safe` is for requests by GET, HEAD or OPTIONS. Without, the
    definition decides."""
    retry_on_closed_connection: bool = True
    """Whether a request that may be repeated is sent again if a kept connection is closed before it is answered."""


class Options(HostOptions):
    """The settings of calls of one function, of one service, or of all calls."""

    base_url: Url | None = None
    """Where the service is; wins over the servers of its document."""
    operation: Operation | None = None
    """What a function does instead of what the definition says: that of a custom function."""
    shared_folder: Annotated[SharedFolder, SHARED_FOLDER] | None = None
    """Where the directories of calls stand that are given one: functions in containers."""

    @field_validator("tls")
    @classmethod
    def _verified(cls, tls: Tls) -> Tls:
        if not tls.verify:
            hint = "write it under `hosts`, for the one host that cannot prove who it is"
            raise validation_error("a server is left unverified by its host alone", "verify", hint=hint)
        return tls


def _by_environment_name(named: Mapping[str, Options]) -> dict[str, Options]:
    found: dict[str, Options] = {}
    for name, options in named.items():
        key = environment_name(name)
        if key in found:
            raise validation_error(f"another entry has this name, which variables write {key}", name)
        found[key] = options
    return found


class Settings(Section):
    """The operator's settings for calls. `read_settings` takes them from a file and the environment."""

    prefix: ClassVar[str] = "SWF_"
    document_lifetime: ClassVar[timedelta] = timedelta(minutes=5)
    """For how long a document fetched from a URL is used before it is fetched again."""

    calls: Options = Options()
    """What holds for all calls. Its limits are for all of them together."""
    functions: Annotated[Mapping[str, Options], AfterValidator(_by_environment_name), NO_VARIABLE] = Field(
        default_factory=dict
    )
    """The settings of functions, by their names as variables write them."""
    services: Annotated[Mapping[str, Options], AfterValidator(_by_environment_name), NO_VARIABLE] = Field(
        default_factory=dict
    )
    """The settings of services, whichever function calls them, by their names as variables write them: see `Callee`."""
    named: Mapping[str, Options] = Field(default_factory=dict, alias=_NAMED)
    """The settings in variables, by the name in the variable: of a function, of a service or of a host."""
    hosts: Annotated[Mapping[HostPattern, HostOptions], NO_VARIABLE] = Field(default_factory=dict)
    network: Network = Network(local=True)
    """Which hosts calls may reach. A worker is stricter than this default, see `read_settings`."""
    modules: Annotated[tuple[str, ...] | None, SPLIT, Variable("SWF_FUNCTION_MODULES", may_be_empty=True)] = None
    """The Python modules or packages whose functions `module:function` may name, beside those that are registered.

    None names no other. Where there is a list, installed packages that are not in it offer nothing.
    """
    local_call_types: Annotated[tuple[str, ...], SPLIT, Variable("SWF_TYPES_OF_LOCAL_CALLS")] = ()
    """The types of functions whose calls are made within the workflow task, whatever the definition says."""
    scripts: bool = False
    """Whether definitions may bring scripts."""
    max_connections: int = argument(100)
    resources: Resources = argument(Resources())
    """Where documents may be that others refer to, besides their own folder or host."""

    @field_validator("calls")
    @classmethod
    def _without_operation(cls, calls: Options) -> Options:
        if calls.operation is not None:
            hint = "write it under `functions`, for each function that it serves"
            raise validation_error("an operation is not that of all functions", "operation", hint=hint)
        return calls

    @field_validator("hosts")
    @classmethod
    def _verified_but_for_single_hosts(
        cls, hosts: Mapping[HostPattern, HostOptions]
    ) -> Mapping[HostPattern, HostOptions]:
        for pattern, options in hosts.items():
            if not (options.tls.verify or pattern.is_single):
                message = f"{str(pattern)!r} leaves more than one host unverified"
                raise validation_error(message, hint="write `verify: false` under the name of each host")
        return hosts

    @field_validator("services")
    @classmethod
    def _without_operation_of_services(cls, services: Mapping[str, Options]) -> Mapping[str, Options]:
        for name, options in services.items():
            if options.operation is not None:
                hint = "write it under `functions`, for each function that it serves"
                raise validation_error("a service has many operations", name, "operation", hint=hint)
        return services

    @classmethod
    def merged(cls, content: Any, env: Mapping[str, str], ending: str = "") -> Any:
        """Return *content* with what *env* says, also in variables that end in the name of what they are for."""
        found = super().merged(content, env, ending)
        for section in ("functions", "services"):
            written = found.get(section)
            if isinstance(written, dict):
                found[section] = {
                    name: Options.merged(options, env, f"_{environment_name(str(name))}")
                    for name, options in written.items()
                }
        if names := _names(env):
            found[_NAMED] = {name: Options.merged({}, env, f"_{name}") for name in names}
        return found

    @property
    def credentials(self) -> list[str]:
        """The credentials that are configured: in headers, and in the URLs of services and proxies."""
        found = [text for one in self._all for text in credentials.in_headers(one.headers)]
        return [*dict.fromkeys([*found, *(text for url in self.urls for text in credentials.in_url(url))])]

    def for_function(self, function: str) -> Options:
        """Return what is said of a function alone."""
        name = environment_name(function)
        return self.functions.get(name) or self.named.get(name, _NOTHING)

    def for_service(self, service: str) -> Options:
        """Return what is said of a service under one of its names."""
        name = environment_name(service)
        return self.services.get(name) or self.named.get(name, _NOTHING)

    def for_callee(self, callee: Callee) -> Options:
        """Return how *callee* is called, wherever it is: what is said of the function, else of the service."""
        if callee not in self._of_callees:
            _make_room(self._of_callees)
            services = (self.for_service(name) for name in callee.services)
            self._of_callees[callee] = merged(Options, self.for_function(callee.function), *services)
        return self._of_callees[callee]

    def base_url_for(self, callee: Callee) -> str | None:
        """Return the URL configured for *callee*, or else the one for all."""
        return self.for_callee(callee).base_url or self.calls.base_url

    def shared_folder_for(self, callee: Callee) -> SharedFolder | None:
        """Return the folder that is shared with *callee*, if one is."""
        return self.for_callee(callee).shared_folder or self.calls.shared_folder

    def for_host(self, host: str, port: int) -> HostOptions:
        """Return what is configured for a host alone: its own entry first, then those with wildcards, longest first."""
        host = host.strip("[]").lower()
        patterns = sorted((each for each in self.hosts if each.has(host, port)), key=_how_exact, reverse=True)
        in_variables = (self.named.get(environment_name(name), _NOTHING) for name in (f"{host}_{port}", host))
        return merged(HostOptions, *in_variables, *(self.hosts[each] for each in patterns))

    def options_for(self, callee: Callee | None, host: str, port: int = 443) -> HostOptions:
        """Return how *callee* is called at *host*: what is said of it, else of the host, else of all."""
        key = callee, host, port
        if key not in self._decided:
            _make_room(self._decided)
            own = _NOTHING if callee is None else self.for_callee(callee)
            self._decided[key] = merged(HostOptions, own, self.for_host(host, port), self.calls)
        return self._decided[key]

    def reaching(self, urls: Iterable[str]) -> Self:
        """Return these settings with the servers of *urls* allowed: one that the operator names is to be reached."""
        named = tuple(map(_server_of, urls))
        return self.replace(network=self.network.replace(named=(*self.network.named, *named)))

    @property
    def chooses_local_calls(self) -> bool:
        """Whether calls may be local for which the definition does not ask."""
        return bool(self.local_call_types) or any(one.local_calls for one in self._all)

    @cached_property
    def hosts_decide_local_calls(self) -> bool:
        """Whether it depends on the host whether a call is local."""
        return any(one.local_calls is not None for one in (*self.named.values(), *self.hosts.values()))

    @property
    def urls(self) -> list[str]:
        options = [self.calls, *self.functions.values(), *self.services.values(), *self.named.values()]
        urls = [url for one in options for url in (one.base_url, *_URL_OF_OPERATION.findall(one.operation or ""))]
        return [url for url in (*urls, *(one.proxy for one in self._all)) if url]

    @property
    def _all(self) -> tuple[HostOptions, ...]:
        scopes = (self.functions, self.services, self.named, self.hosts)
        return (self.calls, *(options for scope in scopes for options in scope.values()))

    @cached_property
    def _decided(self) -> dict[tuple[Callee | None, str, int], HostOptions]:
        return {}

    @cached_property
    def _of_callees(self) -> dict[Callee, Options]:
        return {}


_MAX_DECIDED = 1024
_NOTHING = Options()


def read_settings(
    env: Mapping[str, str], *, local: bool = False, file: Path | None = None, resources: Resources | None = None
) -> Settings:
    """Return the settings that the configuration *file* (else the one that `SWF_CONFIG` names) and *env* give.

    *resources* is what documents may refer to, if that is not what *env* says.

    *local* is for trying definitions out on this machine: then it may be called itself, and definitions may
    bring scripts. Raises UsageError for what cannot be read, naming the place or the variable.
    """
    settings = Settings.read(env, file=file, arguments={"resources": resources or Resources.from_environment(env)})
    if local and "scripts" not in settings.model_fields_set:
        settings = settings.replace(scripts=True)
    return settings.replace(network=settings.network.replace(local=local)).reaching(settings.urls)


_Options = TypeVar("_Options", bound=HostOptions)


def merged(kind: type[_Options], *options: HostOptions) -> _Options:
    """Return *options* as one of *kind*, each where those before it have nothing; headers of all."""
    found: dict[str, Any] = {}
    headers: dict[str, str] = {}
    for one in options:
        found = {name: getattr(one, name) for name in kind.model_fields.keys() & one.model_fields_set} | found
        given = {name.lower() for name in headers}
        headers = {name: value for name, value in one.headers.items() if name.lower() not in given} | headers
    return kind(**found | ({"headers": headers} if headers else {}))


def _make_room(kept: dict[Any, Any]) -> None:
    if len(kept) >= _MAX_DECIDED:
        kept.clear()


def _names(env: Mapping[str, str]) -> list[str]:
    """Return the functions, services and hosts of which something is said, as variables call them."""
    variables = (variable for section in (Options, Tls) for _, variable, _ in section.settings())
    stems = [f"{variable.name}_" for variable in variables if variable is not None]
    found = {key.removeprefix(stem) for key in env for stem in stems if key.startswith(stem)}
    return sorted(name for name in found if name)


def _server_of(url: str) -> Pattern:
    import httpx  # noqa: PLC0415 - heavy, and most settings name no server

    return read_pattern(httpx.URL(url).netloc.decode("ascii").rpartition("@")[2])


def _how_exact(pattern: Pattern) -> tuple[bool, int, bool]:
    return not pattern.is_broad, len(pattern.name), pattern.port is not None
