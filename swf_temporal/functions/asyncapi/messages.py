"""Messages as the bytes of a channel: written for sending, read when received."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.events.brokers.families import FAMILIES
from swf_temporal.events.brokers.port import Message
from swf_temporal.functions.asyncapi.parts import (
    AddressParameter,
    AsyncApiOperation,
    ChannelPlace,
    MessageType,
    header_violations,
    named_properties,
    payload_violations,
    placed,
    value_at,
    with_values,
)
from swf_temporal.functions.http.bodies import write_body
from swf_temporal.functions.http.parameters import as_text, escape
from swf_temporal.text.bodies import is_json, read_answer, split_content_type
from swf_temporal.text.suggestions import suggestion

_OUTRIGHT = ("payload", "headers", "correlationId")


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call, by their use."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, JSON] = field(default_factory=dict)
    """The arguments for the query, for protocols that begin with HTTP and whose binding has one."""
    headers: Mapping[str, JSON] = field(default_factory=dict)
    payload: JSON = None
    has_payload: bool = False
    correlation: JSON = None
    """The correlation id, of the type in which it was given."""

    @property
    def correlation_id(self) -> str | None:
        """The correlation id as a text, for comparison."""
        return None if self.correlation is None else as_text(self.correlation)


def read_arguments(operation: AsyncApiOperation, query_names: Sequence[str], arguments: JSON) -> Given:
    """Sort *arguments* by their use.

    Those that the address or the query needs go there. `headers`, `payload` and `correlationId` are what their names
    say, unless the message itself has fields of these names; without `payload`, the rest is the payload. Raises
    CallFailed.
    """
    if not isinstance(arguments, dict):
        if arguments is not None and not operation.sends:
            raise permanent_failure(
                "BadArguments", f"operation '{operation.id}' takes its arguments by name, as an object"
            )
        return _with_parameters(operation, Given(payload=arguments, has_payload=arguments is not None), {})
    fields = {name for kind in operation.messages for name in named_properties(kind.payload)}
    is_outright = not operation.sends or ("payload" in arguments and "payload" not in fields)
    outright = {name for name in _OUTRIGHT if is_outright or name not in fields} - (
        set() if operation.sends else {"payload"}
    )
    elsewhere = {*query_names, *(parameter.name for parameter in _parameters(operation))}
    # An order's id that is part of the channel's address is also part of the order, if its schema has it.
    rest = {
        name: value
        for name, value in arguments.items()
        if name not in outright and (name not in elsewhere or name in fields)
    }
    if is_outright and rest.keys() - elsewhere:
        name = min(rest.keys() - elsewhere)
        message = f"operation '{operation.id}' takes no argument '{name}'"
        raise permanent_failure("BadArguments", message + suggestion(name, outright | elsewhere))
    headers = arguments.get("headers") if "headers" in outright else None
    if headers is not None and not isinstance(headers, dict):
        raise permanent_failure("BadArguments", f"operation '{operation.id}': 'headers' must be an object")
    given = Given(
        query={name: arguments[name] for name in query_names if arguments.get(name) is not None},
        headers=dict(headers or {}),
        payload=arguments.get("payload") if is_outright else rest or None,
        has_payload="payload" in arguments if is_outright else bool(rest),
        correlation=arguments.get("correlationId") if "correlationId" in outright else None,
    )
    return _with_parameters(operation, given, arguments)


_ALWAYS = ("headers", "correlationId", "parameters", "server", "protocol")
_SENT = (*_ALWAYS, "payload")
RECEIVED = (*_ALWAYS, "subscription", "amount", "for", "receipt", "end")
"""The arguments of an operation that receives, if they stand under the names of their uses."""


def read_named_arguments(operation: AsyncApiOperation, query_names: Sequence[str], arguments: JSON) -> Given:
    """Sort *arguments* that stand under the names of their uses: `payload`, `headers`, `parameters` and others.

    Raises CallFailed.
    """
    what = f"operation '{operation.id}'"
    if not isinstance(arguments, dict | None):
        raise permanent_failure("BadArguments", f"{what} takes its arguments by name, as an object")
    given, possible = arguments or {}, _SENT if operation.sends else RECEIVED
    for name in given:
        if name not in possible:
            raise permanent_failure("BadArguments", f"{what} takes no argument '{name}'{suggestion(name, possible)}")
    headers, parameters = (given.get(name) or {} for name in ("headers", "parameters"))
    if not isinstance(headers, dict) or not isinstance(parameters, dict):
        raise permanent_failure("BadArguments", f"{what}: 'headers' and 'parameters' must be objects")
    read = Given(
        query={name: parameters[name] for name in query_names if parameters.get(name) is not None},
        headers=headers,
        payload=given.get("payload"),
        has_payload="payload" in given,
        correlation=given.get("correlationId"),
    )
    return _with_parameters(operation, read, parameters)


def address_of(place: ChannelPlace, given: Given, family: str) -> str:
    """Return the address of a channel, with its parameters replaced. Raises CallFailed if it would be invalid."""
    if place.address is None:
        raise permanent_failure("BadDocument", "the document does not state the address of the operation's channel")
    write: Callable[[str], str] = escape if family in {"http", "ws"} else str
    for parameter in place.parameters:
        value = given.parameters[parameter.name]
        is_part = place.address != f"{{{parameter.name}}}"
        if is_many(value, family) or (is_part and set(value) & set(FAMILIES[family].separator)):
            message = f"the address '{place.address}' cannot have {value!r} as '{parameter.name}'"
            raise permanent_failure("BadArguments", message)
    return with_values(place.address, {name: write(value) for name, value in given.parameters.items()})


def is_many(address: str, family: str) -> bool:
    """Return whether *address*, or a part of one, would match several channels, or none."""
    return address in {"", ".", ".."} or bool(set(address) & set(FAMILIES[family].wildcards))


def _parameters(operation: AsyncApiOperation) -> tuple[AddressParameter, ...]:
    """Return the parameters of the addresses that a call needs."""
    reply = operation.reply if operation.sends else None
    return (*operation.place.parameters, *(reply.place.parameters if reply else ()))


def _with_parameters(operation: AsyncApiOperation, given: Given, arguments: Mapping[str, JSON]) -> Given:
    parameters = _parameters(operation)
    return replace(given, parameters={each.name: _value(operation, each, given, arguments) for each in parameters})


def _value(
    operation: AsyncApiOperation, parameter: AddressParameter, given: Given, arguments: Mapping[str, JSON]
) -> str:
    argument = arguments.get(parameter.name)
    value = None if argument is None else as_text(argument)
    if value is None and parameter.location is not None:
        value = value_at(parameter.location, given.headers, given.payload)
    if value is None:
        value = parameter.default
    what = f"operation '{operation.id}': the argument '{parameter.name}', a part of its channel's address"
    if value is None:
        raise permanent_failure("BadArguments", f"{what}, is missing")
    if parameter.enum and value not in parameter.enum:
        raise permanent_failure("BadArguments", f"{what}, is {value!r} and not one of {', '.join(parameter.enum)}")
    return value


_JSON = "application/json"
_ANYTHING = MessageType("message", "")


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A message as a workflow sees it."""

    payload: JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    correlation_id: str | None = None
    reply_to: str | None = None

    def whole(self) -> dict[str, JSON]:
        return {
            "payload": self.payload,
            "headers": dict(self.headers),
            "correlationId": self.correlation_id,
            "replyTo": self.reply_to,
        }


def write_message(
    operation: AsyncApiOperation, given: Given, *, request_id: str | None = None, reply_to: str | None = None
) -> tuple[MessageType, Message]:
    """Return the message made of the arguments, and its type: the first of the operation's types that it matches.

    *request_id* identifies the reply, unless the arguments have an id. Raises CallFailed, naming the places that do not
    match.
    """
    misfits: list[str] = []
    for kind in operation.messages or (_ANYTHING,):
        headers, payload, correlation_id = _filled(operation, kind, given, request_id, reply_to)
        violations = _violations(kind, headers, payload)
        if violations:
            misfits.append(f"message '{kind.name}': {'; '.join(violations)}")
            continue
        content_type = kind.content_type or _JSON
        content = b""
        if payload is not None or given.has_payload:
            content, content_type = write_body(payload, content_type)
        texts = {name: as_text(value) for name, value in headers.items() if value is not None}
        scalars = {name: value for name, value in headers.items() if isinstance(value, int | float)}
        return kind, Message(content, content_type, texts, correlation_id, reply_to, scalars)
    raise permanent_failure(
        "BadArguments", f"operation '{operation.id}': the message does not match {', nor '.join(misfits)}"
    )


def read_message(what: str, kinds: Sequence[MessageType], message: Message) -> ReceivedMessage:
    """Return a received message, as the first of *kinds* that it matches.

    Raises CallFailed if it is malformed, or matches none of them.
    """
    misfits: list[str] = []
    broken: list[str] = []
    seen: JSON = message.payload.decode("utf-8", "replace")
    for kind in kinds or (_ANYTHING,):
        content_type = message.content_type or kind.content_type
        try:
            payload = read_answer(message.payload, content_type)
        except ValueError as error:
            broken.append(f"it should be '{content_type}', but it is not: {error}")
            continue
        violations = _violations(kind, _known_headers(kind, message), payload)
        if not violations:
            correlation_id = _correlation_id(kind, message, payload) or message.correlation_id
            return ReceivedMessage(payload, message.headers, correlation_id, message.reply_to)
        misfits.append(f"message '{kind.name}': {'; '.join(violations)}")
        seen = payload
    if misfits:
        text = f"{what}: the received message does not match {', nor '.join(misfits)}"
        raise CallFailed(text, code="SchemaMismatch", body=seen, retryable=False)
    raise CallFailed(f"{what}: the received message is malformed: {broken[0]}", code="MalformedAnswer", body=seen)


def ids_of(kinds: Iterable[MessageType], message: Message) -> set[str]:
    """Return the correlation ids of *message*: the protocol's own, and those that the document locates."""
    found = {message.correlation_id}
    for kind in kinds:
        try:
            payload = read_answer(message.payload, message.content_type or kind.content_type)
        except ValueError:
            payload = None  # a malformed message may still have an id in a header
        found.add(_correlation_id(kind, message, payload))
    return {found_id for found_id in found if found_id is not None}


def _filled(
    operation: AsyncApiOperation, kind: MessageType, given: Given, request_id: str | None, reply_to: str | None
) -> tuple[Mapping[str, JSON], JSON, str | None]:
    """Return headers and payload as they are sent as *kind*, and the correlation id of a reply."""
    headers = given.headers
    payload: JSON = {} if not given.has_payload and kind.payload is not None else given.payload
    correlation_id = given.correlation_id
    if kind.correlation is not None:
        if correlation_id is None:
            correlation_id = value_at(kind.correlation, headers, payload) or request_id
        if correlation_id is not None:
            value = correlation_id if given.correlation is None else given.correlation
            headers, payload = placed(kind.correlation, value, headers, payload)
    location = operation.reply.location if operation.reply else None
    if location is not None and reply_to is not None:
        headers, payload = placed(location, reply_to, headers, payload)
    return headers, payload, correlation_id or request_id


def _violations(kind: MessageType, headers: Mapping[str, JSON], payload: JSON) -> list[str]:
    # A schema cannot describe bytes in other formats.
    media_type = split_content_type(kind.content_type)[0]
    is_bytes = isinstance(payload, dict) and isinstance(payload.get("base64"), str)
    is_data = not media_type or is_json(media_type) or not is_bytes
    return [*header_violations(kind, headers), *(payload_violations(kind, payload) if is_data else ())]


def _known_headers(kind: MessageType, message: Message) -> dict[str, JSON]:
    """Return the headers that the document declares, converted to their types: brokers transmit texts."""
    given = {name.lower(): value for name, value in message.headers.items()}
    schemas = named_properties(kind.headers)
    if not schemas:
        return dict(message.headers)
    return {name: _typed(given[name.lower()], schema) for name, schema in schemas.items() if name.lower() in given}


def _typed(text: str, schema: JSON) -> JSON:
    wanted = schema.get("type") if isinstance(schema, dict) else None
    if wanted in (None, "string"):
        return text
    try:
        return read_answer(text.encode(), _JSON)
    except ValueError:
        return text


def _correlation_id(kind: MessageType, message: Message, payload: JSON) -> str | None:
    return None if kind.correlation is None else value_at(kind.correlation, message.headers, payload)
