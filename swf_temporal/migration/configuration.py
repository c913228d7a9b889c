"""The configuration made from the properties of a SonataFlow project: addresses of services, and events.

A property that is expressed by other means here, or not at all, has a finding.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from swf_temporal.base.function_types import environment_name
from swf_temporal.base.grammar import listed
from swf_temporal.base.strict_json import show_json
from swf_temporal.migration.channels import PEM, Channels
from swf_temporal.migration.owners import Called, Found, Owners
from swf_temporal.migration.report import Finding, Kind, Task
from swf_temporal.text.properties import (
    BY_TITLE,
    CREDENTIAL,
    CREDENTIAL_FIELDS,
    STRATEGY,
    Owner,
    PropertiesText,
    has_credential,
    is_secret,
    of_production,
    other_profiles,
    read_properties,
    resolved,
    secret_of,
)

_UNNEEDED: Final = "Temporal keeps instances and timers: remove it"
_BUILT: Final = "it is about building, trying or deploying an application: remove it"
_TOLD: Final[tuple[tuple[str, Kind, str], ...]] = (
    (r"quarkus\.http\.port", "differs", "swf gateway has the option --port"),
    (r"quarkus\.http\.host", "differs", "swf gateway has the option --host"),
    (
        r"quarkus\.http\.(?:ssl|insecure-requests|tls-configuration-name).*", "by hand",
        "swf gateway serves HTTPS with the options --tls-cert and --tls-key, which name PEM files",
    ),
    (r"quarkus\.http\.cors.*", "by hand", "list the origins of web pages under 'origins' of 'gateway'"),
    (
        r"quarkus\.(?:http\.auth|http\.policy|oidc|security|smallrye-jwt|keycloak)\b(?!-client).*", "by hand",
        "swf gateway authenticates callers by its own keys and tokens: see the page on the gateway",
    ),
    (r"quarkus\.http\..*", "differs", "the page on the gateway has its settings"),
    (
        r"quarkus\.oidc-client\.(?:.+\.)?(?:early|connection|refresh-token|access-token|max-pool|follow)[\w.-]*",
        "differs",
        "a token is kept until shortly before it expires",
    ),
    (
        r"quarkus\.oidc-client\.(?:.+\.)?tls\..*", "by hand",
        "write PEM files as 'ca', 'cert' and 'key' of 'tls' under 'hosts' and the name of the host that gives tokens",
    ),
    (
        r"quarkus\.oidc-client\.(?:.+\.)?proxy\..*", "by hand",
        "write 'proxy' under 'hosts' and the name of the host that gives tokens",
    ),
    (
        r"quarkus\.oidc-client\..*", "by hand",
        "write an auth of the scheme oidc or oauth2, and its name as 'authRef' of the functions that need its tokens",
    ),
    (
        r"quarkus\.openapi-generator\.codegen\..*config-key", "by hand",
        "give functions of this document 'configuredAs' with the key, and write its settings under 'services'",
    ),
    (
        r"quarkus\.openapi-generator\.(?:codegen\..*|[^.]*(?:spec|model|include|exclude|validate)[^.]*)", "differs",
        "documents are read as they are, and nothing is generated",
    ),
    (r"quarkus\.rest-client\..*connection.*", "differs", "'concurrency' under 'services' limits calls"),
    (r"quarkus\.rest-client\..*redirects", "differs", "redirects are followed, each checked as a separate call"),
    (r"quarkus\.rest-client\..*(?:log|scope|provider|register|multipart).*", "differs", "it is not needed here"),
    (r"(?:quarkus\.(?:rest-client|openapi-generator)|kogito\.sw)\..*", "by hand", "see the page on configuration"),
    (r"kogito\.grpc\.stream\.timeout", "by hand", "write 'timeout' under 'functions' for those that call a stream"),
    (r"quarkus\.grpc\.(?:server|codegen).*", "differs", "nothing is served by gRPC, and nothing is generated"),
    (r"(?:quarkus|kogito)\.grpc\..*", "by hand", "see the page on gRPC: baseUrl, tls and timeout under 'services'"),
    (r"quarkus\.tls\..*", "by hand", "write PEM files as 'ca', 'cert' and 'key' of 'tls' under 'calls' or 'hosts'"),
    (
        r"kogito\.(?:data-?index|jobs?-?service|persistence|service|events|apps|trusty|messaging|quarkus\.persistence)\b.*",
        "differs", _UNNEEDED,
    ),
    (r"quarkus\.(?:datasource|flyway|liquibase|hibernate|infinispan|mongodb|redis|kogito)\b.*", "differs", _UNNEEDED),
    (r"(?:kie|org\.kie|org\.kogito)\.(?:flyway|persistence|kogito\.persistence)\b.*", "differs", _UNNEEDED),
    (r"kogito\.(?:usertasks?|decisions?|rules|processes|workflow|devservices|security|auth)\b.*", "differs", _UNNEEDED),
    (
        r"(?:[\w.$]+/)*(?:Retry|Timeout|CircuitBreaker|Bulkhead|Fallback)/\w+|quarkus\.fault-tolerance\..*|mp\.fault.*",
        "by hand", "write 'retries' and 'retryRef', or 'timeouts', in the definitions that call it",
    ),
    (r"mp\.openapi\..*|mp\.health\..*|mp\.metrics\..*|smallrye\.(?:config|health|openapi)\b.*", "differs", _BUILT),
    (
        r"org\.eclipse\.microprofile\.rest\.client\.propagateHeaders", "by hand",
        "give what the headers say in the input, and write 'headers' for what does not change",
    ),
    (r"quarkus\.(?:log|console)\b.*", "differs", "'logLevel' and 'logFormat' of 'worker' say what is logged"),
    (
        r"quarkus\.(?:micrometer|otel|opentelemetry|smallrye-health|smallrye-metrics|metrics)\b.*", "differs",
        "swf worker has the options --metrics and --health; the page on operating has traces",
    ),
    (r"(?:quarkus|kogito\.codegen|maven|project)\..*", "differs", _BUILT),
    (
        r"(?:kogito|org\.kogito|kie|org\.kie|mp|smallrye|kafka|camel|knative)\b.*", "by hand",
        "see the page on configuration",
    ),
)  # fmt: skip
_UNVERIFIED: Final = "hosts:\n  NAME: {tls: {verify: false}}"
_KAFKA: Final = "export KAFKA_USERNAME='…' KAFKA_PASSWORD='…'"
_STARTS: Final[tuple[tuple[str, str], ...]] = (
    (r"quarkus\.http\.(?:ssl|insecure-requests|tls).*", "swf gateway --tls-cert tls.crt --tls-key tls.key"),
    (r"quarkus\.http\.cors.*", "gateway:\n  origins: [https://ORIGIN]"),
    (r".*(?:trust-all|verify-host|hostname-verif\w+.*|endpoint\.identification\.algorithm)", _UNVERIFIED),
    (r"(?:kafka|mp\.messaging)\..*sasl.*", _KAFKA),
    (r"(?:.*[./])?(?:trust-?store|key-?store|ssl|tls)\b.*", "hosts:\n  NAME: {tls: {ca: ca.pem}}"),
    (
        r'quarkus\.oidc-client\."?(?!credentials|grant)([\w-]+)"?\.[\w.-]+',
        "auth:\n  - {{name: {0}, scheme: oidc, properties: {{authority: 'https://HOST', grant: client_credentials}}}}",
    ),
    (r"(?:.*/)?Retry/\w+|quarkus\.fault-tolerance\..*", "retries:\n  - {name: again, delay: PT1S, maxAttempts: 3}"),
    (r"quarkus\.rest-client\..*proxy-(?:user|password)", "export SWF_PROXY=http://USER:PASSWORD@HOST:PORT"),
    (
        r"kogito\.sw\.functions\.(\w+)\.(?:username|password)",
        "auth:\n  - {{name: {0}, scheme: basic, properties: '${{ $SECRETS.{0} }}'}}",
    ),
    (
        r"kogito\.sw\.functions\.(\w+)\.(?:access_token|api_key)",
        "auth:\n  - {{name: {0}, scheme: bearer, properties: {{token: '${{ $SECRETS.{0}.token }}'}}}}",
    ),
    (r"mp\.messaging\.incoming\..*", "events:\n  consumers:\n    - {name: NAME, from: amqp://HOST, queue: QUEUE}"),
    (r"mp\.messaging\.outgoing\..*", "events:\n  sinks:\n    - {name: NAME, types: TYPE, to: https://HOST}"),
    (
        r"quarkus\.(?:rest-client|openapi-generator|grpc)\..*|kogito\.(?:sw|grpc)\..*",
        "services:\n  NAME: {timeout: PT30S}",
    ),
)
"""The first lines of what to write or run instead of a property, with the names in it."""
_OWN: Final = "if a definition or a method in Java asks for it, give it in the input, as a constant or as a secret"


def counterpart(key: str) -> tuple[Kind, str, str]:
    """Return the finding for the property *key*, which is not written: its kind, message and hint."""
    for form, kind, hint in _TOLD:
        if re.fullmatch(form, key):
            return kind, f"{key} has no {'effect' if kind == 'differs' else 'counterpart'}", hint
    return "differs", f"{key} is a property of the application's own", _OWN


SCOPES: Final = ("calls", "functions", "services")
"""The sections of the configuration that contain settings of owners."""
Option: TypeAlias = tuple[str, ...]
"""The path of a setting below its owner: `("baseUrl",)`, `("tls", "ca")`."""
_SERVICE: Final = re.compile(
    r'(?:quarkus\.rest-client|kogito\.sw\.openapi)\.(?:"([^"]+)"|([^.]+))\.(headers\..+|[\w.-]+)|([^/]+)/mp-rest/(\w+)'
)
_ALL: Final = re.compile(r"quarkus\.rest-client\.([\w-]+)")
_OLDER: Final = re.compile(r"org\.kogito\.openapi\.client\.([^.]+)\.(\w+)")
"""A property of the oldest releases for the client of a document."""
_FUNCTION: Final = re.compile(r"kogito\.sw\.functions\.([^.]+)\.(\w+)")
_CLIENT: Final = re.compile(r'quarkus\.grpc\.clients\.(?:"([^"]+)"|([^.]+))\.([\w.-]+)')
_TLS: Final = re.compile(
    r'quarkus\.tls\.(?:(?:"([^"]+)"|(?!trust-|key-store)([\w-]+))\.)?((?:trust-|key-store|hostname-).*)'
)
_UNKNOWN: Final = re.compile(r"\$\{([^{}:]+)[^{}]*\}")
_MP_NAMES: Final = {"connectTimeout": "connect-timeout", "readTimeout": "read-timeout", "trustStore": "trust-store"}
"""The newer names of properties in the older form, `KEY/mp-rest/…`."""
_TIMEOUTS: Final = {"connect-timeout": 0, "read-timeout": 30_000}
"""The parts of a timeout, and their defaults in milliseconds."""
_ADDRESSES: Final = {"url": "baseUrl", "uri": "baseUrl", "proxy-address": "proxy"}
_PROXIES: Final = {
    "proxy-user": "write USER:PASSWORD@ into the URL in SWF_PROXY, or in SWF_PROXY_SERVICE for one service",
    "proxy-password": "write USER:PASSWORD@ into the URL in SWF_PROXY, or in SWF_PROXY_SERVICE for one service",
    "non-proxy-hosts": "write 'proxy: \"\"' under 'hosts' and the name of each host",
}
_VERIFIED: Final = "write 'tls: {verify: false}' under 'hosts' and the name of that one host"


@dataclass(frozen=True, slots=True)
class Said:
    """A setting in one file of properties."""

    owner: Owner
    option: Option
    value: Any
    key: str
    """The property."""
    line: int | None
    file: str


@dataclass(slots=True)
class Configuration:
    """The configuration for the worker, the gateway and the consumers."""

    settings: dict[str, Any] = field(default_factory=dict)
    """The configuration file."""
    secrets: dict[tuple[str, ...], str] = field(default_factory=dict)
    """The values of secrets by path: a name, and fields. They are not written."""
    findings: list[Finding] = field(default_factory=list)
    entangled: frozenset[str] = frozenset()
    """Applications whose services have the names of their applications before their own."""
    said: list[Said] = field(default_factory=list)
    """The settings of owners, with their origins."""


def configuration(
    file: PropertiesText,
    functions: list[Called],
    taken: Collection[str] = (),
    everybody: Iterable[Called] = (),
    secrets: Mapping[str, Collection[tuple[str, ...]]] = MappingProxyType({}),
) -> Configuration:
    """Return the configuration for *functions* from the properties in *file*, except those *taken* by something else.

    The same worker serves *everybody*, the functions of all definitions. *secrets* has the paths of those that are
    given to functions, by the properties that they were.
    """
    return _Reading(file, functions, taken, everybody, secrets).configuration()


class _Reading:
    def __init__(
        self,
        file: PropertiesText,
        functions: list[Called],
        taken: Collection[str],
        everybody: Iterable[Called],
        secrets: Mapping[str, Collection[tuple[str, ...]]],
    ) -> None:
        self._file = file
        self._written = read_properties(file.text)
        self._lines = file.lines()
        self._properties = of_production(self._written)
        self._used = {*taken, *(name for value in self._properties.values() for name in _UNKNOWN.findall(value))}
        self._owners = Owners(functions, self._properties, everybody)
        self._secrets = secrets
        self._given: list[tuple[str, Finding]] = []
        """Findings about secrets, each with the name of the secret."""
        self._made = Configuration()
        self._said: dict[tuple[tuple[str, str], Option], Said] = {}
        self._timeouts: dict[Owner, dict[str, tuple[int, str]]] = {}
        """Timeouts in milliseconds, with their properties."""
        self._general: dict[str, tuple[int, str]] = {}
        """Settings of all clients."""
        self._split: set[tuple[tuple[str, str], Option]] = set()
        """Settings for which several properties have different values."""

    def configuration(self) -> Configuration:
        channels = Channels(self._properties, self._made.settings, self._find)
        readers: tuple[tuple[re.Pattern[str], Callable[..., bool]], ...] = (
            (CREDENTIAL, self._scheme),
            (STRATEGY, self._strategy),
            (_SERVICE, self._service),
            (_ALL, self._all_services),
            (_OLDER, self._older),
            (_FUNCTION, self._function),
            (_CLIENT, self._client),
            (_TLS, self._tls),
        )
        # What is said of all clients, or in an older way, does not replace what is said of one.
        for key in sorted(self._properties, key=lambda one: (_ALL.fullmatch(one) or _OLDER.fullmatch(one)) is not None):
            value = resolved(self._properties[key], self._properties)
            matched = next(((read, found) for form, read in readers if (found := form.fullmatch(key))), None)
            if (matched is not None and matched[0](key, value, *matched[1].groups())) or channels.take(key, value):
                if CREDENTIAL.fullmatch(key) is None:
                    self._check(key, value)
            elif key in self._secrets:
                self._secret(key, value)
            elif key not in self._used:
                self._find(*_told(key))
        channels.write()
        self._write_timeouts()
        self._made.said = [one for place, one in self._said.items() if place not in self._split]
        for one in self._made.said:
            write(self._made.settings, one)
        for profile, key in other_profiles(self._written):
            self._find("differs", key, f"what applies only to the profile {profile!r} is not written", None)
        secrets: dict[str, Any] = {}
        for path in self._made.secrets:
            put_secret(secrets, path)
        self._made.findings += (replace(one, start=secret_start(name, secrets[name])) for name, one in self._given)
        self._made.findings.sort(key=lambda one: one.line or 0)
        return self._made

    def _check(self, key: str, value: str) -> None:
        """Add a finding for a value with a variable that is only known where the application runs."""
        names = dict.fromkeys(_UNKNOWN.findall(value))
        if names:
            hint = "write the value that it has there into swf.yaml"
            are = "is" if len(names) == 1 else "are"
            message = f"{key} names {listed([*names])}, which {are} not among the properties"
            start = "\n".join(f"sed -i 's|${{{one}[^}}]*}}|…|' swf.yaml" for one in names)
            self._made.findings.append(replace(self._finding("by hand", key, message, hint), start=start))

    def _strategy(self, key: str, _: str) -> bool:
        if self._owners.strategy == BY_TITLE:
            hint = "write what is said by titles under 'services' and the names of the files of the documents"
            self._find("by hand", key, f"{key}: services are named by their documents", hint)
        else:
            self._find("rewritten", key, f"{key} is how the services in swf.yaml are named", None)
        return True

    def _service(
        self, key: str, value: str, quoted: str, name: str, option: str, older: str, older_option: str
    ) -> bool:
        option = option or _MP_NAMES.get(older_option, older_option)
        if not self._is_of_service(option, value):
            return False
        found = self._owners.of_service(quoted or name or older)
        return not self._has_owners(found, key) or self._set(list(found.owners), key, option, value)

    def _has_owners(self, found: Found, key: str) -> bool:
        """Return True if a property belongs to something that has settings here; otherwise, add a finding."""
        if found.reason is not None:
            self._made.entangled |= found.entangled
            self._find("by hand", key, f"{key} is not written: {found.reason}", found.hint)
        elif not found.owners:
            self._find("differs", key, f"{key}: no function calls this service", "remove it")
        return bool(found.owners)

    def _all_services(self, key: str, value: str, option: str) -> bool:
        if option in ("url", "uri") or not self._is_of_service(option, value):
            return False
        found = self._owners.of_all()
        if not self._has_owners(found, key):
            return True
        if found.others:
            message = f"{key} holds for calls of {', '.join(map(repr, found.others))}, too"
            self._find("differs", key, message, "write what these need under 'functions' and their names")
        return self._set(list(found.owners), key, option, value, is_general=True)

    def _older(self, key: str, value: str, name: str, option: str) -> bool:
        """Write where a service is, which is said in the way of the oldest releases."""
        found = self._owners.of_older(name)
        if not self._has_owners(found, key):
            return True
        who = ", ".join(map(str, found.owners))
        if option == "base_path":
            self._put(found.owners, ("baseUrl",), value, key, is_general=True)
            self._find("rewritten", key, f"{key} is baseUrl of {who}", None)
        else:
            hint = f"set the secret of the security scheme of {who}, as in SWF_SECRET_{environment_name(name)}_SCHEME"
            self._find("by hand", key, f"{key} is a credential", hint)
        return True

    def _secret(self, key: str, value: str) -> None:
        """Record a property that functions are given as a secret."""
        for path in self._secrets[key]:
            self._made.secrets[path] = value
            field = f"the property {'.'.join(path[1:])!r} of " if path[1:] else ""
            message = f"{key} is {field}the secret {path[0]!r}, which functions are given"
            hint = f"set SWF_SECRET_{environment_name(path[0])}{_from_variables(value)}"
            self._given.append((path[0], self._finding("by hand", key, message, hint, "secrets")))

    @staticmethod
    def _is_of_service(option: str, value: str) -> bool:
        if option in _TIMEOUTS:
            return value.isdigit()
        known = (*_ADDRESSES, *_PROXIES, "verify-host", "hostname-verifier", "tls-configuration-name", "user-agent")
        return option in known or option.startswith(("trust-store", "key-store", "headers."))

    def _set(self, owners: list[Owner], key: str, option: str, value: str, *, is_general: bool = False) -> bool:
        """Set an option of *owners*, of which there are some."""
        who = f"of {', '.join(map(str, owners))}"
        if option.startswith(("trust-store", "key-store")):
            self._certificate(owners, key, option, value, is_general=is_general)
        elif option == "user-agent" or option.startswith("headers."):
            self._header(owners, key, option.removeprefix("headers.").strip('"'), value, is_general=is_general)
        elif option in _PROXIES:
            self._find("by hand", key, f"{key} is not written", _PROXIES[option])
        elif option == "tls-configuration-name":
            self._find("rewritten", key, f"{key}: what {value!r} says is under 'tls' {who}", None)
        elif option in ("verify-host", "hostname-verifier") and value.lower() != "true":
            self._find("by hand", key, f"{key}: names of servers are verified", _VERIFIED)
        elif option in _TIMEOUTS:
            self._timeout(owners, key, option, int(value), is_general=is_general)
        elif option in _ADDRESSES:
            ours = _ADDRESSES[option]
            if ours == "proxy":
                value = "" if value == "none" else f"http://{value.removeprefix('http://')}"
            if self._put(owners, (ours,), value, key, is_general=is_general):
                self._find("rewritten", key, f"{key} is {ours} {who}", None)
        return True

    def _timeout(self, owners: list[Owner], key: str, option: str, value: int, *, is_general: bool) -> None:
        if is_general:
            self._general[option] = value, key
        for owner in owners:
            own = self._timeouts.setdefault(owner, {})
            if not is_general:
                own[option] = value, key
        self._find("rewritten", key, f"{key} is part of timeout of {', '.join(map(str, owners))}", None)

    def _header(self, owners: list[Owner], key: str, name: str, value: str, *, is_general: bool) -> None:
        """Write a header, unless it has a credential."""
        name = "User-Agent" if name == "user-agent" else name
        who = ", ".join(map(str, owners))
        if is_secret(name) or has_credential(value):
            variables = ", ".join(f"SWF_HEADERS_{environment_name(one.name)}".rstrip("_") for one in owners)
            hint = f"write the headers of {who} as lines in {variables}, or an auth definition"
            self._find("by hand", key, f"{key}: the header {name!r} is a credential", hint)
        elif self._put(owners, ("headers", name), value, key, is_general=is_general):
            self._find("rewritten", key, f"{key} is the header {name!r} of {who}", None)

    def _put(self, owners: Iterable[Owner], option: Option, value: Any, key: str, *, is_general: bool = False) -> bool:
        """Record a setting of *owners*; add a finding if another property has a different value for one of them.

        With *is_general*, those that have it already keep theirs.
        """
        is_put = True
        for owner in owners:
            if is_general and (owner.identity, option) in self._said:
                continue
            before = self._said.setdefault(
                (owner.identity, option), Said(owner, option, value, key, self._line(key), self._file.name)
            )
            if before.value != value:
                is_put = False
                self._split.add((owner.identity, option))
                message = f"{key} and {before.key} contradict each other about {owner}, and neither is written"
                self._find("by hand", key, message, f"write one under {owner.scope!r}")
        return is_put

    def _certificate(self, owners: list[Owner], key: str, option: str, value: str, *, is_general: bool = False) -> None:
        """Record a PEM file; another format needs manual work, and has a finding."""
        word = "ca" if option.startswith("trust") else "key" if option.endswith("key") else "cert"
        if any(part in option for part in ("password", "type", "alias", "provider")):
            self._find("differs", key, f"{key} has no effect", "PEM files are read without a password")
        elif value.endswith(PEM) and "," not in value:
            path = value.removeprefix("classpath:").removeprefix("file:").removeprefix("META-INF/resources/")
            if self._put(owners, ("tls", word), path, key, is_general=is_general):
                self._find(
                    "by hand", key, f"{key} is {word} of 'tls' in swf.yaml", f"put the file {path!r} where it is named"
                )
        else:
            [owner, *_] = owners
            who = f"under {owner.scope!r}" + (f" and {owner.name!r}" if owner.name else "")
            hint = f"write it as one PEM file, and name that as '{word}' of 'tls' {who}"
            self._find("by hand", key, f"{key}: stores in other forms than PEM are not read", hint)

    def _tls(self, key: str, value: str, quoted: str | None, name: str | None, option: str) -> bool:
        """Write a named configuration of TLS to the services that use it, and the unnamed one to all calls."""
        users = self._users_of_tls(quoted or name)
        if not users:
            self._find("by hand", key, f"{key}: no service uses this", "write it under 'tls' of the host that uses it")
            return True
        if option.startswith(("trust-all", "hostname-")):
            if value.lower() not in ("false", "https"):
                self._find("by hand", key, f"{key}: certificates are verified", _VERIFIED)
            return True
        self._certificate(users, key, option, value)
        return True

    def _users_of_tls(self, name: str | None) -> list[Owner]:
        """Return what uses the configuration of TLS that is called *name*; the unnamed one is for all calls."""
        if name is None:
            return list(self._owners.of_all().owners)
        found: dict[Owner, None] = {}
        for other, said in self._properties.items():
            match = _SERVICE.fullmatch(other)
            if match is not None and match[3] == "tls-configuration-name" and said == name:
                found |= dict.fromkeys(self._owners.of_service(match[1] or match[2]).owners)
            elif other == "quarkus.rest-client.tls-configuration-name" and said == name:
                found[Owner("calls")] = None
        return list(found)

    def _client(self, key: str, value: str, quoted: str | None, name: str, option: str) -> bool:
        """Write where a service of gRPC is: a client is called as the service, the document or the function."""
        found = self._owners.of_rpc_service(quoted or name)
        if not self._has_owners(found, key):
            return True
        owners = list(found.owners)
        who = ", ".join(map(str, owners))
        said = {
            match[3]: resolved(written, self._properties)
            for other, written in self._properties.items()
            if (match := _CLIENT.fullmatch(other)) is not None and (match[1] or match[2]) == (quoted or name)
        }
        if option in ("host", "port", "plain-text", "tls.enabled"):
            is_secure = said.get("plain-text") == "false" or said.get("tls.enabled") == "true"
            is_secure = is_secure or any(one.startswith(("ssl.", "tls.trust")) for one in said)
            url = f"{'grpcs' if is_secure else 'grpc'}://{said.get('host', 'localhost')}:{said.get('port', '9000')}"
            if self._put(owners, ("baseUrl",), url, key):
                self._find("rewritten", key, f"{key} is part of the baseUrl of {who}", None)
        elif option == "deadline":
            if self._put(owners, ("timeout",), value if value.upper().startswith("P") else f"PT{value.upper()}", key):
                self._find("rewritten", key, f"{key} is timeout of {who}", None)
        elif option.startswith(("ssl.", "tls.")) and "trust-certificate-p12" not in option:
            word = {"ssl.trust-store": "trust-store", "ssl.certificate": "key-store.cert", "ssl.key": "key-store.key"}
            self._certificate(owners, key, word.get(option, option.removeprefix("tls.")), value)
        else:
            return False
        return True

    def _write_timeouts(self) -> None:
        """Write one time for each: an attempt may take as long as connecting and reading together."""
        for owner, own in self._timeouts.items():
            said = self._general | own
            connecting, reading = (said.get(option, (other, ""))[0] for option, other in _TIMEOUTS.items())
            key = next(iter((own or said).values()))[1]
            self._put([owner], ("timeout",), f"PT{(connecting + reading) / 1000:g}S", key)

    def _function(self, key: str, _: str, name: str, option: str) -> bool:
        found = self._owners.of_function(name)
        if not found.owners:
            if found.reason is None:
                self._find("differs", key, f"{key}: no request is called {name!r}", "remove it")
            else:
                self._has_owners(found, key)
            return True
        if option in ("host", "port", "protocol"):
            host, port, protocol = (
                resolved(self._properties.get(f"kogito.sw.functions.{name}.{one}", other), self._properties)
                for one, other in (("host", "localhost"), ("port", ""), ("protocol", "http"))
            )
            self._put(found.owners, ("baseUrl",), f"{protocol}://{host}{':' if port else ''}{port}", key)
            self._find("rewritten", key, f"{key} is part of the baseUrl of {name!r}", None)
            return True
        if option in ("username", "password", "access_token", "api_key"):
            hint = f"give function {name!r} an auth, and the value in SWF_SECRET_{environment_name(name)}"
            self._find("by hand", key, f"{key} is a credential", hint)
            return True
        return False

    def _scheme(self, key: str, value: str, service: str, scheme: str, option: str) -> bool:
        if option == "token-propagation":
            hint = "give the token in the input, or let an auth definition with the grant tokenExchange get one"
            self._find("by hand", key, f"{key}: tokens of callers are not passed on", hint)
            return True
        if option not in CREDENTIAL_FIELDS:
            return False
        field, found = CREDENTIAL_FIELDS[option], self._owners.of_service(service.strip('"'))
        if not self._has_owners(found, key):
            return True
        for owner in found.owners:
            name = secret_of(owner, scheme)
            self._made.secrets[name, field] = value
            hint = f"set SWF_SECRET_{environment_name(name)}, an object with this property{_from_variables(value)}"
            message = f"{key} is the property {field!r} of the secret {name!r}"
            self._given.append((name, self._finding("by hand", key, message, hint, "secrets")))
        return True

    def _line(self, key: str) -> int | None:
        return next((self._lines[one] for one in (f"%prod.{key}", key) if one in self._lines), None)

    def _find(self, kind: Kind, key: str, message: str, hint: str | None = None) -> None:
        self._made.findings.append(self._finding(kind, key, message, hint))

    def _finding(self, kind: Kind, key: str, message: str, hint: str | None = None, task: Task = "settings") -> Finding:
        start = started(key) if kind == "by hand" and task == "settings" else None
        return Finding(self._file.name, self._line(key), kind, message, hint, start, task)


def started(key: str) -> str | None:
    """Return the beginning of what is to be written or run instead of the property *key*."""
    for form, start in _STARTS:
        found = re.fullmatch(form, key)
        if found is not None:
            names = [environment_name(one) if "SWF_" in start else one for one in found.groups()]
            return start.format(*names) if names else start
    return None


def _from_variables(value: str) -> str:
    """Return words about the variables that *value* names."""
    names = dict.fromkeys(_UNKNOWN.findall(value))
    return f": there it was {', '.join(names)}" if names else ""


def put_secret(secrets: dict[str, Any], path: tuple[str, ...]) -> None:
    """Put a place for the secret at *path* into *secrets*."""
    place = secrets
    for one in path[:-1]:
        if not isinstance(place.get(one), dict):
            place[one] = {}
        place = place[one]
    place.setdefault(path[-1], "…")


def secret_start(name: str, value: Any) -> str:
    """Return a command that sets the secret *name*, whose *value* has places for what is secret."""
    shown = value if isinstance(value, str) else show_json(value)
    return f"export SWF_SECRET_{environment_name(name)}='{shown}'"


def write(settings: dict[str, Any], said: Said) -> None:
    """Write what is *said* into *settings*."""
    place = settings.setdefault(said.owner.scope, {})
    for step in (said.owner.name, *said.option[:-1]):
        place = place.setdefault(step, {}) if step else place
    place[said.option[-1]] = said.value


def _told(key: str) -> tuple[Kind, str, str, str]:
    kind, message, hint = counterpart(key)
    return kind, key, message, hint
