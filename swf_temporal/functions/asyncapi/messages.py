"""Messages as the bytes of a channel: written for sending, read when received."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.events.brokers.port import Message
from swf_temporal.functions.asyncapi.arguments import Given
from swf_temporal.functions.asyncapi.locations import placed, value_at
from swf_temporal.functions.asyncapi.operations import AsyncApiOperation, MessageType
from swf_temporal.functions.asyncapi.schemas import header_violations, named_properties, payload_violations
from swf_temporal.functions.http.bodies import write_body
from swf_temporal.functions.http.parameters import as_text
from swf_temporal.text.bodies import is_json, read_answer, split_content_type

_JSON = "application/json"
_ANYTHING = MessageType("message", "")


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A message as a workflow may see it."""

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
    """Return the message that the arguments are, and its kind: the first of the operation's that it fits.

    *request_id* is what a reply is recognised by if the arguments do not say. Raises CallFailed, naming the places that
    do not fit.
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
    """Return a message that came, as the first of *kinds* that it fits.

    Raises CallFailed if it is not what it says that it is, or fits none of them.
    """
    misfits: list[str] = []
    broken: list[str] = []
    seen: JSON = message.payload.decode("utf-8", "replace")
    for kind in kinds or (_ANYTHING,):
        content_type = message.content_type or kind.content_type
        try:
            payload = read_answer(message.payload, content_type)
        except ValueError as error:
            broken.append(f"it is to be '{content_type}', but it is not: {error}")
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
    """Return the ids by which *message* may be known to belong to another: the protocol's own, and the document's."""
    found = {message.correlation_id}
    for kind in kinds:
        try:
            payload = read_answer(message.payload, message.content_type or kind.content_type)
        except ValueError:
            payload = None  # what is broken may still say in a header whose it is
        found.add(_correlation_id(kind, message, payload))
    return {found_id for found_id in found if found_id is not None}


def _filled(
    operation: AsyncApiOperation, kind: MessageType, given: Given, request_id: str | None, reply_to: str | None
) -> tuple[Mapping[str, JSON], JSON, str | None]:
    """Return headers and payload as they are sent as *kind*, and the id by which a reply is known to belong to it."""
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
    # Of bytes in some other format a schema can say nothing.
    media_type = split_content_type(kind.content_type)[0]
    is_bytes = isinstance(payload, dict) and isinstance(payload.get("base64"), str)
    is_data = not media_type or is_json(media_type) or not is_bytes
    return [*header_violations(kind, headers), *(payload_violations(kind, payload) if is_data else ())]


def _known_headers(kind: MessageType, message: Message) -> dict[str, JSON]:
    """Return the headers that the document knows, of the types that it has for them: on the way all are texts."""
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
