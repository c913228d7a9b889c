"""The settings of calls: for all, by function, by service and by host; and of the processes that they may start."""

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
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
    WORD,
    Count,
    Duration,
    File,
    Name,
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


class ScriptLanguage(StrEnum):
    """A language of scripts."""

    JS = "js"
    PYTHON = "python"


class KubernetesRunner(Section):
    """The settings of containers that run as jobs of Kubernetes."""

    server: Url
    """The URL of the Kubernetes API."""
    namespace: Name = "default"
    """The namespace of the jobs."""
    token_file: File = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # noqa: S105 - its place
    """The file with the token of the worker's service account; it is read for each container."""


class ContainerRunner(Section):
    """The settings of containers that definitions start."""

    command: Name | None = None
    """The command line of a container engine: `docker`, `podman`, or a path."""
    kubernetes: KubernetesRunner | None = None
    """The Kubernetes cluster in which they run instead."""
    images: tuple[str, ...] | None = None
    """The prefixes that names of images must have one of; without any, every image may be run."""
    volumes: tuple[str, ...] = ()
    """The folders of the host, or named volumes, that containers may mount, with everything below them."""
    options: tuple[str, ...] = ()
    """Further options of its `run`, such as limits of memory and network."""


class Runners(Section):
    """The processes and containers that definitions may start on a worker."""

    prefix: ClassVar[str] = "SWF_RUNNERS_"

    shell: bool = False
    """Whether definitions may run shell commands."""
    script: Annotated[tuple[Annotated[ScriptLanguage, WORD], ...], SPLIT] = ()
    """The languages in which definitions may contain scripts."""
    node: Name | None = None
    """The command of Node.js for scripts in JavaScript; without, they run in QuickJS."""
    mcp: Annotated[tuple[str, ...], SPLIT] = ()
    """The commands of MCP servers that may be started, each with the arguments that it must begin with."""
    container: Annotated[ContainerRunner, NO_VARIABLE] = ContainerRunner()
    """The containers that may be started."""
    timeout: Duration = timedelta(minutes=10)
    """The longest that a process or a container may run, unless the function has a `timeout` of its own."""
    max_output_bytes: Size = 1024 * 1024
    """The maximum size of what a process writes to its standard output, and to its standard error."""


_NAMED = f"{NO_KEY}named"
_CONFIDENTIAL = Variable(is_confidential=True)
_URL_OF_OPERATION = re.compile(r"rest:(?:[^:/]*:)?\s*(https?://[^/?#{}\s]+)(?=[/?#]|\s*$)", re.IGNORECASE)
"""The scheme and the host of an operation, unless they depend on the arguments of calls."""


class HostOptions(Section):
    """The settings of calls to one host, or of one call; unset ones default to those of all calls."""

    prefix: ClassVar[str] = "SWF_"

    timeout: Duration = timedelta(seconds=30)
    """The longest that one attempt may take, from connecting to the last byte of the answer."""
    headers: Annotated[Mapping[str, str], HEADERS, _CONFIDENTIAL] = Field(default_factory=dict, repr=False)
    """Headers of each request, unless the definition sets another value."""
    tls: Tls = Tls()
    proxy: Annotated[Proxy | None, Variable(is_confidential=True, may_be_empty=True)] = Field(None, repr=False)
    """The URL of a proxy; if it is empty, none is used, whatever the environment says."""
    concurrency: Count | None = None
    """The maximum number of concurrent calls of one worker; others wait."""
    rate: Annotated[Rate, RATE] | None = None
    """The maximum rate of calls of one worker; others wait."""
    max_response_bytes: Size = 2 * 1024 * 1024
    """The maximum size of a response; Temporal can carry no more than 2 MiB."""
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
    """The URL of the service; overrides the servers of its document."""
    operation: Operation | None = None
    """The operation of a custom function that replaces the one in the definition."""
    shared_folder: Annotated[SharedFolder, SHARED_FOLDER] | None = None
    """The folder for the working directories of functions in containers."""

    @field_validator("tls")
    @classmethod
    def _verified(cls, tls: Tls) -> Tls:
        if not tls.verify:
            hint = "write it under `hosts`, for the one host whose certificate cannot be verified"
            raise validation_error("verification can be turned off for single hosts only", "verify", hint=hint)
        return tls


def _by_environment_name(named: Mapping[str, Options]) -> dict[str, Options]:
    found: dict[str, Options] = {}
    for name, options in named.items():
        key = environment_name(name)
        if key in found:
            raise validation_error(f"another entry has the same name in variables, {key}", name)
        found[key] = options
    return found


class CallSettings(Section):
    """The operator's settings for calls."""

    prefix: ClassVar[str] = "SWF_"
    document_lifetime: ClassVar[timedelta] = timedelta(minutes=5)
    """The time for which a document fetched from a URL is used before it is fetched again."""

    calls: Options = Options()
    """The settings of all calls. Its limits apply to all of them together."""
    functions: Annotated[Mapping[str, Options], AfterValidator(_by_environment_name), NO_VARIABLE] = Field(
        default_factory=dict
    )
    """The settings of functions, by the forms of their names in variables."""
    services: Annotated[Mapping[str, Options], AfterValidator(_by_environment_name), NO_VARIABLE] = Field(
        default_factory=dict
    )
    """The settings of services, whichever function calls them, by the forms of their names in variables: see `Callee`.
    """
    named: Mapping[str, Options] = Field(default_factory=dict, alias=_NAMED)
    """The settings in variables, by the name in the variable: of a function, of a service or of a host."""
    hosts: Annotated[Mapping[HostPattern, HostOptions], NO_VARIABLE] = Field(default_factory=dict)
    network: Network = Network(local=True)
    """The hosts that calls may reach. A worker is stricter than this default: it does not call this machine."""
    modules: Annotated[tuple[str, ...] | None, SPLIT, Variable("SWF_FUNCTION_MODULES", may_be_empty=True)] = None
    """The Python modules or packages whose functions `module:function` may name, besides registered ones.

    None means no others. If there is a list, installed packages that are not in it are ignored.
    """
    local_call_types: Annotated[tuple[str, ...], SPLIT, Variable("SWF_TYPES_OF_LOCAL_CALLS")] = ()
    """The types of functions whose calls are made within the workflow task, whatever the definition says."""
    scripts: bool = False
    """Whether definitions may contain scripts."""
    runners: Runners = Runners()
    """The processes and containers that definitions may start."""
    max_connections: int = argument(100)
    resources: Resources = argument(Resources())
    """The places of documents that others may refer to, besides their own folder or host."""

    @field_validator("calls")
    @classmethod
    def _without_operation(cls, calls: Options) -> Options:
        if calls.operation is not None:
            hint = "write it under `functions`, for each function that it serves"
            raise validation_error("an operation cannot apply to all functions", "operation", hint=hint)
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
        """Return *content* merged with *env*, including variables that end in the name of a function or service."""
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
        """Return the settings of a function alone."""
        name = environment_name(function)
        return self.functions.get(name) or self.named.get(name, _NOTHING)

    def for_service(self, service: str) -> Options:
        """Return the settings of a service under one of its names."""
        name = environment_name(service)
        return self.services.get(name) or self.named.get(name, _NOTHING)

    def for_callee(self, callee: Callee) -> Options:
        """Return the settings of *callee*, wherever it is: those of the function, else of the service."""
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
        """Return the settings of a host alone: its own entry first, then those with wildcards, longest first."""
        host = host.strip("[]").lower()
        patterns = sorted((each for each in self.hosts if each.has(host, port)), key=_how_exact, reverse=True)
        in_variables = (self.named.get(environment_name(name), _NOTHING) for name in (f"{host}_{port}", host))
        return merged(HostOptions, *in_variables, *(self.hosts[each] for each in patterns))

    def options_for(self, callee: Callee | None, host: str, port: int = 443) -> HostOptions:
        """Return the settings of calls to *callee* at *host*: its own, else those of the host, else of all."""
        key = callee, host, port
        if key not in self._decided:
            _make_room(self._decided)
            own = _NOTHING if callee is None else self.for_callee(callee)
            self._decided[key] = merged(HostOptions, own, self.for_host(host, port), self.calls)
        return self._decided[key]

    def reaching(self, urls: Iterable[str]) -> Self:
        """Return these settings with the servers of *urls* allowed: servers that the operator names can be called."""
        named = tuple(map(_server_of, urls))
        return self.replace(network=self.network.replace(named=(*self.network.named, *named)))

    @property
    def chooses_local_calls(self) -> bool:
        """Whether calls may be local although the definition does not ask for it."""
        return bool(self.local_call_types) or any(one.local_calls for one in self._all)

    @cached_property
    def hosts_decide_local_calls(self) -> bool:
        """Whether it depends on the host whether a call is local."""
        return any(one.local_calls is not None for one in (*self.named.values(), *self.hosts.values()))

    @property
    def urls(self) -> list[str]:
        """The URLs of services and proxies that are configured."""
        options = [self.calls, *self.functions.values(), *self.services.values(), *self.named.values()]
        urls = [url for one in options for url in (one.base_url, *_URL_OF_OPERATION.findall(one.operation or ""))]
        cluster = self.runners.container.kubernetes
        urls += [cluster.server] if cluster else []
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


Settings = CallSettings
"""Its name within the package, where these are the settings of calls."""

_MAX_DECIDED = 1024
_NOTHING = Options()


def read_settings(
    env: Mapping[str, str], *, local: bool = False, file: Path | None = None, resources: Resources | None = None
) -> Settings:
    """Return the settings from the configuration *file* (else the one that `SWF_CONFIG` names) and *env*.

    *resources* overrides what *env* says about documents.

    *local* is for trying out definitions on this machine: then calls to it are allowed, and definitions may contain
    scripts. Raises UsageError for invalid settings, with the place or the variable.
    """
    settings = Settings.read(env, file=file, arguments={"resources": resources or Resources.from_environment(env)})
    if local and "scripts" not in settings.model_fields_set:
        settings = settings.replace(scripts=True)
    return settings.replace(network=settings.network.replace(local=local)).reaching(settings.urls)


_Options = TypeVar("_Options", bound=HostOptions)


def merged(kind: type[_Options], *options: HostOptions) -> _Options:
    """Merge *options* into one of *kind*: earlier ones take precedence; the headers of all are combined."""
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
    """Return the functions, services and hosts with settings in variables, by their names there."""
    variables = (variable for section in (Options, Tls) for _, variable, _ in section.settings())
    stems = [f"{variable.name}_" for variable in variables if variable is not None]
    found = {key.removeprefix(stem) for key in env for stem in stems if key.startswith(stem)}
    return sorted(name for name in found if name)


def _server_of(url: str) -> Pattern:
    import httpx  # noqa: PLC0415 - heavy, and most settings name no server

    return read_pattern(httpx.URL(url).netloc.decode("ascii").rpartition("@")[2])


def _how_exact(pattern: Pattern) -> tuple[bool, int, bool]:
    return not pattern.is_broad, len(pattern.name), pattern.port is not None
