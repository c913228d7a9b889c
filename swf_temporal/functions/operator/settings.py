"""The settings of calls: for all, by function and by host."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from swf_temporal.fetching.resources import Resources
from swf_temporal.functions.operator import credentials
from swf_temporal.functions.operator.network import Network, Pattern
from swf_temporal.functions.operator.options import Effective, Options, SharedFolder, environment_name
from swf_temporal.functions.operator.tls import Tls

__all__ = ["Settings", "environment_name"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The operator's settings for calls. `configuration.read_settings` takes them from a file and the environment."""

    base_urls: Mapping[str, str] = field(default_factory=dict)
    """Where services are, by the name of a function or of its document; wins over the document's servers."""
    base_url: str | None = None
    """Where services are that `base_urls` does not name; wins over the document's servers too."""
    timeout: timedelta = timedelta(seconds=30)
    """The longest that one attempt may take, where nothing else is said."""
    max_response_bytes: int = 2 * 1024 * 1024
    """The largest answer that is taken, where nothing else is said; the engine can carry no more than 2 MiB."""
    max_connections: int = 100
    document_lifetime: timedelta = timedelta(minutes=5)
    """For how long a document fetched from a URL is used before it is fetched again."""
    modules: tuple[str, ...] | None = None
    """The Python modules or packages whose functions `module:function` may name, beside those that are registered.

    None names no other. Where there is a list, installed packages that are not in it offer nothing.
    """
    scripts: bool = False
    """Whether definitions may bring scripts."""
    network: Network = field(default_factory=lambda: Network(local=True))
    """Which hosts calls may reach. A worker is stricter than this default, see `read_settings`."""
    calls: Options = field(default_factory=Options)
    """What holds for all calls. Its limits are for all of them together."""
    named: Mapping[str, Options] = field(default_factory=dict)
    """What holds for a function, by its name as variables write it; a host may be named so as well."""
    hosts: Mapping[Pattern, Options] = field(default_factory=dict)
    resources: Resources = field(default_factory=Resources)
    """Where documents may be that others refer to, besides their own folder or host."""
    _decided: dict[tuple[str | None, str, int], Effective] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def credentials(self) -> list[str]:
        """The credentials that are configured: in headers, and in the URLs of services and proxies."""
        options = [self.calls, *self.named.values(), *self.hosts.values()]
        urls = [*self.base_urls.values(), self.base_url, *(one.proxy for one in options)]
        found = [text for one in options for text in credentials.in_headers(one.headers)]
        return [*dict.fromkeys([*found, *(text for url in urls if url for text in credentials.in_url(url))])]

    def base_url_for(self, names: Iterable[str]) -> str | None:
        """Return the URL configured for the first of *names* that has one, or else the one for all."""
        if not self.base_urls:
            return self.base_url
        by_name = {environment_name(name): url for name, url in self.base_urls.items()}
        for name in names:
            if url := by_name.get(environment_name(name)):
                return url
        return self.base_url

    def for_function(self, function: str) -> Options:
        """Return what is configured for a function alone."""
        return self.named.get(environment_name(function), _NOTHING)

    def name_of(self, names: Iterable[str]) -> str:
        """Return the first of *names* under which something is configured, or else the first."""
        names = list(names)
        return next((name for name in names if environment_name(name) in self.named), names[0])

    def shared_folder_for(self, names: Iterable[str]) -> SharedFolder | None:
        """Return the folder that is shared with a function that has *names*, if one is: the first has precedence."""
        return next(filter(None, (self.for_function(name).shared_folder for name in names)), self.calls.shared_folder)

    def for_host(self, host: str, port: int) -> Options:
        """Return what is configured for a host alone: its own entry first, then those with wildcards, longest first."""
        host = host.strip("[]").lower()
        named = self.named.get(environment_name(f"{host}_{port}"), _NOTHING)
        named = named.merged_over(self.named.get(environment_name(host), _NOTHING))
        entries = [pattern for pattern in self.hosts if pattern.has(host, port)]
        for pattern in sorted(entries, key=_how_exact, reverse=True):
            named = named.merged_over(self.hosts[pattern])
        return named

    def options_for(self, function: str | None, host: str, port: int = 443) -> Effective:
        """Return how *function* is called at *host*: what is said of the function, else of the host, else of all."""
        key = function, host, port
        if key not in self._decided:
            if len(self._decided) >= _MAX_DECIDED:
                self._decided.clear()
            self._decided[key] = self._decide(*key)
        return self._decided[key]

    def _decide(self, function: str | None, host: str, port: int) -> Effective:
        own = _NOTHING if function is None else self.for_function(function)
        options = own.merged_over(self.for_host(host, port)).merged_over(self.calls)
        return Effective(
            timeout=options.timeout or self.timeout,
            max_response_bytes=options.max_response_bytes or self.max_response_bytes,
            tls=options.tls or _USUAL,
            headers=options.headers,
            proxy=options.proxy,
            check_responses=bool(options.check_responses),
            retry_on_closed_connection=options.retry_on_closed_connection is not False,
        )


_MAX_DECIDED = 1024
_NOTHING = Options()
_USUAL = Tls()


def _how_exact(pattern: Pattern) -> tuple[bool, int, bool]:
    return not pattern.is_broad, len(pattern.name), pattern.port is not None
