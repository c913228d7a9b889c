"""Message channels: the consumers and sinks that replace them, with the security of Kafka."""

import re
from collections.abc import Mapping
from typing import Any, Final, Protocol

from swf_temporal.migration.report import Kind
from swf_temporal.text.properties import resolved

CHANNEL: Final = re.compile(r"mp\.messaging\.(incoming|outgoing)\.(?:\"([^\"]+)\"|([^.]+))\.(.+)")
CONNECTOR: Final = re.compile(r"(?:mp\.messaging\.connector\.smallrye-kafka|kafka)\.(.+)")
"""Properties for all Kafka channels."""
_ENGINES: Final = re.compile(r"kogito-(?:process|usertask|variable|job|deadline).*")
"""Channels by which the runtime notified its own services of instances and jobs."""
_DEFAULTS: Final = frozenset({"kogito_incoming_stream", "kogito_outgoing_stream"})
_LOGIN: Final = re.compile(r"\b(?:username|password|clientId|clientSecret)\s*=")
_MECHANISMS: Final = frozenset({"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"})
PEM: Final = (".pem", ".crt", ".cer", ".key")
_READ: Final = frozenset({
    "connector", "topic", "group.id", "bootstrap.servers", "enabled", "url", "dead-letter-queue.topic",
    "failure-strategy", "security.protocol", "sasl.mechanism", "sasl.jaas.config", "auto.offset.reset",
})  # fmt: skip
_OF_CONSUMERS: Final = frozenset({"group.id", "auto.offset.reset", "value.deserializer", "key.deserializer"})
_QUOTED: Final = " \"'"
"""Characters that some put around a server, as if it were a YAML string."""
_AS_JSON: Final = re.compile(r"(?:key|value)\.(?:de)?serializer.*|cloud-events.*|health-.*")
_HINTS: Final = {
    "smallrye-rabbitmq": "write a consumer 'from: amqp://HOST' or a sink 'to: amqp://HOST', with its 'queue'",
    "smallrye-amqp": "AMQP 1.0 is not supported: use AMQP 0-9-1 of the broker, 'from: amqp://HOST' with a 'queue'",
    "smallrye-mqtt": "write a consumer 'from: mqtt://HOST' or a sink 'to: mqtt://HOST', with its 'topic'",
}
_OTHER: Final = "see the page on events: Kafka, AMQP, MQTT and NATS are consumers and sinks"


class Find(Protocol):
    """Adds a finding about a property."""

    def __call__(self, kind: Kind, key: str, message: str, hint: str | None = None) -> None: ...


class Channels:
    """The channels that properties describe."""

    def __init__(self, properties: Mapping[str, str], settings: dict[str, Any], find: Find) -> None:
        self._properties, self._settings, self._find = properties, settings, find
        self._channels: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
        self._common: dict[str, tuple[str, str]] = {}
        """Key and value of the common options, by option."""

    def take(self, key: str, value: str) -> bool:
        """Add a property; return True if it is about channels."""
        channel, common = CHANNEL.fullmatch(key), CONNECTOR.fullmatch(key)
        if channel is not None:
            way, quoted, name, option = channel.groups()
            self._channels.setdefault((way, quoted or name), {})[option] = (key, value)
        elif common is not None:
            self._common.setdefault(common[1], (key, value))
        return channel is not None or common is not None

    def write(self) -> None:
        """Write the consumers and the sinks, with a finding for each option."""
        uses_kafka = False
        for (way, name), options in self._channels.items():
            connector = self._value(options, "connector", "")
            key = options.get("connector", next(iter(options.values())))[0]
            if _ENGINES.fullmatch(name):
                hint = "`swf list` shows instances, 'lifecycle' of 'events' sends what happens; timers are Temporal's"
                self._find("differs", key, f"channel {name!r}: nothing here needs it", hint)
                continue
            if self._value(options, "enabled", "true").lower() == "false":
                self._find("rewritten", key, f"channel {name!r} is off, and not written")
                continue
            if connector == "smallrye-kafka":
                uses_kafka = True
                self._kafka(way, name, options, key)
            elif connector == "quarkus-http" and way == "incoming":
                self._find("rewritten", key, f"channel {name!r}: the gateway takes events by HTTP, POST /events")
            elif connector == "quarkus-http":
                self._receiver(name, options, key)
            else:
                self._find(
                    "by hand", key, f"channel {name!r} with the connector {connector!r}", _HINTS.get(connector, _OTHER)
                )
            is_known = connector in ("smallrye-kafka", "quarkus-http")
            who = f"channel {name!r}" if is_known else f"channel {name!r} is by hand"
            for option, (own, _) in options.items():
                if way == "outgoing" and option in _OF_CONSUMERS:
                    self._find("rewritten", own, f"{own} has no effect on what is sent, and is left out")
                    continue
                self._tell(option, own, who, is_known=is_known)
        who = "the channels of Kafka" if uses_kafka else "there is no channel of Kafka"
        for option, (key, _) in self._common.items():
            self._tell(option, key, who, is_known=uses_kafka)

    def _value(self, options: Mapping[str, tuple[str, str]], option: str, other: str) -> str:
        """Return an option of a channel, or else the common option of all Kafka channels."""
        found = options.get(option)
        if found is None and option != "connector":
            found = self._common.get(option)
        return resolved(other if found is None else found[1], self._properties)

    def _kafka(self, way: str, name: str, options: Mapping[str, tuple[str, str]], key: str) -> None:
        first, *rest = self._value(options, "bootstrap.servers", "localhost:9092").split(",")
        security = self._value(options, "security.protocol", "PLAINTEXT").upper()
        scheme = "kafka-secure" if security.endswith("SSL") else "kafka"
        url = f"{scheme}://{first.rpartition('://')[2].strip(_QUOTED)}"
        address: dict[str, Any] = {"topic": self._value(options, "topic", name), **self._credentials(options, security)}
        if way == "incoming":
            group = self._value(options, "group.id", self._properties.get("quarkus.application.name", ""))
            dead = self._dead_letter(name, options)
            consumer = {"name": name, "from": url, **address, **({"group": group} if group else {}), **dead}
            self._events("consumers").append(consumer)
        else:
            self._sink({"to": url, **address}, name)
        told = "; the cluster names its other brokers itself" if rest else ""
        self._find("rewritten", key, f"channel {name!r} is a {'consumer' if way == 'incoming' else 'sink'}{told}")

    def _receiver(self, name: str, options: Mapping[str, tuple[str, str]], key: str) -> None:
        url = self._value(options, "url", "").strip(_QUOTED)
        if url:
            self._sink({"to": url}, name)
            self._find("rewritten", key, f"channel {name!r} is a sink")
        else:
            self._find("by hand", key, f"channel {name!r} has no URL", "write a sink with the URL of the receiver")

    def _credentials(self, options: Mapping[str, tuple[str, str]], security: str) -> dict[str, Any]:
        """Return the credentials as names of variables, never as the values in the properties."""
        if not security.startswith("SASL"):
            return {}
        mechanism = self._value(options, "sasl.mechanism", "PLAIN").upper()
        key, login = options.get("sasl.jaas.config") or self._common.get("sasl.jaas.config") or (None, "")
        key = key or self._key_of(options, "sasl.mechanism", "security.protocol")
        if mechanism not in _MECHANISMS:
            self._find(
                "by hand", key, f"{key}: there is no mechanism {mechanism!r}", f"use {', '.join(sorted(_MECHANISMS))}"
            )
            return {}
        if mechanism == "OAUTHBEARER":
            wanted = {"token": "env:KAFKA_TOKEN"}
        else:
            wanted = {"username": "env:KAFKA_USERNAME", "password": "env:KAFKA_PASSWORD"}
        variables = " and ".join(one.removeprefix("env:") for one in wanted.values())
        what = "is a credential" if _LOGIN.search(login) else "asks for credentials"
        self._find("by hand", key, f"{key} {what} of Kafka", f"set {variables}")
        return {"credentials": {**wanted, "mechanism": mechanism}}

    def _key_of(self, options: Mapping[str, tuple[str, str]], *names: str) -> str:
        found = (options.get(one) or self._common.get(one) for one in names)
        return next((one[0] for one in found if one is not None), "kafka")

    def _dead_letter(self, name: str, options: Mapping[str, tuple[str, str]]) -> dict[str, str]:
        if self._value(options, "failure-strategy", "") != "dead-letter-queue":
            return {}
        return {"deadLetter": self._value(options, "dead-letter-queue.topic", f"dead-letter-topic-{name}")}

    def _tell(self, option: str, key: str, who: str, *, is_known: bool) -> None:
        """Add a finding for an option that its channel's finding does not cover.

        *who* is the channel, or without *is_known*, why nothing is written for it.
        """
        value = self._properties.get(key, "").strip()
        if option in ("connector", "sasl.jaas.config") and is_known:
            return
        if not is_known:
            if option != "connector":
                self._find("differs", key, f"{key} is not written: {who}", "set it where you write the channel")
        elif option.startswith("ssl."):
            self._certificate(option, key, value)
        elif option == "path":
            self._find("differs", key, f"{key} has no effect", "let senders post to /events of swf gateway")
        elif option == "auto.offset.reset" and value != "earliest":
            hint = "let it take the old ones, or begin with the group of the application"
            self._find("differs", key, f"{key}: a new group begins with the oldest message", hint)
        elif option == "failure-strategy" and value == "fail":
            hint = "give the consumer a 'deadLetter'"
            self._find("differs", key, f"{key}: a message that cannot be taken is logged, and others go on", hint)
        elif _AS_JSON.fullmatch(option):
            self._find("rewritten", key, f"{key}: events are CloudEvents in JSON")
        elif option in _READ:
            self._find("rewritten", key, f"{key} is written with {who}")
        else:
            hint = "the page on configuration has the options of consumers and sinks"
            self._find("differs", key, f"{key} has no effect", hint)

    def _certificate(self, option: str, key: str, value: str) -> None:
        place = "under 'hosts' and the name of the broker's host"
        if option.endswith(("password", "type", "protocol", "enabled.protocols")):
            self._find("differs", key, f"{key} has no effect", "PEM files are read without a password")
        elif option == "ssl.endpoint.identification.algorithm":
            if value:
                self._find("rewritten", key, f"{key}: names of brokers are verified")
            else:
                self._find(
                    "by hand", key, f"{key}: names of brokers are verified", f"write 'tls: {{verify: false}}' {place}"
                )
        else:
            word = "'ca'" if "trust" in option else "'cert' and 'key'"
            form = "the file" if value.endswith(PEM) else "it as a PEM file, without a password,"
            self._find("by hand", key, f"{key} is a setting of TLS", f"write {form} as {word} of 'tls' {place}")

    def _sink(self, sink: dict[str, Any], name: str) -> None:
        types = {} if name in _DEFAULTS else {"types": name}
        self._events("sinks").append({"name": name, **types, **sink})

    def _events(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._settings.setdefault("events", {}).setdefault(kind, [])
        return found
