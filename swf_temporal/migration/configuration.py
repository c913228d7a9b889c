"""The configuration made from the properties of a SonataFlow project: addresses of services, and events.

A property that is expressed by other means here, or not at all, has a finding.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from swf_temporal.base.function_types import environment_name
from swf_temporal.base.grammar import listed
from swf_temporal.migration.channels import PEM, Channels
from swf_temporal.migration.project import Called, Found, Owners
from swf_temporal.migration.report import Finding, Kind
from swf_temporal.text.properties import (
    BY_TITLE,
    CREDENTIAL,
    CREDENTIAL_FIELDS,
    STRATEGY,
    Owner,
    PropertiesText,
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
        r"quarkus\.oidc-client\..*", "by hand",
        "write an auth definition with the scheme oauth2, grantType, tokenUrl and clientId, and the secret in $SECRETS",
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
    (r"quarkus\.(?:log|console)\b.*", "differs", "'logLevel' and 'logFormat' of 'worker' say what is logged"),
    (
        r"quarkus\.(?:micrometer|otel|opentelemetry|smallrye-health|smallrye-metrics|metrics)\b.*", "differs",
        "swf worker has the options --metrics and --health; the page on operating has traces",
    ),
    (r"(?:quarkus|kogito\.codegen|maven|project)\..*", "differs", _BUILT),
    (r"(?:kogito|org\.kie|mp|smallrye|kafka|camel|knative)\b.*", "by hand", "see the page on configuration"),
)  # fmt: skip
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
    r'(?:quarkus\.rest-client|kogito\.sw\.openapi)\.(?:"([^"]+)"|([^.]+))\.([\w.-]+)|([^/]+)/mp-rest/(\w+)'
)
_ALL: Final = re.compile(r"quarkus\.rest-client\.([\w-]+)")
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
    secrets: dict[str, dict[str, str]] = field(default_factory=dict)
    """Secrets by name, with their fields; values are not written."""
    findings: list[Finding] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    """The settings of owners, with their origins."""


def configuration(
    file: PropertiesText, functions: list[Called], taken: Collection[str] = (), everybody: Iterable[Called] = ()
) -> Configuration:
    """Return the configuration for *functions* from the properties in *file*, except those *taken* by something else.

    The same worker serves *everybody*, the functions of all definitions.
    """
    return _Reading(file, functions, taken, everybody).configuration()


class _Reading:
    def __init__(
        self, file: PropertiesText, functions: list[Called], taken: Collection[str], everybody: Iterable[Called]
    ) -> None:
        self._file = file
        self._written = read_properties(file.text)
        self._lines = file.lines()
        self._properties = of_production(self._written)
        self._used = {*taken, *(name for value in self._properties.values() for name in _UNKNOWN.findall(value))}
        self._owners = Owners(functions, self._properties, everybody)
        self._made = Configuration()
        self._said: dict[tuple[tuple[str, str], Option], Said] = {}
        self._timeouts: dict[Owner, dict[str, tuple[int, str]]] = {}
        """Timeouts in milliseconds, with their properties."""
        self._split: set[tuple[tuple[str, str], Option]] = set()
        """Settings for which several properties have different values."""

    def configuration(self) -> Configuration:
        channels = Channels(self._properties, self._made.settings, self._find)
        readers: tuple[tuple[re.Pattern[str], Callable[..., bool]], ...] = (
            (CREDENTIAL, self._scheme),
            (STRATEGY, self._strategy),
            (_SERVICE, self._service),
            (_ALL, self._all_services),
            (_FUNCTION, self._function),
            (_CLIENT, self._client),
            (_TLS, self._tls),
        )
        for key, written in self._properties.items():
            value = resolved(written, self._properties)
            matched = next(((read, found) for form, read in readers if (found := form.fullmatch(key))), None)
            if (matched is not None and matched[0](key, value, *matched[1].groups())) or channels.take(key, value):
                self._check(key, value)
            elif key not in self._used:
                self._find(*_told(key))
        channels.write()
        self._write_timeouts()
        self._made.said = [one for place, one in self._said.items() if place not in self._split]
        for one in self._made.said:
            write(self._made.settings, one)
        for profile, key in other_profiles(self._written):
            self._find("differs", key, f"what applies only to the profile {profile!r} is not written", None)
        self._made.findings.sort(key=lambda one: one.line or 0)
        return self._made

    def _check(self, key: str, value: str) -> None:
        """Add a finding for a value with a variable that is only known where the application runs."""
        names = dict.fromkeys(_UNKNOWN.findall(value))
        if names:
            hint = "write the value that it has there into swf.yaml"
            are = "is" if len(names) == 1 else "are"
            self._find("by hand", key, f"{key} names {listed([*names])}, which {are} not among the properties", hint)

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
            self._find("by hand", key, f"{key} is not written: {found.reason}", found.hint)
        elif not found.owners:
            self._find("differs", key, f"{key}: no function calls this service", "remove it")
        return bool(found.owners)

    def _all_services(self, key: str, value: str, option: str) -> bool:
        return (
            option not in ("url", "uri")
            and self._is_of_service(option, value)
            and self._set([Owner("calls")], key, option, value)
        )

    @staticmethod
    def _is_of_service(option: str, value: str) -> bool:
        if option in _TIMEOUTS:
            return value.isdigit()
        return option in (
            "url",
            "uri",
            "proxy-address",
            "verify-host",
            "hostname-verifier",
            "tls-configuration-name",
        ) or (option.startswith(("trust-store", "key-store")))

    def _set(self, owners: list[Owner], key: str, option: str, value: str) -> bool:
        """Set an option of *owners*, of which there are some."""
        who = f"of {', '.join(map(str, owners))}"
        if option.startswith(("trust-store", "key-store")):
            self._certificate(owners, key, option, value)
        elif option == "tls-configuration-name":
            self._find("rewritten", key, f"{key}: what {value!r} says is under 'tls' {who}", None)
        elif option in ("verify-host", "hostname-verifier"):
            if value.lower() != "true":
                self._find("by hand", key, f"{key}: names of servers are verified", _VERIFIED)
        elif option in _TIMEOUTS:
            for owner in owners:
                self._timeouts.setdefault(owner, {})[option] = int(value), key
            self._find("rewritten", key, f"{key} is part of timeout {who}", None)
        else:
            ours = "proxy" if option == "proxy-address" else "baseUrl"
            if ours == "proxy":
                value = "" if value == "none" else f"http://{value.removeprefix('http://')}"
            if self._put(owners, (ours,), value, key):
                self._find("rewritten", key, f"{key} is {ours} {who}", None)
        return True

    def _put(self, owners: Iterable[Owner], option: Option, value: Any, key: str) -> bool:
        """Record a setting of *owners*; add a finding if another property has a different value for one of them."""
        is_put = True
        for owner in owners:
            before = self._said.setdefault(
                (owner.identity, option), Said(owner, option, value, key, self._line(key), self._file.name)
            )
            if before.value != value:
                is_put = False
                self._split.add((owner.identity, option))
                message = f"{key} and {before.key} contradict each other about {owner}, and neither is written"
                self._find("by hand", key, message, f"write one under {owner.scope!r}")
        return is_put

    def _certificate(self, owners: list[Owner], key: str, option: str, value: str) -> None:
        """Record a PEM file; another format needs manual work, and has a finding."""
        word = "ca" if option.startswith("trust") else "key" if option.endswith("key") else "cert"
        if any(part in option for part in ("password", "type", "alias", "provider")):
            self._find("differs", key, f"{key} has no effect", "PEM files are read without a password")
        elif value.endswith(PEM) and "," not in value:
            path = value.removeprefix("classpath:").removeprefix("file:").removeprefix("META-INF/resources/")
            if self._put(owners, ("tls", word), path, key):
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
            return [Owner("calls")]
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
        general = self._timeouts.get(Owner("calls"), {})
        for owner, own in self._timeouts.items():
            said = general | own
            connecting, reading = (said.get(option, (other, ""))[0] for option, other in _TIMEOUTS.items())
            self._put([owner], ("timeout",), f"PT{(connecting + reading) / 1000:g}S", next(iter(own.values()))[1])

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
            self._made.secrets.setdefault(name, {})[field] = value
            hint = f"set SWF_SECRET_{environment_name(name)}, an object with this property"
            self._find("by hand", key, f"{key} is the property {field!r} of the secret {name!r}", hint)
        return True

    def _line(self, key: str) -> int | None:
        return next((self._lines[one] for one in (f"%prod.{key}", key) if one in self._lines), None)

    def _find(self, kind: Kind, key: str, message: str, hint: str | None = None) -> None:
        self._made.findings.append(Finding(self._file.name, self._line(key), kind, message, hint))


def write(settings: dict[str, Any], said: Said) -> None:
    """Write what is *said* into *settings*."""
    place = settings.setdefault(said.owner.scope, {})
    for step in (said.owner.name, *said.option[:-1]):
        place = place.setdefault(step, {}) if step else place
    place[said.option[-1]] = said.value


def _told(key: str) -> tuple[Kind, str, str, str]:
    kind, message, hint = counterpart(key)
    return kind, key, message, hint
