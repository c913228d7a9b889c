"""The arguments of a call in the terms of an AsyncAPI operation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.functions.asyncapi.locations import value_at
from swf_temporal.functions.asyncapi.operations import AddressParameter, AsyncApiOperation, ChannelPlace
from swf_temporal.functions.asyncapi.parts import with_values
from swf_temporal.functions.asyncapi.schemas import named_properties
from swf_temporal.functions.http.parameters import as_text, escape
from swf_temporal.text.suggestions import suggestion

_OUTRIGHT = ("payload", "headers", "correlationId")
_WILD = {"mqtt": "+#\0", "nats": "*> \t\r\n\0"}
_BETWEEN = {"mqtt": "/", "nats": "."}
"""The separators of addresses, by family: a part that has one would lead to another channel."""


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call, by their use."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, JSON] = field(default_factory=dict)
    """For protocols that begin with HTTP, what their binding takes."""
    headers: Mapping[str, JSON] = field(default_factory=dict)
    payload: JSON = None
    has_payload: bool = False
    correlation: JSON = None
    """The id by which messages belong together, of the type that it was given."""

    @property
    def correlation_id(self) -> str | None:
        """The id as it is compared: a text."""
        return None if self.correlation is None else as_text(self.correlation)


def read_arguments(operation: AsyncApiOperation, query_names: Sequence[str], arguments: JSON) -> Given:
    """Return what *arguments* are used for.

    Those that the address needs, or the query, go there. `headers`, `payload` and `correlationId` are what they say,
    unless the message itself has fields of these names; without `payload` the rest is the payload. Raises CallFailed.
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
    # An order's id that leads to the order's channel belongs into the order too, if its schema says so.
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


def address_of(place: ChannelPlace, given: Given, family: str) -> str:
    """Return the address of a channel, its parameters filled in. Raises CallFailed for one that it cannot have."""
    if place.address is None:
        raise permanent_failure("BadDocument", "the document does not say which address the operation's channel has")
    write: Callable[[str], str] = escape if family in {"http", "ws"} else str
    for parameter in place.parameters:
        value = given.parameters[parameter.name]
        is_part = place.address != f"{{{parameter.name}}}"
        if is_many(value, family) or (is_part and set(value) & set(_BETWEEN.get(family, ""))):
            message = f"the address '{place.address}' cannot have {value!r} as '{parameter.name}'"
            raise permanent_failure("BadArguments", message)
    return with_values(place.address, {name: write(value) for name, value in given.parameters.items()})


def is_many(address: str, family: str) -> bool:
    """Tell whether *address*, or a part of one, would mean several, or none."""
    return address in {"", ".", ".."} or bool(set(address) & set(_WILD.get(family, "\0")))


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
        raise permanent_failure("BadArguments", f"{what}, is {value!r} and none of {', '.join(parameter.enum)}")
    return value
