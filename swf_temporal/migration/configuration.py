"""The configuration that the properties of a SonataFlow project make: where services are, and how events travel.

What a property says by other means here, or not at all, is a finding.
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from swf_temporal.migration.channels import PEM, Channels
from swf_temporal.migration.counterparts import counterpart
from swf_temporal.migration.findings import Finding, Kind
from swf_temporal.text.properties import PropertiesText, of_production, other_profiles, read_properties, resolved

_SERVICE: Final = re.compile(
    r'(?:quarkus\.rest-client|kogito\.sw\.openapi)\.(?:"([^"]+)"|([^.]+))\.([\w.-]+)|([^/]+)/mp-rest/(\w+)'
)
_ALL: Final = re.compile(r"quarkus\.rest-client\.([\w-]+)")
_SCHEME: Final = re.compile(r'quarkus\.openapi-generator\.("[^"]+"|[^.]+)\.auth\.("[^"]+"|[^.]+)\.([\w-]+)')
_FUNCTION: Final = re.compile(r"kogito\.sw\.functions\.([^.]+)\.(\w+)")
_CLIENT: Final = re.compile(r'quarkus\.grpc\.clients\.(?:"([^"]+)"|([^.]+))\.([\w.-]+)')
_TLS: Final = re.compile(
    r'quarkus\.tls\.(?:(?:"([^"]+)"|(?!trust-|key-store)([\w-]+))\.)?((?:trust-|key-store|hostname-).*)'
)
_UNKNOWN: Final = re.compile(r"\$\{([^{}:]+)[^{}]*\}")
_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9]")
_SECRET_FIELDS: Final = {
    "username": "username",
    "password": "password",
    "bearer-token": "token",
    "api-key": "apiKey",
}
_MP_NAMES: Final = {"connectTimeout": "connect-timeout", "readTimeout": "read-timeout", "trustStore": "trust-store"}
"""What the older names of properties, `KEY/mp-rest/…`, are in the newer form."""
_TIMEOUTS: Final = ("connect-timeout", "read-timeout")
_DEFAULT_READ_TIMEOUT: Final = 30_000
_VERIFIED: Final = "write 'tls: {verify: false}' under 'hosts' and the name of that one host"


@dataclass(frozen=True, slots=True)
class Called:
    """A function that a definition declares."""

    name: str
    operation: str

    @property
    def keys(self) -> frozenset[str]:
        """The names that SonataFlow's properties may have for the service, by its strategies, in capitals or not."""
        document, _, rest = self.operation.partition("#")
        path, service = PurePosixPath(document), rest.partition("#")[0]
        names = (path.name, path.stem, document, self.name, service if "#" in rest else "")
        return frozenset(_NOT_A_NAME.sub("_", one).lower() for one in names if one)


@dataclass(slots=True)
class Configuration:
    """What is written for the worker, the gateway and the consumers."""

    settings: dict[str, Any] = field(default_factory=dict)
    """The configuration file."""
    secrets: dict[str, dict[str, str]] = field(default_factory=dict)
    """Secrets by their names, with the properties that they have; values are not written."""
    findings: list[Finding] = field(default_factory=list)


def configuration(file: PropertiesText, functions: list[Called], taken: Collection[str] = ()) -> Configuration:
    """Return what the properties in *file* make for *functions*, but for those that are *taken* for something else."""
    return _Reading(file, functions, taken).configuration()


class _Reading:
    def __init__(self, file: PropertiesText, functions: list[Called], taken: Collection[str]) -> None:
        self._file, self._functions = file, functions
        self._written = read_properties(file.text)
        self._lines = file.lines()
        self._properties = of_production(self._written)
        self._used = {*taken, *(name for value in self._properties.values() for name in _UNKNOWN.findall(value))}
        self._made = Configuration()
        self._timeouts: dict[str | None, dict[str, int]] = {}
        """Milliseconds, by the name of the function; None is for all."""

    def configuration(self) -> Configuration:
        channels = Channels(self._properties, self._made.settings, self._find)
        readers: tuple[tuple[re.Pattern[str], Callable[..., bool]], ...] = (
            (_SCHEME, self._scheme),
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
        for profile, key in other_profiles(self._written):
            self._find("differs", key, f"what holds in the profile {profile!r} alone is not written", None)
        self._made.findings.sort(key=lambda one: one.line or 0)
        return self._made

    def _check(self, key: str, value: str) -> None:
        """Tell of a value that names what is known where the application runs alone."""
        names = dict.fromkeys(_UNKNOWN.findall(value))
        if names:
            hint = "write the value that it has there into swf.yaml"
            self._find("by hand", key, f"{key} names {', '.join(names)}, which is not among the properties", hint)

    def _service(
        self, key: str, value: str, quoted: str, name: str, option: str, older: str, older_option: str
    ) -> bool:
        option = option or _MP_NAMES.get(older_option, older_option)
        called = self._called(quoted or name or older)
        if not self._is_of_service(option, value):
            return False
        if not called:
            self._find("differs", key, f"{key}: no function calls this service", "remove it")
            return True
        return self._set([one.name for one in called], key, option, value)

    def _all_services(self, key: str, value: str, option: str) -> bool:
        return option not in ("url", "uri") and self._is_of_service(option, value) and self._set([], key, option, value)

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

    def _set(self, functions: list[str], key: str, option: str, value: str) -> bool:
        """Set an option of *functions*, or of all calls if there are none."""
        who = f"of {', '.join(map(repr, functions))}" if functions else "of all calls"
        if option.startswith(("trust-store", "key-store")):
            self._certificate(functions, key, option, value)
        elif option == "tls-configuration-name":
            self._find("rewritten", key, f"{key}: what {value!r} says is under 'tls' {who}", None)
        elif option in ("verify-host", "hostname-verifier"):
            if value.lower() != "true":
                self._find("by hand", key, f"{key}: names of servers are verified", _VERIFIED)
        elif option in _TIMEOUTS:
            for name in functions or (None,):
                self._timeouts.setdefault(name, {})[option] = int(value)
            self._find("rewritten", key, f"{key} is part of timeout {who}", None)
        else:
            ours = "proxy" if option == "proxy-address" else "baseUrl"
            if ours == "proxy":
                value = "" if value == "none" else f"http://{value.removeprefix('http://')}"
            for one in self._options(functions):
                one[ours] = value
            self._find("rewritten", key, f"{key} is {ours} {who}", None)
        return True

    def _certificate(self, functions: list[str], key: str, option: str, value: str) -> None:
        """Name a PEM file as ours; what is in another form is for a person."""
        word = "ca" if option.startswith("trust") else "key" if option.endswith("key") else "cert"
        if any(part in option for part in ("password", "type", "alias", "provider")):
            self._find("differs", key, f"{key} has no effect", "PEM files are read without a password")
        elif value.endswith(PEM) and "," not in value:
            path = value.removeprefix("classpath:").removeprefix("file:").removeprefix("META-INF/resources/")
            for one in self._options(functions):
                one.setdefault("tls", {})[word] = path
            self._find(
                "by hand", key, f"{key} is {word} of 'tls' in swf.yaml", f"put the file {path!r} where it is named"
            )
        else:
            who = f"under 'functions' and {functions[0]!r}" if functions else "under 'calls'"
            hint = f"write it as one PEM file, and name that as '{word}' of 'tls' {who}"
            self._find("by hand", key, f"{key}: stores in other forms than PEM are not read", hint)

    def _tls(self, key: str, value: str, quoted: str | None, name: str | None, option: str) -> bool:
        """Write a named configuration of TLS to the functions that use it, and the unnamed one to all calls."""
        name = quoted or name
        users: list[str] = []
        if name is not None:
            for other, said in self._properties.items():
                found = _SERVICE.fullmatch(other)
                if found is not None and found[3] == "tls-configuration-name" and said == name:
                    users += [one.name for one in self._called(found[1] or found[2])]
            if not users:
                self._find(
                    "by hand", key, f"{key}: no function uses this", "write it under 'tls' of whatever host uses it"
                )
                return True
        if option.startswith(("trust-all", "hostname-")):
            if value.lower() not in ("false", "https"):
                self._find("by hand", key, f"{key}: certificates are verified", _VERIFIED)
            return True
        self._certificate(users, key, option, value)
        return True

    def _client(self, key: str, value: str, quoted: str | None, name: str, option: str) -> bool:
        """Write where a service of gRPC is: a client is called as the service, the document or the function."""
        called = [one.name for one in self._called(quoted or name)]
        said = {
            found[3]: resolved(written, self._properties)
            for other, written in self._properties.items()
            if (found := _CLIENT.fullmatch(other)) is not None and (found[1] or found[2]) == (quoted or name)
        }
        if not called:
            self._find("differs", key, f"{key}: no function calls this service", "remove it")
        elif option in ("host", "port", "plain-text", "tls.enabled"):
            is_secure = said.get("plain-text") == "false" or said.get("tls.enabled") == "true"
            is_secure = is_secure or any(one.startswith(("ssl.", "tls.trust")) for one in said)
            url = f"{'grpcs' if is_secure else 'grpc'}://{said.get('host', 'localhost')}:{said.get('port', '9000')}"
            for one in self._options(called):
                one["baseUrl"] = url
            self._find("rewritten", key, f"{key} is part of the baseUrl of {', '.join(map(repr, called))}", None)
        elif option == "deadline":
            for one in self._options(called):
                one["timeout"] = value if value.upper().startswith("P") else f"PT{value.upper()}"
            self._find("rewritten", key, f"{key} is timeout of {', '.join(map(repr, called))}", None)
        elif option.startswith(("ssl.", "tls.")) and "trust-certificate-p12" not in option:
            word = {"ssl.trust-store": "trust-store", "ssl.certificate": "key-store.cert", "ssl.key": "key-store.key"}
            self._certificate(called, key, word.get(option, option.removeprefix("tls.")), value)
        else:
            return False
        return True

    def _called(self, name: str) -> list[Called]:
        named = _NOT_A_NAME.sub("_", name).lower()
        return [one for one in self._functions if named in one.keys]

    def _options(self, functions: list[str]) -> list[dict[str, Any]]:
        if not functions:
            return [self._made.settings.setdefault("calls", {})]
        return [self._settings_of(one) for one in functions]

    def _write_timeouts(self) -> None:
        """Write one time for each: an attempt may take as long as connecting and reading together."""
        general = self._timeouts.get(None, {})
        for name, own in self._timeouts.items():
            said = general | own
            milliseconds = said.get("connect-timeout", 0) + said.get("read-timeout", _DEFAULT_READ_TIMEOUT)
            for one in self._options([] if name is None else [name]):
                one["timeout"] = f"PT{milliseconds / 1000:g}S"

    def _function(self, key: str, _: str, name: str, option: str) -> bool:
        if not any(one.name == name for one in self._functions):
            self._find("differs", key, f"{key}: there is no function {name!r}", "remove it")
            return True
        if option in ("host", "port", "protocol"):
            host, port, protocol = (
                resolved(self._properties.get(f"kogito.sw.functions.{name}.{one}", other), self._properties)
                for one, other in (("host", "localhost"), ("port", ""), ("protocol", "http"))
            )
            self._settings_of(name)["baseUrl"] = f"{protocol}://{host}{':' if port else ''}{port}"
            self._find("rewritten", key, f"{key} is part of the baseUrl of {name!r}", None)
            return True
        if option in ("username", "password", "access_token", "api_key"):
            hint = f"give function {name!r} an auth, and the value in SWF_SECRET_{_NOT_A_NAME.sub('_', name).upper()}"
            self._find("by hand", key, f"{key} is a credential", hint)
            return True
        return False

    def _scheme(self, key: str, value: str, service: str, scheme: str, option: str) -> bool:
        service, scheme = service.strip('"'), scheme.strip('"')
        if option == "token-propagation":
            hint = "give the token in the input, or let an auth definition with the grant tokenExchange get one"
            self._find("by hand", key, f"{key}: tokens of callers are not passed on", hint)
            return True
        if option not in _SECRET_FIELDS:
            return False
        self._made.secrets.setdefault(scheme, {})[_SECRET_FIELDS[option]] = value
        variable = f"SWF_SECRET_{_NOT_A_NAME.sub('_', scheme).upper()}"
        hint = f"set {variable}, and list {scheme!r} under 'secrets' of the definitions that call {service!r}"
        self._find("by hand", key, f"{key} is the property {_SECRET_FIELDS[option]!r} of the secret {scheme!r}", hint)
        return True

    def _settings_of(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self._made.settings.setdefault("functions", {}).setdefault(name, {})
        return found

    def _find(self, kind: Kind, key: str, message: str, hint: str | None = None) -> None:
        line = next((self._lines[one] for one in (f"%prod.{key}", key) if one in self._lines), None)
        self._made.findings.append(Finding(self._file.name, line, kind, message, hint))


def _told(key: str) -> tuple[Kind, str, str, str]:
    kind, message, hint = counterpart(key)
    return kind, key, message, hint


def functions_of(definition: Any) -> Iterator[Called]:
    """Yield the functions that *definition* declares."""
    functions = definition.get("functions") if isinstance(definition, dict) else None
    for one in functions if isinstance(functions, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("operation"), str):
            yield Called(one["name"], one["operation"])
