"""Performs operations of AsyncAPI documents.

Section "Using Functions for Async API Service Invocations".
"""

from collections.abc import Iterator
from dataclasses import replace

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.events.brokers.families import Brokers
from swf_temporal.functions.asyncapi.exchanges import (
    BrokerCall,
    Exchanges,
    WantedServer,
    find_server,
    query_names,
    read_wanted,
)
from swf_temporal.functions.asyncapi.messages import read_arguments, read_named_arguments
from swf_temporal.functions.asyncapi.parts import (
    AsyncApiOperation,
    BrokerServer,
    ChannelPlace,
    MessageType,
    OperationReply,
    Possibilities,
    is_version_3,
    last_step,
    read_bindings,
    read_location_in,
    read_message,
    read_parameters,
    read_variables,
    with_traits,
)
from swf_temporal.functions.asyncapi.security import authenticate
from swf_temporal.functions.asyncapi.subscriptions import read_portion
from swf_temporal.functions.asyncapi.type import OperationReference, reference_of
from swf_temporal.functions.auth.auth import auth_for_document, headers_for, reading_document, with_tokens
from swf_temporal.functions.call import Call, variables
from swf_temporal.functions.documents.documents import Documents, is_web, locate
from swf_temporal.functions.documents.local_documents import only_local
from swf_temporal.functions.documents.parts import Document, DocumentPart
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.port import Described, Performer, Services
from swf_temporal.text.suggestions import suggestion


def find_operation(document: Document, reference: OperationReference) -> AsyncApiOperation:
    """Return the operation that *reference* names. Raises CallFailed, naming a near one, if the document has none."""
    if reference.operation is None:
        return _of_channel(document, str(reference.channel), _VERBS[str(reference.action)])
    find = find_in_version3 if is_version_3(document) else find_in_version2
    found = find(document, reference.operation)
    # A document may describe the other side, for which the message goes the other way.
    return found if reference.action is None else replace(found, sends=reference.action == "send")


def find_in_version2(document: Document, operation_id: str) -> AsyncApiOperation:
    """Return the operation of that id. Raises CallFailed, naming a near one, if the document has none."""
    known: list[str] = []
    for address, channel, verb, operation in _operations(document):
        known.append(str(operation.value.get("operationId", "")))
        if known[-1] == operation_id:
            return _operation_of_version2(document, operation_id, address, channel, verb, operation)
    message = f"the document '{document.name}' has no operation '{operation_id}'"
    raise permanent_failure("UnknownOperation", message + suggestion(operation_id, known))


def _of_channel(document: Document, address: str, verb: str) -> AsyncApiOperation:
    if is_version_3(document):
        message = f"the document '{document.name}' has version 3, in which 'operation' names one, and not 'channel'"
        raise permanent_failure("BadOperation", message)
    known: list[str] = []
    for found, channel, its_verb, operation in _operations(document):
        known.append(found)
        if (found, its_verb) == (address, verb):
            return _operation_of_version2(document, address, address, channel, verb, operation)
    message = f"the document '{document.name}' has no '{verb}' of a channel '{address}'"
    raise permanent_failure("UnknownOperation", message + suggestion(address, {*known} - {address}))


def _operation_of_version2(
    document: Document, name: str, address: str, channel: DocumentPart, verb: str, operation: DocumentPart
) -> AsyncApiOperation:
    return AsyncApiOperation(
        id=name,
        document=document,
        sends=verb == "publish",
        place=ChannelPlace(
            address=address,
            parameters=read_parameters(channel, address),
            servers=_servers_of_version2(document, channel.value.get("servers")),
            bindings=read_bindings(channel),
        ),
        messages=_messages_of_version2(document, name, operation),
        bindings=read_bindings(operation),
        security=_security_of_version2(document, operation),
    )


def _operations(document: Document) -> Iterator[tuple[str, DocumentPart, str, DocumentPart]]:
    for address, channel in DocumentPart(document, document.content).named("channels"):
        for verb in ("publish", "subscribe"):
            if verb in channel.value:
                yield address, channel, verb, with_traits(channel.part(verb), document)


def _messages_of_version2(document: Document, operation_id: str, operation: DocumentPart) -> tuple[MessageType, ...]:
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


def _servers_of_version2(document: Document, names: object) -> tuple[BrokerServer, ...]:
    declared = DocumentPart(document, document.content).part("servers")
    wanted = [str(name) for name in names] if isinstance(names, list) and names else list(declared.value)
    for name in wanted:
        if name not in declared.value:
            raise permanent_failure(
                "BadDocument", f"'{document.name}' has a channel at the server '{name}', which is not in it"
            )
    return tuple(_server_of_version2(document, name, declared.part(name)) for name in wanted)


def _server_of_version2(document: Document, name: str, server: DocumentPart) -> BrokerServer:
    version = server.value.get("protocolVersion")
    return BrokerServer(
        name=name,
        protocol=str(server.value.get("protocol", "")).lower(),
        url=str(server.value.get("url", "")),
        variables=read_variables(server),
        version=None if version is None else str(version),
        security=_security_of_version2(document, server),
        bindings=read_bindings(server),
    )


def _security_of_version2(document: Document, node: DocumentPart) -> Possibilities:
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


def find_in_version3(document: Document, operation_id: str) -> AsyncApiOperation:
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
        messages=_messages_of_version3(document, operation),
        bindings=read_bindings(operation),
        security=_security_of_version3(operation),
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
        servers=_servers_of_version3(document, channel),
        bindings=read_bindings(channel),
    )


def _reply(document: Document, operation: DocumentPart) -> OperationReply:
    reply = operation.part("reply")
    return OperationReply(
        place=_place(document, reply),
        location=read_location_in(reply.part("address")),
        messages=_messages_of_version3(document, reply),
    )


def _messages_of_version3(document: Document, owner: DocumentPart) -> tuple[MessageType, ...]:
    """Return the messages that an operation or a reply names, or else those of its channel."""
    named = owner.value.get("messages")
    if isinstance(named, list):
        pairs = zip(named, owner.parts("messages"), strict=True)
        return tuple(read_message(last_step(item), part, document) for item, part in pairs)
    return tuple(read_message(name, part, document) for name, part in owner.part("channel").named("messages"))


def _servers_of_version3(document: Document, channel: DocumentPart) -> tuple[BrokerServer, ...]:
    nodes = channel.value.get("servers")
    if isinstance(nodes, list) and nodes:
        return tuple(
            _server_of_version3(last_step(node), part)
            for node, part in zip(nodes, channel.parts("servers"), strict=True)
        )
    return tuple(
        _server_of_version3(name, part) for name, part in DocumentPart(document, document.content).named("servers")
    )


def _server_of_version3(name: str, server: DocumentPart) -> BrokerServer:
    version = server.value.get("protocolVersion")
    return BrokerServer(
        name=name,
        protocol=str(server.value.get("protocol", "")).lower(),
        url=f"{server.value.get('host', '')}{server.value.get('pathname', '')}",
        variables=read_variables(server),
        version=None if version is None else str(version),
        security=_security_of_version3(server),
        bindings=read_bindings(server),
    )


def _security_of_version3(owner: DocumentPart) -> Possibilities:
    schemes = owner.parts("security")
    names = [last_step(node) for node in owner.value.get("security") or ()]
    return tuple(
        {name: (scheme.value, list(scheme.value.get("scopes") or ()))}
        for name, scheme in zip(names, schemes, strict=True)
    )


_RESULTS = (None, "payload", "message")
_VERBS = {"send": "publish", "receive": "subscribe"}


class AsyncApi(Performer):
    """Calls functions whose operation is one of an AsyncAPI document, by sending and receiving messages."""

    def __init__(self, services: Services, brokers: Brokers | None = None) -> None:
        settings = self._settings = services.settings
        self._services = services
        self._brokers = brokers or Brokers(HttpBroker(services.http))
        self._exchanges = Exchanges(settings, services.limits, self._brokers)
        self._documents = Documents(lambda: services.http, settings.document_lifetime, settings.resources)

    async def perform(self, call: Call) -> JSON:
        """Send or receive a message, or send one and wait for its reply. Raises CallFailed.

        The result is the payload of the received message, or all of the message with `result: message` in the
        function's metadata; null if none is expected. A call for a subscription has the result of `Portion`.
        """
        result = _result(call)
        reference = reference_of(call.function)
        operation = await self._operation(call, reference)
        wanted = read_wanted(operation.id, call.arguments) if reference.is_object else WantedServer(variables(call))
        target = find_server(self._settings, call, operation.document, operation.place.servers, wanted)
        read = read_named_arguments if reference.is_object else read_arguments
        given = read(operation, query_names(operation, target.wire.family), call.arguments)
        portion = read_portion(operation.id, call.arguments) if reference.is_object and not operation.sends else None
        demands = [target.server.security if target.server else (), operation.security]
        authentication = authenticate(operation.document.name, demands, call)

        async def exchange(call: Call) -> JSON:
            task = BrokerCall(call, operation, target, given, authentication)
            if portion is not None:
                return await self._exchanges.next_of(task, portion)
            received = await self._exchanges.perform(task)
            if received is None:
                return None
            return received.whole() if result == "message" else received.payload

        return await with_tokens(authentication.auths, authentication.call, self._services.tokens, exchange)

    async def aclose(self) -> None:
        """Close the connections kept open."""
        await self._brokers.aclose()

    async def look(self, call: Call) -> Described:
        """Return the description of the function from its document, if that is a file. Nothing is fetched.

        Raises CallFailed, or NotLocalError if the document refers to one on the web.
        """
        reference = reference_of(call.function)
        document = await self._documents.load(reference.document, call.base, check=check_asyncapi)
        reading = only_local(lambda: find_operation(document, reference))
        operation = await self._documents.reading(document, reading, base=call.base)
        return Described({"sendsTo" if operation.sends else "receivesFrom": operation.place.address})

    async def _operation(self, call: Call, reference: OperationReference) -> AsyncApiOperation:
        name = reference.document
        location = locate(name, call.base)
        configured = self._settings.base_url_for(call.callee)
        resource = auth_for_document(call, location, configured) if is_web(location) else None

        async def read(call: Call) -> AsyncApiOperation:
            headers = headers_for(resource, call)
            document = await self._documents.load(name, call.base, headers, check_asyncapi)
            return await self._documents.reading(
                document, lambda: find_operation(document, reference), base=call.base, headers=headers
            )

        return await reading_document(resource, call, self._services.tokens, read)


def check_asyncapi(document: Document) -> None:
    """Raise CallFailed if *document* is not an AsyncAPI document of a supported version."""
    version = document.content.get("asyncapi")
    if version is None:
        reason = "it has no 'asyncapi' at the top level"
    elif not str(version).startswith(("2.", "3.0")):
        reason = f"version {version} is not one of 2.0 to 2.6 and 3.0"
    else:
        return
    raise permanent_failure("BadDocument", f"the document '{document.name}' is not an AsyncAPI document: {reason}")


def _result(call: Call) -> JSON:
    result = call.function.metadata.get("result")
    if result not in _RESULTS:
        message = f"function '{call.function.name}' has {result!r} as 'result' in its metadata"
        raise permanent_failure("BadOperation", f"{message}; it must be 'payload' or 'message'")
    return result
