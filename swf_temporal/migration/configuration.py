"""The configuration that the properties of a SonataFlow project make: where services are, and how events travel.

What a property says by other means here, or not at all, is a finding.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from swf_temporal.migration.findings import Finding
from swf_temporal.migration.properties import of_profile, read_properties, resolved

_OURS: Final = re.compile(
    r"quarkus\.(?:rest-client|openapi-generator)\.|kogito\.sw\.|mp\.messaging\.|quarkus\.(?:http|oidc-client|grpc)"
)
"""What has to do with workflows, of all that an application may set."""
_PER_FUNCTION: Final = re.compile(r'(?:quarkus\.rest-client|kogito\.sw\.openapi)\.(?:"([^"]+)"|([^.]+))\.([\w.-]+)')
_OF_SCHEME: Final = re.compile(r"quarkus\.openapi-generator\.([^.]+)\.auth\.([^.]+)\.([\w-]+)")
_OF_FUNCTION: Final = re.compile(r"kogito\.sw\.functions\.([^.]+)\.(\w+)")
_OF_CHANNEL: Final = re.compile(r"mp\.messaging\.(incoming|outgoing)\.(?:\"([^\"]+)\"|([^.]+))\.(.+)")
_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9]")
_SECRET_FIELDS: Final = {
    "username": "username",
    "password": "password",
    "bearer-token": "token",
    "api-key": "apiKey",
}
_TIMEOUTS: Final = ("connect-timeout", "read-timeout")
_DEFAULTS: Final = {"kogito_incoming_stream", "kogito_outgoing_stream"}
_WITHOUT_EFFECT: Final = {
    "quarkus.http.port": "swf gateway has the option --port",
    "quarkus.http.host": "swf gateway has the option --host",
    "kogito.sw.operationidstrategy": "services are named by functions here",
    "kogito.sw.operationIdStrategy": "services are named by functions here",
}


@dataclass(frozen=True, slots=True)
class Called:
    """A function that a definition declares."""

    name: str
    operation: str

    @property
    def keys(self) -> frozenset[str]:
        """The names that SonataFlow's properties may have for the service, by its strategies, in capitals or not."""
        document = self.operation.partition("#")[0]
        path = PurePosixPath(document)
        names = (path.name, path.stem, document, self.name)
        return frozenset(_NOT_A_NAME.sub("_", one).lower() for one in names if one)


@dataclass(slots=True)
class Configuration:
    """What is written for the worker, the gateway and the consumers."""

    settings: dict[str, Any] = field(default_factory=dict)
    """The configuration file."""
    secrets: dict[str, dict[str, str]] = field(default_factory=dict)
    """Secrets by their names, with the properties that they have; values are not written."""
    findings: list[Finding] = field(default_factory=list)


def configuration(name: str, text: str, functions: list[Called]) -> Configuration:
    """Return what the properties *text*, of the file *name*, make for *functions*."""
    return _Reading(name, text, functions).configuration()


class _Reading:
    def __init__(self, name: str, text: str, functions: list[Called]) -> None:
        self._name, self._functions = name, functions
        self._written = read_properties(text)
        self._lines = {_key_of(line): number for number, line in enumerate(text.splitlines(), 1)}
        self._properties = of_profile(self._written)
        self._made = Configuration()
        self._channels: dict[tuple[str, str], dict[str, str]] = {}

    def configuration(self) -> Configuration:
        readers: tuple[tuple[re.Pattern[str], Callable[..., bool]], ...] = (
            (_OF_SCHEME, self._scheme),
            (_PER_FUNCTION, self._service),
            (_OF_FUNCTION, self._function),
            (_OF_CHANNEL, self._channel),
        )
        for key, written in self._properties.items():
            value = resolved(written, self._properties)
            matched = next(((read, found) for form, read in readers if (found := form.fullmatch(key))), None)
            if key in _WITHOUT_EFFECT:
                self._find("differs", key, f"{key} has no effect", _WITHOUT_EFFECT[key])
            elif (matched is not None and not matched[0](key, value, *matched[1].groups())) or (
                matched is None and _OURS.match(key)
            ):
                self._find("by hand", key, f"{key} has no counterpart", "see the page on configuration")
        self._events()
        return self._made

    def _service(self, key: str, value: str, quoted: str | None, name: str, option: str) -> bool:
        named = _NOT_A_NAME.sub("_", quoted or name).lower()
        called = [one for one in self._functions if named in one.keys]
        if option in ("url", "uri"):
            settings: dict[str, Any] = {"baseUrl": value}
        elif option in _TIMEOUTS and value.isdigit():
            settings = {"timeout": f"PT{int(value) / 1000:g}S"}
        else:
            return False
        if not called:
            self._find("differs", key, f"{key}: no function calls this service", "remove it")
        for one in called:
            self._settings_of(one.name).update(settings)
        if called:
            names = ", ".join(repr(one.name) for one in called)
            self._find("rewritten", key, f"{key} is {next(iter(settings))} of {names}", None)
        return True

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
            hint = (
                f"give function {name!r} an authRef, and the value in SWF_SECRET_{_NOT_A_NAME.sub('_', name).upper()}"
            )
            self._find("by hand", key, f"{key} is a credential", hint)
            return True
        return False

    def _scheme(self, key: str, value: str, service: str, scheme: str, option: str) -> bool:
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

    def _channel(self, _: str, value: str, way: str, quoted: str | None, name: str, option: str) -> bool:
        self._channels.setdefault((way, quoted or name), {})[option] = value
        return True

    def _events(self) -> None:
        for (way, name), options in self._channels.items():
            connector = options.get("connector", "")
            key = f"mp.messaging.{way}.{name}.connector"
            if connector == "smallrye-kafka":
                self._broker(way, name, options, key)
            elif connector == "quarkus-http" and way == "incoming":
                self._find("rewritten", key, f"channel {name!r}: the gateway takes events by HTTP, POST /events", None)
            elif connector == "quarkus-http":
                self._sink({"to": resolved(options.get("url", "${K_SINK}"), self._properties)}, name)
                self._find("rewritten", key, f"channel {name!r} is a sink", None)
            else:
                hint = "see the page on events: Kafka, AMQP, MQTT and NATS are consumers and sinks"
                self._find("by hand", key, f"channel {name!r} with the connector {connector!r}", hint)

    def _broker(self, way: str, name: str, options: Mapping[str, str], key: str) -> None:
        servers = options.get("bootstrap.servers") or self._properties.get("kafka.bootstrap.servers", "localhost:9092")
        url = f"kafka://{resolved(servers, self._properties)}"
        topic = options.get("topic", name)
        if way == "incoming":
            group = options.get("group.id") or self._properties.get("quarkus.application.name")
            consumer = {"name": name, "from": url, "topic": topic, **({"group": group} if group else {})}
            self._made.settings.setdefault("events", {}).setdefault("consumers", []).append(consumer)
        else:
            self._sink({"to": url, "topic": topic}, name)
        self._find("rewritten", key, f"channel {name!r} is a {'consumer' if way == 'incoming' else 'sink'}", None)

    def _sink(self, sink: dict[str, str], name: str) -> None:
        types = {} if name in _DEFAULTS else {"types": name}
        self._made.settings.setdefault("events", {}).setdefault("sinks", []).append({"name": name, **types, **sink})

    def _settings_of(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self._made.settings.setdefault("functions", {}).setdefault(name, {})
        return found

    def _find(self, kind: Any, key: str, message: str, hint: str | None) -> None:
        line = next((self._lines[one] for one in (f"%prod.{key}", key) if one in self._lines), None)
        self._made.findings.append(Finding(self._name, line, kind, message, hint))


def _key_of(line: str) -> str:
    return next(iter(read_properties(line)), "") if line.strip() else ""


def functions_of(definition: Any) -> Iterator[Called]:
    """Yield the functions that *definition* declares."""
    functions = definition.get("functions") if isinstance(definition, dict) else None
    for one in functions if isinstance(functions, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("operation"), str):
            yield Called(one["name"], one["operation"])
