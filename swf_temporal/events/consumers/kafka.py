"""Messages from a Kafka topic, consumed in a group with committed offsets."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from swf_temporal.base.importing import optional
from swf_temporal.events.brokers.kafka import incoming, mapping_faults, options_of, started, topic_of
from swf_temporal.events.brokers.port import Channel
from swf_temporal.events.consumers.consumer import Incoming
from swf_temporal.settings.events import ConsumerSettings


class KafkaSource:
    """Consumes as a member of a group; a new group begins with the oldest message.

    The offset committed for a partition is the first that is not done: all messages before it are done.
    """

    def __init__(self, channel: Channel, settings: ConsumerSettings) -> None:
        self._channel = channel
        self._group = settings.group or settings.name
        self._prefetch = settings.prefetch

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
        channel = self._channel
        with mapping_faults(channel):
            library = optional("aiokafka", "kafka", "messages of Kafka")
            consumer = library.AIOKafkaConsumer(
                **await options_of(channel),
                group_id=self._group,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                isolation_level="read_committed",
                max_poll_records=self._prefetch,
            )
            offsets = _Offsets(consumer)
            library.ConsumerRebalanceListener.register(_Offsets)
            consumer.subscribe([topic_of(channel)], listener=offsets)
        async with started(channel, consumer):
            yield self._messages(consumer, offsets)

    async def _messages(self, consumer: Any, offsets: "_Offsets") -> AsyncGenerator[Incoming]:
        place = optional("aiokafka", "kafka", "messages of Kafka").TopicPartition
        while True:
            with mapping_faults(self._channel):
                record = await consumer.getone()
            yield self._told(offsets, place(record.topic, record.partition), record)

    def _told(self, offsets: "_Offsets", partition: Any, record: Any) -> Incoming:
        done = offsets.begin(partition, record.offset)

        async def accept() -> None:
            done.append(record.offset)
            with mapping_faults(self._channel):
                await offsets.commit()

        # Kafka has no dead letters: a refused message is skipped.
        lane = f"topic {record.topic}, partition {record.partition}"
        found = f"{lane}, offset {record.offset}"
        return Incoming(incoming(self._channel, record), accept, accept, lane=lane, place=found)


class _Progress:
    """The progress of one partition, since it was assigned."""

    def __init__(self) -> None:
        self.begun: deque[int] = deque()
        self.done: list[int] = []

    def behind_all_done(self) -> int | None:
        """Return the offset after the contiguous messages that are done, and forget these."""
        done, behind = set(self.done), None
        while self.begun and self.begun[0] in done:
            behind = self.begun.popleft() + 1
            done.discard(behind - 1)
        self.done[:] = done
        return behind


class _Offsets:
    """Commits offsets, one request at a time: messages done meanwhile are part of the next one.

    During a rebalance nothing is committed: the broker would refuse it, and the library would leave the group, which
    starts another rebalance. Messages whose offsets were not committed are redelivered, here or to another member.
    """

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self._partitions: dict[Any, _Progress] = {}
        self._committing = asyncio.Lock()
        self._is_sharing = False

    async def on_partitions_revoked(self, _: object) -> None:
        self._is_sharing = True
        async with self._committing:
            pass  # the broker still accepts the commit that is under way

    async def on_partitions_assigned(self, _: object) -> None:
        self._is_sharing = False

    def begin(self, partition: Any, offset: int) -> list[int]:
        """Record a message; return the list to which its offset is added when it is done."""
        progress = self._partitions.setdefault(partition, _Progress())
        if progress.begun and offset <= progress.begun[-1]:
            # The partition was revoked and assigned again: its messages are redelivered, so start over.
            progress = self._partitions[partition] = _Progress()
        progress.begun.append(offset)
        return progress.done

    async def commit(self) -> None:
        if self._committing.locked():
            return
        async with self._committing:
            while not self._is_sharing and (due := self._due()):
                with suppress(optional("aiokafka.errors", "kafka", "messages of Kafka").CommitFailedError):
                    await self._consumer.commit(due)

    def _due(self) -> Mapping[Any, int]:
        assigned = self._consumer.assignment()
        for gone in self._partitions.keys() - assigned:
            del self._partitions[gone]
        found = {each: progress.behind_all_done() for each, progress in self._partitions.items()}
        return {each: offset for each, offset in found.items() if offset is not None}
