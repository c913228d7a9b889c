"""The exchange and the queue of AMQP that a channel means, declared where the document describes them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.base.importing import optional
from swf_temporal.events.brokers.bindings import part, switch, word
from swf_temporal.events.brokers.port import Channel

_QUEUE_EXPIRY = 3_600_000
"""For how many milliseconds a call's own queue is kept while there is no consumer, as between two attempts."""
_DESCRIBING = frozenset({"type", "durable", "autoDelete", "exclusive"})
_TYPES = {"default": "direct"}


@dataclass(frozen=True, slots=True)
class AmqpRoute:
    """The exchange and queue of a channel's messages."""

    virtual_host: str
    key: str
    exchange_name: str
    """Empty for the default exchange, which leads to the queue that the key names."""
    exchange_binding: Mapping[str, JSON]
    queue_name: str
    queue_binding: Mapping[str, JSON]
    is_own_queue: bool
    """Whether messages come through a queue that this call alone consumes from."""

    async def exchange(self, connection: Any) -> tuple[Any, str]:
        """Return the exchange to publish to, and the routing key."""
        if self.exchange_name:
            return await self._exchange(connection), self.key
        if _is_described(self.queue_binding):
            await self._queue(connection)
        return (await _opened(connection)).default_exchange, self.queue_name

    async def queue(self, connection: Any) -> Any:
        """Return the queue to consume from, bound to the exchange if there is one."""
        if self.exchange_name:
            await self._exchange(connection)
        if self.is_own_queue:
            opened = await _opened(connection)
            queue = await opened.declare_queue(self.queue_name, durable=True, arguments={"x-expires": _QUEUE_EXPIRY})
        else:
            queue = await self._queue(connection)
        if self.exchange_name:
            await queue.bind(self.exchange_name, self.key)
        return queue

    async def _exchange(self, connection: Any) -> Any:
        binding = self.exchange_binding
        kind = word(binding, "type") or "direct"

        async def use(opened: Any, *, declare: bool) -> Any:
            if not declare:
                return await opened.get_exchange(self.exchange_name, ensure=True)
            return await opened.declare_exchange(
                self.exchange_name,
                _TYPES.get(kind, kind),
                durable=switch(binding, "durable", default=True),
                auto_delete=switch(binding, "autoDelete", default=False),
            )

        return await _used(connection, use, binding)

    async def _queue(self, connection: Any) -> Any:
        binding = self.queue_binding

        async def use(opened: Any, *, declare: bool) -> Any:
            if not declare:
                return await opened.get_queue(self.queue_name, ensure=True)
            return await opened.declare_queue(
                self.queue_name,
                durable=switch(binding, "durable", default=True),
                exclusive=switch(binding, "exclusive", default=False),
                auto_delete=switch(binding, "autoDelete", default=False),
            )

        return await _used(connection, use, binding)


def route_of(channel: Channel) -> AmqpRoute:
    """Return what the bindings of *channel* say. Without any, its address is the name of a queue."""
    binding = channel.bindings.channel
    queue, exchange = part(binding, "queue"), part(binding, "exchange")
    by_key = word(binding, "is") == "routingKey" or (word(binding, "is") is None and bool(exchange))
    exchange_name = "" if not by_key or word(exchange, "type") == "default" else word(exchange, "name") or ""
    queue_name = word(queue, "name")
    is_own_queue = bool(exchange_name) and queue_name is None
    hosts = [word(queue, "vhost"), word(exchange, "vhost"), channel.path.removeprefix("/")]
    return AmqpRoute(
        virtual_host=next((host for host in hosts if host and host != "/"), "/"),
        key=channel.address,
        exchange_name=exchange_name,
        exchange_binding=exchange,
        queue_name=channel.client_id if is_own_queue else queue_name or channel.address,
        queue_binding=queue,
        is_own_queue=is_own_queue,
    )


async def _used(connection: Any, use: Callable[..., Awaitable[Any]], binding: Mapping[str, JSON]) -> Any:
    """Return what is there as it is; declare what is not, if the document describes it.

    What is there may differ from its description, and a user may be allowed to use it and not to declare it.
    """
    try:
        return await use(await _opened(connection), declare=False)
    except optional("aiormq.exceptions", "amqp", "functions of type 'asyncapi' over AMQP").ChannelNotFoundEntity:
        if not _is_described(binding):
            raise
    # The broker has closed the channel of the question.
    return await use(await _opened(connection), declare=True)


def _is_described(binding: Mapping[str, JSON]) -> bool:
    return not _DESCRIBING.isdisjoint(binding)


async def _opened(connection: Any) -> Any:
    """Return a channel. It is closed when the broker ends its consumer, which the library lets wait in vain, untold."""
    opened = await connection.channel(publisher_confirms=True, on_return_raises=True)
    closing: list[asyncio.Task[None]] = []

    def close(_: Any) -> None:
        closing.append(asyncio.create_task(opened.close()))

    (await opened.get_underlay_channel()).on_consumer_cancel_callbacks.add(close)
    return opened
