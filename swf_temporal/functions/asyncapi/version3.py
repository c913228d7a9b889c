"""Operations of AsyncAPI documents of version 3.0."""

from swf_temporal.base.errors import permanent_failure
from swf_temporal.functions.asyncapi.operations import (
    AsyncApiOperation,
    BrokerServer,
    ChannelPlace,
    MessageType,
    OperationReply,
    Possibilities,
)
from swf_temporal.functions.asyncapi.parts import (
    last_step,
    read_bindings,
    read_location_in,
    read_message,
    read_parameters,
    read_variables,
    with_traits,
)
from swf_temporal.functions.documents.parts import Document, DocumentPart
from swf_temporal.text.suggestions import suggestion


def find_operation(document: Document, operation_id: str) -> AsyncApiOperation:
    """Return the operation of that id. Raises CallFailed, naming a near one, if the document has none."""
    operations = DocumentPart(document, document.content).part("operations")
    if operation_id not in operations.value:
        message = f"the document '{document.name}' has no operation '{operation_id}'"
        raise permanent_failure("UnknownOperation", message + suggestion(operation_id, operations.value))
    operation = with_traits(operations.part(operation_id), document)
    action = operation.value.get("action")
    if action not in {"send", "receive"}:
        message = f"operation '{operation_id}' of '{document.name}' has the action {action!r}"
        raise permanent_failure("BadDocument", f"{message}; it must be 'send' or 'receive'")
    return AsyncApiOperation(
        id=operation_id,
        document=document,
        sends=action == "send",
        place=_place(document, operation),
        messages=_messages(document, operation),
        bindings=read_bindings(operation),
        security=_security(operation),
        reply=_reply(document, operation) if "reply" in operation.value else None,
    )


def _place(document: Document, owner: DocumentPart) -> ChannelPlace:
    """Return the channel of an operation or of a reply."""
    channel = owner.part("channel")
    address = channel.value.get("address")
    known = address if isinstance(address, str) else None
    return ChannelPlace(
        address=known,
        parameters=read_parameters(channel, known),
        servers=_servers(document, channel),
        bindings=read_bindings(channel),
    )


def _reply(document: Document, operation: DocumentPart) -> OperationReply:
    reply = operation.part("reply")
    return OperationReply(
        place=_place(document, reply),
        location=read_location_in(reply.part("address")),
        messages=_messages(document, reply),
    )


def _messages(document: Document, owner: DocumentPart) -> tuple[MessageType, ...]:
    """Return the messages that an operation or a reply names, or else those of its channel."""
    named = owner.value.get("messages")
    if isinstance(named, list):
        pairs = zip(named, owner.parts("messages"), strict=True)
        return tuple(read_message(last_step(item), part, document) for item, part in pairs)
    return tuple(read_message(name, part, document) for name, part in owner.part("channel").named("messages"))


def _servers(document: Document, channel: DocumentPart) -> tuple[BrokerServer, ...]:
    nodes = channel.value.get("servers")
    if isinstance(nodes, list) and nodes:
        return tuple(_server(last_step(node), part) for node, part in zip(nodes, channel.parts("servers"), strict=True))
    return tuple(_server(name, part) for name, part in DocumentPart(document, document.content).named("servers"))


def _server(name: str, server: DocumentPart) -> BrokerServer:
    version = server.value.get("protocolVersion")
    return BrokerServer(
        name=name,
        protocol=str(server.value.get("protocol", "")).lower(),
        url=f"{server.value.get('host', '')}{server.value.get('pathname', '')}",
        variables=read_variables(server),
        version=None if version is None else str(version),
        security=_security(server),
        bindings=read_bindings(server),
    )


def _security(owner: DocumentPart) -> Possibilities:
    schemes = owner.parts("security")
    names = [last_step(node) for node in owner.value.get("security") or ()]
    return tuple(
        {name: (scheme.value, list(scheme.value.get("scopes") or ()))}
        for name, scheme in zip(names, schemes, strict=True)
    )
