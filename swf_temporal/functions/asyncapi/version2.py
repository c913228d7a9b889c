"""Operations of AsyncAPI documents of versions 2.0 to 2.6."""

from collections.abc import Iterator

from swf_temporal.base.errors import permanent_failure
from swf_temporal.functions.asyncapi.operations import (
    AsyncApiOperation,
    BrokerServer,
    ChannelPlace,
    MessageType,
    Possibilities,
)
from swf_temporal.functions.asyncapi.parts import (
    last_step,
    read_bindings,
    read_message,
    read_parameters,
    read_variables,
    with_traits,
)
from swf_temporal.functions.documents.parts import Document, DocumentPart
from swf_temporal.text.suggestions import suggestion


def find_operation(document: Document, operation_id: str) -> AsyncApiOperation:
    """Return the operation of that id. Raises CallFailed, naming a near one, if the document has none."""
    known: list[str] = []
    for address, channel, verb, operation in _operations(document):
        known.append(str(operation.value.get("operationId", "")))
        if known[-1] == operation_id:
            return AsyncApiOperation(
                id=operation_id,
                document=document,
                sends=verb == "publish",
                place=ChannelPlace(
                    address=address,
                    parameters=read_parameters(channel, address),
                    servers=_servers(document, channel.value.get("servers")),
                    bindings=read_bindings(channel),
                ),
                messages=_messages(document, operation_id, operation),
                bindings=read_bindings(operation),
                security=_security(document, operation),
            )
    message = f"the document '{document.name}' has no operation '{operation_id}'"
    raise permanent_failure("UnknownOperation", message + suggestion(operation_id, known))


def _operations(document: Document) -> Iterator[tuple[str, DocumentPart, str, DocumentPart]]:
    for address, channel in DocumentPart(document, document.content).named("channels"):
        for verb in ("publish", "subscribe"):
            if verb in channel.value:
                yield address, channel, verb, with_traits(channel.part(verb), document)


def _messages(document: Document, operation_id: str, operation: DocumentPart) -> tuple[MessageType, ...]:
    node = operation.value.get("message")
    if node is None:
        return ()
    message = operation.part("message")
    if not isinstance(message.value.get("oneOf"), list):
        return (read_message(last_step(node) or operation_id, message, document),)
    return tuple(
        read_message(last_step(item) or operation_id, part, document)
        for item, part in zip(message.value["oneOf"], message.parts("oneOf"), strict=True)
    )


def _servers(document: Document, names: object) -> tuple[BrokerServer, ...]:
    declared = DocumentPart(document, document.content).part("servers")
    wanted = [str(name) for name in names] if isinstance(names, list) and names else list(declared.value)
    for name in wanted:
        if name not in declared.value:
            raise permanent_failure(
                "BadDocument", f"'{document.name}' has a channel at the server '{name}', which is not in it"
            )
    return tuple(_server(document, name, declared.part(name)) for name in wanted)


def _server(document: Document, name: str, server: DocumentPart) -> BrokerServer:
    version = server.value.get("protocolVersion")
    return BrokerServer(
        name=name,
        protocol=str(server.value.get("protocol", "")).lower(),
        url=str(server.value.get("url", "")),
        variables=read_variables(server),
        version=None if version is None else str(version),
        security=_security(document, server),
        bindings=read_bindings(server),
    )


def _security(document: Document, node: DocumentPart) -> Possibilities:
    declared = DocumentPart(document, document.content).part("components").part("securitySchemes")
    for alternative in node.parts("security"):
        for name in alternative.value:
            if name not in declared.value:
                message = f"'{document.name}' asks for the security scheme '{name}', which is not in it"
                raise permanent_failure("BadDocument", message)
    return tuple(
        {name: (declared.part(name).value, list(scopes or ())) for name, scopes in alternative.value.items()}
        for alternative in node.parts("security")
    )
