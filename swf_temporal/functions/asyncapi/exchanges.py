"""The messages that go to a broker and come from it when an operation is performed."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.events.brokers.port import Bindings, BrokerMessage, Channel, Conversing, Message
from swf_temporal.events.brokers.protocols import BY_HTTP, Brokers
from swf_temporal.functions.asyncapi.arguments import Given, address_of, is_many
from swf_temporal.functions.asyncapi.channels import bindings_of, channel_to, identity_of, with_query
from swf_temporal.functions.asyncapi.locations import value_at
from swf_temporal.functions.asyncapi.messages import ReceivedMessage, ids_of, read_message, write_message
from swf_temporal.functions.asyncapi.operations import AsyncApiOperation, ChannelPlace, MessageType, OperationReply
from swf_temporal.functions.asyncapi.schemas import check_schemas
from swf_temporal.functions.asyncapi.security import Authentication, broker_credentials
from swf_temporal.functions.asyncapi.servers import DocumentTarget
from swf_temporal.functions.call import Call
from swf_temporal.functions.http.parameters import as_text
from swf_temporal.functions.limits import RateLimits
from swf_temporal.settings.calls import Settings

_IDEMPOTENCY_KEY = "Idempotency-Key"


@dataclass(frozen=True, slots=True)
class BrokerCall:
    """One call, and everything that is known of it before a broker is asked."""

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
        """Return the message that came, or None where none is to come. Raises CallFailed."""
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

    async def _send(self, channel: Channel, task: BrokerCall, message: Message) -> None:
        # The client of HTTP waits for a turn itself: calls that had one each could wait for a second one for ever.
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

        That is the first message that has the id of what was sent. Without any id it counts only where nothing else can
        come: on the connection on which was asked, or at an address that was made up for this call.
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
            # A queue that is not declared is not there; one that is exclusive goes with the connection of this call.
            queue: JSON = {"name": address, "durable": False, "exclusive": True, "autoDelete": False}
            bindings = replace(bindings, channel={"is": "queue", "queue": queue})
        return await self._channel_at(task, address, bindings)

    async def _channel_at(self, task: BrokerCall, address: str, bindings: Bindings) -> Channel:
        credentials = broker_credentials(task.authentication, task.call, by_http=task.family in BY_HTTP)
        if (credentials.username, credentials.password, credentials.token) == (None, None, None):
            credentials = replace(credentials, username=task.target.username, password=task.target.password)
        if task.family in BY_HTTP:
            secret = {one.name: one.value for one in task.authentication.credentials if one.where == "query"}
            address = with_query(address, task.given.query, secret)
            if not task.operation.sends:
                headers = ((name, as_text(value)) for name, value in task.given.headers.items() if value is not None)
                credentials = replace(credentials, headers=(*credentials.headers, *headers))
        return await channel_to(self._settings, task.call, task.target, address, credentials, bindings)


def _reply_address(task: BrokerCall, reply: OperationReply) -> tuple[str, bool]:
    """Return the address for a reply, and whether it was made up for this call alone."""
    server, others = task.target.server, reply.place.servers
    if server is not None and server not in others:
        message = (
            f"operation '{task.operation.id}' is answered at another server than '{server.name}', where it is asked"
        )
        raise permanent_failure("BadDocument", message)
    if reply.place.address is not None:
        return address_of(reply.place, task.given, task.family), False
    given = task.given
    chosen = value_at(reply.location, given.headers, given.payload) if reply.location is not None else None
    if chosen and is_many(chosen, task.family):
        message = f"operation '{task.operation.id}' would be answered at {chosen!r}, which is not one address"
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
    """Return the first message that is wanted; all others stay where they were."""
    async for delivery in deliveries:
        message = delivery.message
        if not is_wanted(message):
            continue
        # Accepted even if it turns out to be broken: it would come again and again, and nothing behind it ever.
        await delivery.accept()
        if len(message.payload) > channel.max_bytes:
            text = f"{channel}: the received message is larger than {channel.max_bytes} bytes"
            raise permanent_failure("AnswerTooLarge", text)
        return read_message(str(channel), kinds, message)
    raise CallFailed(f"{channel}: it was closed before the expected message arrived", code="ConnectionLost")


def _marked(message: Message, call: Call) -> Message:
    """Return *message* with the key by which the receiver can tell a repetition."""
    if call.key_in_headers is None or _IDEMPOTENCY_KEY.lower() in {name.lower() for name in message.headers}:
        return message
    return replace(message, headers={**message.headers, _IDEMPOTENCY_KEY: call.key_in_headers})
