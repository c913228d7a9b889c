"""An operation as an AsyncAPI document describes it.

Versions 2 and 3 are read into the same words, those of 3.0. An operation that the document calls `publish` is one
that sends: section "Using Functions for Async API Service Invocations" has workflows carry out the operations as they
are called.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.functions.documents.parts import Document

Bindings = Mapping[str, Mapping[str, JSON]]
"""The bindings of each protocol in a document."""
Possibilities = Sequence[Mapping[str, tuple[dict[str, Any], list[JSON]]]]
"""Of proving who is calling: in each, schemes by name, with the scopes that are needed."""


@dataclass(frozen=True, slots=True)
class AddressParameter:
    """A part of an address that is not fixed."""

    name: str
    default: str | None = None
    enum: tuple[str, ...] = ()
    location: str | None = None
    """Where the message has it, `$message.payload#/id`."""


@dataclass(frozen=True, slots=True)
class MessageType:
    name: str
    content_type: str
    payload: JSON = None
    """The schema, free of references to anywhere else; None if any payload will do."""
    headers: JSON = None
    """The schema of all headers together."""
    schema_format: str = ""
    correlation: str | None = None
    """Where the id stands by which a message is known to belong to another, `$message.header#/id`."""
    bindings: Bindings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BrokerServer:
    name: str
    protocol: str
    url: str
    """With `{name}`s for its variables; perhaps without a scheme."""
    variables: Mapping[str, Mapping[str, JSON]] = field(default_factory=dict)
    version: str | None = None
    """Of the protocol."""
    security: Possibilities = ()
    bindings: Bindings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChannelPlace:
    address: str | None
    """With `{name}`s for its parameters; None if it is only known at run time."""
    parameters: tuple[AddressParameter, ...] = ()
    servers: tuple[BrokerServer, ...] = ()
    """Where the channel is; the others of the document do not have it."""
    bindings: Bindings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OperationReply:
    place: ChannelPlace
    location: str | None = None
    """Where the request has the address for the reply, `$message.header#/replyTo`."""
    messages: tuple[MessageType, ...] = ()


@dataclass(frozen=True, slots=True)
class AsyncApiOperation:
    id: str
    document: Document
    sends: bool
    place: ChannelPlace
    messages: tuple[MessageType, ...] = ()
    bindings: Bindings = field(default_factory=dict)
    security: Possibilities = ()
    """What is needed besides what the server asks for."""
    reply: OperationReply | None = None
