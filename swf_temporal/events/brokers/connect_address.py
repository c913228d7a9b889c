"""The address to which a connection is made, once its host was judged."""

import asyncio

from swf_temporal.events.brokers.port import Channel

_TRYING = 2.0
"""Seconds for one of several addresses of a host, before the next one is tried."""


async def connect_address(channel: Channel, port: int) -> str:
    """Return what to connect to, of that which may be connected to.

    That is an address, as a name that is looked up again may lead elsewhere. A secure connection goes by the name,
    because certificates are for names: who is elsewhere cannot prove to be the host.
    """
    if channel.tls is not None or not channel.addresses:
        return channel.host
    *others, last = channel.addresses
    for address in others:
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(address, port), _TRYING)
        except (OSError, TimeoutError):
            continue
        writer.transport.abort()
        return address
    return last
