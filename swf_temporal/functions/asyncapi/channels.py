"""The channel of a broker over which a call goes."""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlencode

from swf_temporal.base.data import JSON
from swf_temporal.events.brokers.port import Bindings, Channel, Credentials
from swf_temporal.functions.asyncapi.operations import AsyncApiOperation, ChannelPlace, MessageType
from swf_temporal.functions.asyncapi.operations import Bindings as AllBindings
from swf_temporal.functions.asyncapi.schemas import named_properties
from swf_temporal.functions.asyncapi.servers import DocumentTarget
from swf_temporal.functions.call import Call
from swf_temporal.functions.http.parameters import as_text
from swf_temporal.settings.calls import Settings


async def channel_to(
    settings: Settings, call: Call, target: DocumentTarget, address: str, credentials: Credentials, bindings: Bindings
) -> Channel:
    """Return the channel of that address at *target*, as the operator's settings want it. Raises CallFailed."""
    family = target.wire.family
    options = settings.options_for(call.callee, target.host, target.port)
    # Requests of HTTP are sent by those who look at settings and network themselves.
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
    """Return what all attempts at a call have in common, and no other call has: short, and of letters and digits."""
    key = call.idempotency_key or str(uuid.uuid4())
    return f"swf-{hashlib.sha256(key.encode()).hexdigest()[:18]}"


def query_names(operation: AsyncApiOperation, family: str) -> Sequence[str]:
    """Return the arguments that go into the query of what begins as HTTP does."""
    about = {
        "ws": _bindings_of(operation.place.bindings, "ws").get("query"),
        "http": _bindings_of(operation.bindings, "http").get("query"),
    }
    return tuple(named_properties(about.get(family)))


def with_query(address: str, query: Mapping[str, JSON], secret: Mapping[str, str]) -> str:
    """Return *address* with what stands behind its question mark."""
    pairs = {
        name: [as_text(item) for item in value] if isinstance(value, list) else as_text(value)
        for name, value in query.items()
    }
    text = urlencode({**pairs, **secret}, doseq=True)
    return f"{address}{'&' if '?' in address else '?'}{text}" if text else address


def bindings_of(
    target: DocumentTarget, place: ChannelPlace, operation: AsyncApiOperation, kind: MessageType | None
) -> Bindings:
    """Return what the document says about the protocol of *target*, in each place where it may say something."""
    family = target.wire.family
    return Bindings(
        server=_bindings_of(target.server.bindings, family) if target.server else {},
        channel=_bindings_of(place.bindings, family),
        operation=_bindings_of(operation.bindings, family),
        message=_bindings_of(kind.bindings, family) if kind else {},
    )


def _bindings_of(bindings: AllBindings, family: str) -> Mapping[str, JSON]:
    return bindings.get(family) or (bindings.get("mqtt5") if family == "mqtt" else None) or {}
