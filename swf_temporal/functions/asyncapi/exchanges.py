"""The exchange of messages with a broker that an operation consists of."""

import hashlib
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.function_types import Callee
from swf_temporal.events.brokers.families import FAMILIES, WIRES, Brokers, Target
from swf_temporal.events.brokers.port import Bindings, BrokerMessage, Channel, Conversing, Credentials, Message
from swf_temporal.functions.asyncapi.messages import (
    Given,
    ReceivedMessage,
    address_of,
    ids_of,
    is_many,
    write_message,
)
from swf_temporal.functions.asyncapi.parts import (
    AsyncApiOperation,
    BrokerServer,
    ChannelPlace,
    MessageType,
    OperationReply,
    check_schemas,
    named_properties,
    names_in,
    value_at,
    with_values,
)
from swf_temporal.functions.asyncapi.parts import Bindings as AllBindings
from swf_temporal.functions.asyncapi.security import Authentication, broker_credentials
from swf_temporal.functions.asyncapi.subscriptions import Portion, next_messages, read_delivered
from swf_temporal.functions.call import IDEMPOTENCY_KEY, Call
from swf_temporal.functions.documents.parts import Document
from swf_temporal.functions.documents.servers import no_server, variable_value
from swf_temporal.functions.http.parameters import as_text
from swf_temporal.functions.limits import RateLimits
from swf_temporal.settings.calls import Settings
from swf_temporal.text.suggestions import suggestion


@dataclass(frozen=True, slots=True)
class DocumentTarget(Target):
    """The address of a server that a document may describe."""

    server: BrokerServer | None = None
    """The server's description in the document."""


@dataclass(frozen=True, slots=True)
class WantedServer:
    """The server that a call asks for, of those of a document."""

    variables: Mapping[str, JSON] = field(default_factory=dict)
    name: str | None = None
    protocol: str | None = None


def read_wanted(operation: str, arguments: JSON) -> WantedServer:
    """Return the server in *arguments*: `server`, with a `name` and `variables`, and `protocol`. Raises CallFailed."""
    given: dict[str, Any] = arguments if isinstance(arguments, dict) else {}
    server, protocol = given.get("server"), given.get("protocol")
    about = {} if server is None else server
    name, values = (about.get("name"), about.get("variables")) if isinstance(about, dict) else (0, None)
    if not isinstance(name, str | None) or not isinstance(values, dict | None) or about.keys() - {"name", "variables"}:
        message = f"operation '{operation}': 'server' is {server!r}; it must be an object with 'name' and 'variables'"
        raise permanent_failure("BadArguments", message)
    if protocol is not None and (not isinstance(protocol, str) or protocol.lower() not in WIRES):
        message = f"operation '{operation}': the protocol {protocol!r} is not supported; it must be one of "
        raise permanent_failure("BadOperation", message + ", ".join(WIRES))
    return WantedServer(values or {}, name, protocol)


def find_server(
    settings: Settings, call: Call, document: Document, servers: Sequence[BrokerServer], wanted: WantedServer
) -> DocumentTarget:
    """Return the server to use among the *servers* of a channel.

    A configured one takes precedence, for the function or for the document. The one configured for all only counts if
    its protocol is one of the document's: it is meant for other services as well. The next choice is the *wanted*
    server, and else the first with a supported protocol, or the first with the variables to which the function gives
    values. Raises CallFailed if there is no server.
    """
    servers = _narrowed(document, servers, wanted)
    spoken = [server for server in servers if protocol_of(server) in WIRES]
    if configured := _configured(settings, call.callee, spoken):
        protocol, _, rest = configured.partition("://")
        return _target(protocol.lower(), rest, _alike(spoken, WIRES[protocol.lower()].family))
    if spoken:
        given = wanted.variables
        server = next((server for server in spoken if given.keys() <= server.variables.keys()), spoken[0])
        return _target(protocol_of(server), _filled(document, server, given).rpartition("://")[2], server)
    others = ", ".join(sorted({f"'{server.protocol}'" for server in servers}))
    supported = f"those that are: {', '.join(WIRES)}"
    reason = f"its protocols are not supported ({others}; {supported})" if others else "it does not name one"
    raise no_server(call.function.name, f"the document '{document.name}': {reason}")


def _narrowed(document: Document, servers: Sequence[BrokerServer], wanted: WantedServer) -> Sequence[BrokerServer]:
    """Return those of *servers* that the call asks for. Raises CallFailed if there are none."""
    if wanted.name is not None:
        found = [server for server in servers if server.name == wanted.name]
        why = f"the document '{document.name}' has no server '{wanted.name}' for this channel"
        names = [server.name for server in servers]
        hint = suggestion(wanted.name, names)
    elif wanted.protocol is not None:
        family = WIRES[wanted.protocol.lower()].family
        found = [server for server in servers if protocol_of(server) in WIRES and _alike([server], family)]
        why = f"the document '{document.name}' has no server with the protocol '{wanted.protocol}' for this channel"
        hint = ""
    else:
        return servers
    if not found:
        raise permanent_failure("BadOperation", why + hint)
    return found


def protocol_of(server: BrokerServer) -> str:
    """Return the protocol of a server. If the scheme of its URL differs, it is the secure one of the two."""
    scheme = server.url.partition("://")[0].lower() if "://" in server.url else server.protocol
    declared, in_url = WIRES.get(server.protocol), WIRES.get(scheme)
    is_better = in_url is not None and (declared is None or (in_url.family == declared.family and in_url.is_secure))
    return scheme if is_better else server.protocol


def _configured(settings: Settings, callee: Callee, spoken: Sequence[BrokerServer]) -> str | None:
    configured = settings.base_url_for(callee)
    if configured is None:
        return None
    wire = WIRES.get(configured.partition("://")[0].lower())
    is_meant = wire is not None and (not spoken or _alike(spoken, wire.family) is not None)
    if configured == settings.calls.base_url and not is_meant:
        return None
    if wire is None:
        server = f"the server of function '{callee.function}' is {configured!r}"
        message = f"{server}, whose protocol is not one of {', '.join(WIRES)}"
        raise permanent_failure("BadUrl", message)
    return configured


def _alike(servers: Sequence[BrokerServer], family: str) -> BrokerServer | None:
    return next((server for server in servers if WIRES[protocol_of(server)].family == family), None)


def _filled(document: Document, server: BrokerServer, given: Mapping[str, JSON]) -> str:
    """Return the URL of *server* with its variables replaced: by the values *given*, or their defaults."""
    for name in given:
        if name not in server.variables:
            message = f"the server '{server.name}' of '{document.name}' has no variable '{name}'"
            raise permanent_failure("BadOperation", message + suggestion(name, server.variables))
    values: dict[str, str] = {}
    for name in names_in(server.url):
        declared = server.variables.get(name, {})
        known = declared.get("enum")
        default = declared.get("default", known[0] if isinstance(known, list) and known else None)
        if default is None and given.get(name) is None:
            message = f"the document '{document.name}' has no default for the variable '{name}' of {server.url}"
            raise permanent_failure("BadDocument", message)
        values[name] = variable_value(document, name, {**declared, "default": default}, given.get(name))
    return with_values(server.url, values)


def _target(protocol: str, rest: str, server: BrokerServer | None) -> DocumentTarget:
    return replace(DocumentTarget.at(protocol, rest), server=server)


async def channel_to(
    settings: Settings, call: Call, target: DocumentTarget, address: str, credentials: Credentials, bindings: Bindings
) -> Channel:
    """Return the channel of that address at *target*, with the operator's settings. Raises CallFailed."""
    family = target.wire.family
    options = settings.options_for(call.callee, target.host, target.port)
    # The HTTP client applies settings and network rules itself.
    if family == "ws":
        credentials = _with_configured(credentials, options.headers)
    addresses = [] if family == "http" else await settings.network.allowed_addresses(target.host, target.port)
    return Channel(
        protocol=target.protocol,
        host=target.host,
        port=target.port,
        path=target.path,
        address=address,
        client_id=identity_of(call),
        timeout=options.timeout.total_seconds(),
        credentials=credentials,
        bindings=bindings,
        tls=options.tls.context() if target.wire.is_secure and family != "http" else None,
        version=target.server.version if target.server else None,
        addresses=tuple(addresses),
        max_bytes=options.max_response_bytes,
        callee=call.callee,
    )


def _with_configured(credentials: Credentials, headers: Mapping[str, str]) -> Credentials:
    given = {name.lower() for name, _ in credentials.headers}
    more = ((name, value) for name, value in headers.items() if name.lower() not in given)
    return replace(credentials, headers=(*credentials.headers, *more))


def identity_of(call: Call) -> str:
    """Return an id shared by all attempts at a call, and by no other call: short, of letters and digits."""
    return short_id(call.idempotency_key or str(uuid.uuid4()))


def short_id(text: str) -> str:
    """Return an id for *text* that brokers accept as a name."""
    return f"swf-{hashlib.sha256(text.encode()).hexdigest()[:18]}"


def query_names(operation: AsyncApiOperation, family: str) -> Sequence[str]:
    """Return the names of arguments for the query, for protocols that begin with an HTTP request."""
    about = {
        "ws": _bindings_of(operation.place.bindings, "ws").get("query"),
        "http": _bindings_of(operation.bindings, "http").get("query"),
    }
    return tuple(named_properties(about.get(family)))


def with_query(address: str, query: Mapping[str, JSON], secret: Mapping[str, str]) -> str:
    """Return *address* with a query."""
    pairs = {
        name: [as_text(item) for item in value] if isinstance(value, list) else as_text(value)
        for name, value in query.items()
    }
    text = urlencode({**pairs, **secret}, doseq=True)
    return f"{address}{'&' if '?' in address else '?'}{text}" if text else address


def bindings_of(
    target: DocumentTarget, place: ChannelPlace, operation: AsyncApiOperation, kind: MessageType | None
) -> Bindings:
    """Return the document's bindings for the protocol of *target*, at each level that can have them."""
    family = target.wire.family
    return Bindings(
        server=_bindings_of(target.server.bindings, family) if target.server else {},
        channel=_bindings_of(place.bindings, family),
        operation=_bindings_of(operation.bindings, family),
        message=_bindings_of(kind.bindings, family) if kind else {},
    )


def _bindings_of(bindings: AllBindings, family: str) -> Mapping[str, JSON]:
    return bindings.get(family) or (bindings.get("mqtt5") if family == "mqtt" else None) or {}


@dataclass(frozen=True, slots=True)
class BrokerCall:
    """A call, with everything known about it before a broker is contacted."""

    call: Call
    operation: AsyncApiOperation
    target: DocumentTarget
    given: Given
    authentication: Authentication

    @property
    def family(self) -> str:
        return self.target.wire.family


class Exchanges:
    def __init__(self, settings: Settings, limits: RateLimits, brokers: Brokers) -> None:
        self._settings = settings
        self._limits = limits
        self._brokers = brokers

    async def perform(self, task: BrokerCall) -> ReceivedMessage | None:
        """Return the received message, or None if none is expected. Raises CallFailed."""
        reply = task.operation.reply
        check_schemas([*task.operation.messages, *(reply.messages if reply else ())])
        if not task.operation.sends:
            return await self._receive(task)
        if reply is not None:
            return await self._request(task, reply)
        kind, message = write_message(task.operation, task.given)
        channel = await self._channel(task, task.operation.place, kind)
        await self._send(channel, task, message)
        return None

    async def next_of(self, task: BrokerCall, portion: Portion) -> JSON:
        """Return the next messages of a subscription, or end it. Raises CallFailed."""
        kinds = task.operation.messages
        check_schemas(kinds)
        channel = await self._channel(task, task.operation.place, kinds[0] if kinds else None)
        channel = replace(channel, client_id=short_id(portion.subscription))
        return await next_messages(self._brokers.speaking(task.family), channel, kinds, portion)

    async def _send(self, channel: Channel, task: BrokerCall, message: Message) -> None:
        # The HTTP client waits for a turn itself: calls that held one each could wait for a second one forever.
        turn = nullcontext() if task.family == "http" else self._limits.of_host(task.target.host, task.target.port)
        async with turn:
            await self._brokers.speaking(task.family).send(channel, _marked(message, task.call))

    async def _receive(self, task: BrokerCall) -> ReceivedMessage:
        kinds, wanted = task.operation.messages, task.given.correlation_id
        channel = await self._channel(task, task.operation.place, kinds[0] if kinds else None)

        def is_wanted(message: Message) -> bool:
            return wanted is None or wanted in ids_of(kinds, message)

        async with self._brokers.speaking(task.family).receive(channel) as deliveries:
            return await _first(channel, deliveries, kinds, is_wanted)

    async def _request(self, task: BrokerCall, reply: OperationReply) -> ReceivedMessage:
        """Send a message and wait for its reply.

        The reply is the first message with the id of the request. Without any id, a message only counts if it must be
        the reply: on the request's own connection, or at an address that was made up for this call.
        """
        broker = self._brokers.speaking(task.family)
        request_id = task.given.correlation_id or identity_of(task.call)
        if isinstance(broker, Conversing) and reply.place.address in {None, task.operation.place.address}:
            kind, message = write_message(task.operation, task.given, request_id=request_id)
            channel = await self._channel(task, task.operation.place, kind)
            async with broker.converse(channel, _marked(message, task.call)) as deliveries:
                return await _first(channel, deliveries, reply.messages, _answering(message, reply, is_own=True))
        address, is_own = _reply_address(task, reply)
        kind, message = write_message(task.operation, task.given, request_id=request_id, reply_to=address)
        channel = await self._channel(task, task.operation.place, kind)
        answers = await self._reply_channel(task, reply, address, is_own=is_own)
        async with broker.receive(answers) as deliveries:
            await self._send(channel, task, message)
            return await _first(answers, deliveries, reply.messages, _answering(message, reply, is_own=is_own))

    async def _channel(self, task: BrokerCall, place: ChannelPlace, kind: MessageType | None) -> Channel:
        bindings = bindings_of(task.target, place, task.operation, kind)
        return await self._channel_at(task, address_of(place, task.given, task.family), bindings)

    async def _reply_channel(self, task: BrokerCall, reply: OperationReply, address: str, *, is_own: bool) -> Channel:
        bindings = bindings_of(task.target, reply.place, task.operation, next(iter(reply.messages), None))
        if is_own and task.family == "amqp":
            # A queue only exists once it is declared; an exclusive one is deleted with the connection of this call.
            queue: JSON = {"name": address, "durable": False, "exclusive": True, "autoDelete": False}
            bindings = replace(bindings, channel={"is": "queue", "queue": queue})
        return await self._channel_at(task, address, bindings)

    async def _channel_at(self, task: BrokerCall, address: str, bindings: Bindings) -> Channel:
        begins_by_http = FAMILIES[task.family].begins_by_http
        credentials = broker_credentials(task.authentication, task.call, by_http=begins_by_http)
        if (credentials.username, credentials.password, credentials.token) == (None, None, None):
            credentials = replace(credentials, username=task.target.username, password=task.target.password)
        if begins_by_http:
            secret = {one.name: one.value for one in task.authentication.credentials if one.where == "query"}
            address = with_query(address, task.given.query, secret)
            if not task.operation.sends:
                headers = ((name, as_text(value)) for name, value in task.given.headers.items() if value is not None)
                credentials = replace(credentials, headers=(*credentials.headers, *headers))
        return await channel_to(self._settings, task.call, task.target, address, credentials, bindings)


def _reply_address(task: BrokerCall, reply: OperationReply) -> tuple[str, bool]:
    """Return the address for a reply, and whether it was made up for this call."""
    server, others = task.target.server, reply.place.servers
    if server is not None and server not in others:
        message = f"operation '{task.operation.id}' has its reply on another server than '{server.name}'"
        raise permanent_failure("BadDocument", message)
    if reply.place.address is not None:
        return address_of(reply.place, task.given, task.family), False
    given = task.given
    chosen = value_at(reply.location, given.headers, given.payload) if reply.location is not None else None
    if chosen and is_many(chosen, task.family):
        message = f"operation '{task.operation.id}' would have its reply at {chosen!r}, which is not a single address"
        raise permanent_failure("BadArguments", message)
    return (chosen, False) if chosen else (f"{identity_of(task.call)}-reply", True)


def _answering(asked: Message, reply: OperationReply, *, is_own: bool) -> Callable[[Message], bool]:
    def is_reply(message: Message) -> bool:
        ids = ids_of(reply.messages, message)
        return asked.correlation_id in ids if ids else is_own

    return is_reply


async def _first(
    channel: Channel,
    deliveries: AsyncIterator[BrokerMessage],
    kinds: Sequence[MessageType],
    is_wanted: Callable[[Message], bool],
) -> ReceivedMessage:
    """Return the first wanted message; all others stay on the broker."""
    async for delivery in deliveries:
        message = delivery.message
        if not is_wanted(message):
            continue
        # Accepted even if it proves to be malformed: otherwise it would be redelivered forever, and block others.
        await delivery.accept()
        return read_delivered(channel, kinds, message)
    raise CallFailed(f"{channel}: it was closed before the expected message arrived", code="ConnectionLost")


def _marked(message: Message, call: Call) -> Message:
    """Return *message* with the key by which the receiver can detect a repetition."""
    if call.key_in_headers is None or IDEMPOTENCY_KEY.lower() in {name.lower() for name in message.headers}:
        return message
    return replace(message, headers={**message.headers, IDEMPOTENCY_KEY: call.key_in_headers})
