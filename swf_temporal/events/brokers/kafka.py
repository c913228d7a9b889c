"""Messages to and from a Kafka cluster.

The library is aiokafka: it is asyncio throughout, so that a waiting call can be cancelled, and it takes the same TLS
settings as all other calls. librdkafka's client does neither: it waits in threads and reads certificates itself.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import partial
from typing import Any

from swf_temporal.base.importing import optional
from swf_temporal.events.brokers.port import (
    DENIED,
    LOST,
    TOO_LARGE,
    UNKNOWN,
    BrokerMessage,
    Channel,
    Message,
    Refused,
    Send,
    connect_address,
    mapped,
    translating,
    word,
)

_PORT = 9092
_CONTENT_TYPE = "content-type"
_KEY = "key"
_TIMEOUT = ("Timeout", "the broker did not answer in time")
_LOOKS, _LOOKING = 10, 0.2
"""How often a topic is looked for, and the seconds between two times."""
_PATIENCE = 0.9
"""The fraction of the timeout after which the library gives up by itself, and says why."""


class Kafka:
    """Produces idempotently; consumes as a member of a group or, without a group, only new messages."""

    async def send(self, channel: Channel, message: Message) -> None:
        """Send *message*, and wait until every in-sync replica has it."""
        with mapping_faults(channel):
            async with asyncio.timeout(channel.timeout), self.sending(channel) as send:
                await send(channel, message)

    @asynccontextmanager
    async def sending(self, channel: Channel) -> AsyncIterator[Send]:
        with mapping_faults(channel):
            producer = _library("aiokafka").AIOKafkaProducer(
                **await options_of(channel),
                acks="all",
                enable_idempotence=True,
                max_request_size=channel.max_bytes,
            )

        async def send(to: Channel, message: Message) -> None:
            key, headers = _key(to, message)
            with mapping_faults(to):
                async with asyncio.timeout(to.timeout):
                    await producer.send_and_wait(
                        topic_of(to),
                        message.payload,
                        key=None if key is None else key.encode(),
                        headers=[(name, value.encode()) for name, value in headers.items()],
                    )

        async with started(channel, producer):
            yield send

    @asynccontextmanager
    async def receive(self, channel: Channel) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Consume after the committed offsets of the document's group; without a group, only new messages."""
        group = word(channel.bindings.operation, "groupId")
        with mapping_faults(channel):
            consumer = _library("aiokafka").AIOKafkaConsumer(
                topic_of(channel), **await options_of(channel), group_id=group, enable_auto_commit=False
            )
        async with started(channel, consumer, channel.timeout):
            with mapping_faults(channel):
                async with asyncio.timeout(channel.timeout):
                    await _placed(consumer, is_member=group is not None)
            yield _deliveries(channel, consumer, is_member=group is not None)

    @asynccontextmanager
    async def resume(self, channel: Channel, receipts: Sequence[str]) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Consume every partition after the offset that is committed for a group of the subscription's own.

        Nobody else is in that group, so it need not be joined, which takes seconds.
        """
        prefix = word(channel.bindings.operation, "groupId")
        with mapping_faults(channel):
            async with asyncio.timeout(channel.timeout):
                partitions = await _partitions(channel)
            consumer = _library("aiokafka").AIOKafkaConsumer(
                **await options_of(channel),
                group_id=f"{prefix}-{channel.client_id}" if prefix else channel.client_id,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
            )
            consumer.assign(partitions)
        async with started(channel, consumer, channel.timeout):
            with mapping_faults(channel):
                async with asyncio.timeout(channel.timeout):
                    await _resumed(consumer, partitions, receipts)
            yield _deliveries(channel, consumer, is_member=True)

    async def forget(self, channel: Channel) -> None:
        """Do nothing: brokers remove the offsets of a group without members after some days."""


@contextmanager
def mapping_faults(channel: Channel) -> Iterator[None]:
    """Turn exceptions raised in the context into CallFailed."""
    errors = _library("aiokafka.errors")
    known = {
        **dict.fromkeys((errors.UnknownTopicOrPartitionError, errors.InvalidTopicError), UNKNOWN),
        **dict.fromkeys((errors.MessageSizeTooLargeError, errors.RecordTooLargeError), TOO_LARGE),
        **dict.fromkeys(
            (
                errors.AuthenticationFailedError,
                errors.SaslAuthenticationFailed,
                errors.UnsupportedSaslMechanismError,
                errors.TopicAuthorizationFailedError,
                errors.GroupAuthorizationFailedError,
                errors.ClusterAuthorizationFailedError,
            ),
            DENIED,
        ),
        **dict.fromkeys((errors.KafkaTimeoutError, errors.RequestTimedOutError, TimeoutError), _TIMEOUT),
        errors.KafkaConnectionError: LOST,
    }
    with translating(channel, known, errors.KafkaError):
        yield


def started(channel: Channel, client: Any, timeout: float | None = None) -> AbstractAsyncContextManager[None]:
    """Start a producer or a consumer within *timeout* seconds, and stop it when the context is left."""
    return mapped(_started(channel, client, timeout), partial(mapping_faults, channel))


@asynccontextmanager
async def _started(channel: Channel, client: Any, timeout: float | None) -> AsyncIterator[None]:
    try:
        try:
            async with asyncio.timeout(timeout):
                await client.start()
        except _library("aiokafka.errors").KafkaConnectionError:
            await _explain(channel)
            raise
        yield
    finally:
        await client.stop()


async def _explain(channel: Channel) -> None:
    """Raise the reason why no broker could be reached, which the library does not report when it has tried them all."""
    options = await options_of(channel)
    host, _, port = options.pop("bootstrap_servers").rpartition(":")
    connection = await _library("aiokafka.conn").create_conn(host.strip("[]"), int(port), **options)
    connection.close()


async def options_of(channel: Channel) -> dict[str, Any]:
    """Return the options that producers, consumers and single connections share."""
    port, credentials = channel.port or _PORT, channel.credentials
    host = await connect_address(channel, port)
    options: dict[str, Any] = {
        "bootstrap_servers": f"{f'[{host}]' if ':' in host else host}:{port}",
        "client_id": word(channel.bindings.operation, "clientId") or channel.client_id,
        "request_timeout_ms": int(channel.timeout * 1000 * _PATIENCE),
        "ssl_context": channel.tls,
    }
    secured = "SSL" if channel.tls else "PLAINTEXT"
    mechanism = credentials.mechanism or (None if credentials.token is None else "OAUTHBEARER")
    if credentials.username is None and mechanism is None:
        return {**options, "security_protocol": secured}
    token = credentials.token
    return {
        **options,
        "security_protocol": f"SASL_{secured}",
        "sasl_mechanism": mechanism or "PLAIN",
        "sasl_plain_username": credentials.username,
        "sasl_plain_password": credentials.password,
        "sasl_oauth_token_provider": None
        if token is None
        else _library("swf_temporal.events.brokers.kafka_token").KafkaToken(token),
    }


async def _placed(consumer: Any, *, is_member: bool) -> None:
    """Determine the position in every partition now, so that no message that arrives meanwhile is missed.

    A group that has not committed an offset yet begins here, even if this attempt ends without a message.
    """
    begun = {}
    for partition in consumer.assignment():
        position = await consumer.position(partition)
        if is_member and await consumer.committed(partition) is None:
            begun[partition] = position
    if begun:
        await consumer.commit(begun)


async def _partitions(channel: Channel) -> list[Any]:
    """Return the partitions of the topic, which some clusters create when they are asked for it."""
    place, topic = _library("aiokafka").TopicPartition, topic_of(channel)
    client = _library("aiokafka.client").AIOKafkaClient(**await options_of(channel))
    try:
        await client.bootstrap()
        await client.add_topic(topic)
        for _ in range(_LOOKS):
            if found := client.cluster.partitions_for_topic(topic):
                return [place(topic, number) for number in sorted(found)]
            await asyncio.sleep(_LOOKING)
            await client.force_metadata_update()
        raise Refused(UNKNOWN)
    except _library("aiokafka.errors").KafkaConnectionError:
        await _explain(channel)
        raise
    finally:
        await client.close()


async def _resumed(consumer: Any, partitions: Sequence[Any], receipts: Sequence[str]) -> None:
    """Move *consumer* to the position of the subscription in each of its partitions, and commit that."""
    begun = {partition: await consumer.committed(partition) for partition in partitions}
    # A partition that was added since the subscription began is read from its beginning.
    is_new = all(offset is None for offset in begun.values())
    fresh = [partition for partition, offset in begun.items() if offset is None]
    found = await (consumer.end_offsets if is_new else consumer.beginning_offsets)(fresh) if fresh else {}
    for receipt in receipts:
        number, _, offset = receipt.partition(":")
        partition = next((one for one in partitions if str(one.partition) == number), None)
        if partition is not None and offset.isdecimal():
            found[partition] = max(found.get(partition, 0), begun[partition] or 0, int(offset) + 1)
    if found:
        await consumer.commit(found)
    for partition in partitions:
        consumer.seek(partition, found.get(partition, begun[partition]))


async def _deliveries(channel: Channel, consumer: Any, *, is_member: bool) -> AsyncIterator[BrokerMessage]:
    place = _library("aiokafka").TopicPartition
    while True:
        with mapping_faults(channel):
            record = await consumer.getone()

        async def accept(record: Any = record) -> None:
            if is_member:
                with mapping_faults(channel):
                    await consumer.commit({place(record.topic, record.partition): record.offset + 1})

        yield BrokerMessage(incoming(channel, record), accept, f"{record.partition}:{record.offset}")


def topic_of(channel: Channel) -> str:
    return word(channel.bindings.channel, "topic") or channel.address


def _key(channel: Channel, message: Message) -> tuple[str | None, Mapping[str, str]]:
    """Return the key, and the headers without it: the header `key` is the key if the document describes one."""
    headers = dict(message.headers)
    if message.content_type is not None:
        headers.setdefault(_CONTENT_TYPE, message.content_type)
    binding = channel.bindings.message
    if _KEY not in binding:
        return None, headers
    constant = word(binding, _KEY)
    return (headers.pop(_KEY, None) if constant is None else constant), headers


def incoming(channel: Channel, record: Any) -> Message:
    headers = {name: (value or b"").decode(errors="replace") for name, value in record.headers}
    types = [value for name, value in headers.items() if name.lower() == _CONTENT_TYPE]
    if _KEY in channel.bindings.message and record.key is not None:
        headers[_KEY] = record.key.decode(errors="replace")
    return Message(record.value or b"", content_type=types[0] if types else None, headers=headers)


def _library(module: str) -> Any:
    return optional(module, "kafka", "functions of type 'asyncapi' over Kafka")
