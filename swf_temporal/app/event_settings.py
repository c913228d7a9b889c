"""The settings of events, from the section `events` of the configuration file."""

import os
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from swf_temporal.errors import CallFailed, UsageError
from swf_temporal.events.channels import family_of, target_of
from swf_temporal.events.settings import (
    ROUTER,
    BrokerAddress,
    ConsumerSettings,
    EventSettings,
    SinkSettings,
)
from swf_temporal.functions.asyncapi.brokers.protocols import WIRES
from swf_temporal.functions.operator.configuration import Section, configuration_file, content_of, validated
from swf_temporal.functions.operator.parsers import as_count, as_headers, as_names, as_size, as_timeout
from swf_temporal.routing.chains import MAX_HOPS

_WORDS: Final = {"amqp": "queue", "kafka": "topic", "mqtt": "topic", "nats": "subject"}
"""What the address at a broker is called, by the family of its protocol."""
_OF_AMQP: Final = ("exchange", "routing_key", "declare")


def _as_place(value: object) -> str:
    text = str(value).strip()
    if text.partition("://")[0].lower() not in WIRES or "://" not in text:
        raise ValueError(f"it must be a URL with one of the schemes {', '.join(WIRES)}")
    try:
        target_of(text)
    except CallFailed as error:
        raise ValueError(str(error)) from None
    return text


def _as_destination(value: object) -> str:
    return ROUTER if value == ROUTER else _as_place(value)


class _Credentials(Section):
    username: str | None = None
    password: str | None = None
    token: str | None = None
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = None


class _Place(Section):
    name: str
    queue: str | None = None
    topic: str | None = None
    subject: str | None = None
    exchange: str | None = None
    routing_key: str | None = None
    declare: bool = False
    version: Literal["3.1.1", "5"] | None = None
    client_id: str | None = None
    stream: str | None = None
    headers: Annotated[dict[str, str], BeforeValidator(as_headers)] = Field(default_factory=dict)
    credentials: _Credentials = Field(default_factory=_Credentials)


class _Consumer(_Place):
    from_: Annotated[str, BeforeValidator(_as_place)] = Field(alias="from")
    group: str | None = None
    prefetch: Annotated[int, BeforeValidator(as_count)] = 100
    ordered: bool = True
    max_bytes: Annotated[int, BeforeValidator(as_size)] = 1024 * 1024
    dead_letter: str | None = None


class _Sink(_Place):
    to: Annotated[str, BeforeValidator(_as_destination)]
    types: Annotated[tuple[str, ...], BeforeValidator(as_names)] = ("*",)
    sources: Annotated[tuple[str, ...], BeforeValidator(as_names)] = ("*",)
    mode: Literal["structured", "binary"] = "structured"
    timeout: Annotated[timedelta | None, BeforeValidator(as_timeout)] = None
    ordered: bool = False
    max_attempts: Annotated[int | None, BeforeValidator(as_count)] = None


class _Events(Section):
    consumers: list[_Consumer] = Field(default_factory=list)
    sinks: list[_Sink] = Field(default_factory=list)
    lifecycle: list[Literal["workflow", "task", "status"]] = Field(default_factory=list)
    max_hops: Annotated[int, BeforeValidator(as_count)] = MAX_HOPS


def read_event_settings(env: Mapping[str, str] = os.environ, *, file: Path | None = None) -> EventSettings:
    """Return what the configuration *file*, else the one in `SWF_CONFIG`, says of events. Raises UsageError.

    `SWF_SINK` adds a sink: an HTTP address that gets every produced event.
    """
    path = configuration_file(env, file)
    events = _section(path)
    reading = _Reading(env, path or Path())
    sinks = [reading.sink(one) for one in events.sinks]
    if url := env.get("SWF_SINK", "").strip():
        sinks.append(SinkSettings("SWF_SINK", BrokerAddress(_sink_of_variable(url))))
    consumers = tuple(reading.consumer(one) for one in events.consumers)
    _check_names("consumers", [one.name for one in consumers])
    _check_names("sinks", [one.name for one in sinks])
    return EventSettings(consumers, tuple(sinks), frozenset(events.lifecycle), events.max_hops)


def read_max_hops(env: Mapping[str, str] = os.environ, *, file: Path | None = None) -> int:
    """Return how many instances a chain may have that events start. Raises UsageError."""
    return _section(configuration_file(env, file)).max_hops


def _section(path: Path | None) -> _Events:
    """Return what the file at *path* says of events. Secrets that it names are not looked up."""
    content: Any = {} if path is None else content_of(path)
    section = content.get("events") if isinstance(content, dict) else None
    return _Events() if path is None or section is None else validated(_Events, section, path, ("events",))


class _Reading:
    """Reads what the file at *path* says, with what *env* and files hold for it."""

    def __init__(self, env: Mapping[str, str], path: Path) -> None:
        self._env = env
        self._path = path

    def consumer(self, consumer: _Consumer) -> ConsumerSettings:
        where = f"events › consumers › {consumer.name}"
        broker = self._broker(consumer, consumer.from_, where, needs_address=True)
        family = family_of(consumer.from_)
        if family == "http":
            raise UsageError(f"{self._path}: {where}: events come over HTTP to swf gateway", "name a broker as `from`")
        if family == "mqtt" and not consumer.ordered:
            raise UsageError(f"{self._path}: {where} › ordered: messages of MQTT are acknowledged in their order")
        if consumer.dead_letter is not None and family == "ws":
            raise UsageError(f"{self._path}: {where} › deadLetter: WebSocket has no place for dead letters")
        return ConsumerSettings(
            consumer.name,
            broker,
            consumer.group,
            consumer.prefetch,
            ordered=consumer.ordered,
            max_bytes=consumer.max_bytes,
            dead_letter=consumer.dead_letter,
        )

    def sink(self, sink: _Sink) -> SinkSettings:
        where = f"events › sinks › {sink.name}"
        if sink.to == ROUTER:
            broker = BrokerAddress(ROUTER)
        else:
            broker = self._broker(sink, sink.to, where, needs_address=sink.exchange is None)
            if sink.mode == "binary" and (family_of(sink.to) == "ws" or sink.version == "3.1.1"):
                raise UsageError(
                    f"{self._path}: {where} › mode: CloudEvents have no binary mode over this protocol",
                    "use structured",
                )
        return SinkSettings(
            sink.name, broker, sink.types, sink.sources, sink.mode, sink.timeout, sink.ordered, sink.max_attempts
        )

    def _broker(self, place: _Place, url: str, where: str, *, needs_address: bool) -> BrokerAddress:
        family = family_of(url)
        word = _WORDS.get(family)
        for other in dict.fromkeys(_WORDS.values()):
            if other != word and getattr(place, other) is not None:
                wanted = f"over {family} there is {'no such thing' if word is None else f'a {word}'}"
                raise UsageError(f"{self._path}: {where} › {other}: {wanted}")
        if family != "amqp" and any(getattr(place, option) for option in _OF_AMQP):
            raise UsageError(f"{self._path}: {where}: `exchange`, `routingKey` and `declare` are options of AMQP only")
        if place.stream is not None and family != "nats":
            raise UsageError(f"{self._path}: {where} › stream: only NATS has streams")
        address = None if word is None else getattr(place, word)
        if word is not None and not address and needs_address:
            raise UsageError(f"{self._path}: {where}: the {word} is missing", f"write {word}: NAME")
        credentials = place.credentials
        return BrokerAddress(
            url,
            address or "",
            place.exchange,
            place.routing_key,
            place.declare,
            self._secret(credentials.username, where),
            self._secret(credentials.password, where),
            self._secret(credentials.token, where),
            credentials.mechanism,
            {name: self._secret(value, where) or "" for name, value in place.headers.items()},
            place.version,
            place.client_id,
            place.stream,
        )

    def _secret(self, text: str | None, where: str) -> str | None:
        """Return *text*, or what the variable or the file holds that it names."""
        kind, colon, name = (text or "").partition(":")
        if text is None or not colon or kind not in {"env", "file"}:
            return text
        if kind == "env":
            if name not in self._env:
                raise UsageError(f"{self._path}: {where}: the variable {name} is not set")
            return self._env[name]
        try:
            return (self._path.parent / name).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise UsageError(f"{self._path}: {where}: the file {name} cannot be read: {error}") from None


def _sink_of_variable(url: str) -> str:
    try:
        return _as_place(url)
    except ValueError as error:
        raise UsageError(f"SWF_SINK is {url!r}", str(error)) from None


def _check_names(part: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not name.strip() or name in seen:
            raise UsageError(f"events › {part}: {name!r} is used more than once", "names must be unique")
        seen.add(name)
