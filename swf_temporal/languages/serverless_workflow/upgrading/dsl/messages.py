"""Functions of the type asyncapi as calls of DSL 1.0, which say whether they send: in 0.8 the document says so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from swf_temporal.languages.serverless_workflow.model.workflow import Function
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import Context
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import Inexpressible
from swf_temporal.text.origin import ResourceError
from swf_temporal.text.parsing import read_data

_SENDS: Final = {"publish": True, "subscribe": False, "send": True, "receive": False}
_VERBS: Final = {"send": "publish", "receive": "subscribe"}
_OF_CALLS: Final = ("server", "protocol")
"""The arguments that a call has beside its message, if the operation is an object."""


def exchanged(
    function: Function,
    document: str,
    named: Mapping[str, str],
    parameters: Mapping[str, Any],
    calls: Sequence[Any],
    context: Context,
) -> dict[str, Any]:
    """Return the part of a call that sends a message made of *parameters*, or receives one. Raises Inexpressible.

    *named* has the operation of the *document*, or the channel and the action on it; *calls* are the arguments of each.
    """
    said = f"the function {function.name!r}"
    found = _operation(function, document, named, context)
    given = dict(parameters)
    is_object = isinstance(function.operation, Mapping)
    made = {key: _shared(key, calls, said) for key in _OF_CALLS if is_object and given.pop(key, None) is not None}
    if found.sends and found.has_reply:
        raise Inexpressible(f"{said}, which sends a message and waits for the reply: 1.0 sends it, and does not wait")
    placed = [key for key in given if key in found.parts or (is_object and key == "parameters")]
    if placed:
        raise Inexpressible(f"{said} with {placed[0]!r} as a part of the channel's address, which 1.0 has not")
    if not found.sends:
        if given:
            raise Inexpressible(f"{said}, which receives a message, with the argument {next(iter(given))!r}")
        return {**made, "subscription": {"consume": {"amount": 1}}}
    if "correlationId" in given:
        raise Inexpressible(f"{said} with a correlationId, which a message that 1.0 sends has not")
    headers = {"headers": given.pop("headers")} if "headers" in given else {}
    payload = given.pop("payload", None) if is_object else given.pop("payload", given)
    return {**made, "message": {**({} if payload is None else {"payload": payload}), **headers}}


def _shared(key: str, calls: Sequence[Any], said: str) -> Any:
    """Return what all *calls* give under *key*, which is a part of the definition in 1.0. Raises Inexpressible."""
    values = [one.get(key) for one in calls]
    if "${" in str(values[0]) or any(one != values[0] for one in values):
        raise Inexpressible(f"{said}, whose {key} is an expression, or another in some of its calls")
    return values[0]


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operation, as its document describes it."""

    sends: bool
    has_reply: bool = False
    parts: frozenset[str] = frozenset()
    """The arguments that go into the address, unless they are a part of the message, or into the query."""


def _operation(function: Function, document: str, named: Mapping[str, str], context: Context) -> _Operation:
    said = f"the document {document!r} of the function {function.name!r}"
    try:
        whole = read_data(context.fetch(document).content)
    except ResourceError as error:
        needed = "is needed to know whether the function sends or receives"
        raise Inexpressible(f"{said} {needed}, {error.reason.replace('which', 'and it', 1)}") from None
    except ValueError:
        whole = None
    if not isinstance(whole, dict):
        raise Inexpressible(f"{said}, which is not a document of AsyncAPI")
    found = next(_found(whole, named), None)
    if found is None:
        what = named.get("operation") or named.get("channel")
        raise Inexpressible(f"{said}, which has no {what!r} that is written in it")
    return found


def _found(whole: dict[str, Any], named: Mapping[str, str]) -> Iterator[_Operation]:
    """Yield the operation that is *named* in the document *whole*, of version 2 or 3."""
    action = named.get("action")
    operation = _at(whole, whole.get("operations"), named.get("operation", ""))
    channel = _at(whole, operation, "channel")
    if operation and channel:
        sends = _SENDS.get(action or operation.get("action", ""))
        if sends is not None:
            address = str(channel.get("address") or "")
            yield _Operation(sends, "reply" in operation, _parts(whole, address, channel, operation))
    channels = whole.get("channels")
    for address in channels if isinstance(channels, dict) else ():
        channel = _at(whole, channels, address)
        for verb in ("publish", "subscribe"):
            operation = _at(whole, channel, verb)
            is_channel = named.get("channel") == address and _VERBS.get(str(action)) == verb
            if operation and (is_channel or operation.get("operationId", "") == named.get("operation")):
                parts = _parts(whole, address, channel, operation)
                yield _Operation(_SENDS[action or verb], parts=parts)


def _parts(whole: dict[str, Any], address: str, channel: dict[str, Any], operation: dict[str, Any]) -> frozenset[str]:
    declared = _at(whole, channel, "parameters")
    named = {part.partition("}")[0] for part in address.split("{")[1:]}
    locations = {name: str(_at(whole, declared, name).get("location", "")) for name in named}
    in_query: set[str] = set()
    for owner in (channel, operation):
        for protocol in _at(whole, owner, "bindings"):
            binding = _at(whole, _at(whole, owner, "bindings"), protocol)
            in_query |= _at(whole, _at(whole, binding, "query"), "properties").keys()
    return frozenset(in_query | {name for name, at in locations.items() if at != f"$message.payload#/{name}"})


def _at(whole: dict[str, Any], node: Any, key: str) -> dict[str, Any]:
    """Return the object under *key* of *node*, also if it is a reference inside *whole*; else an empty one."""
    found = node.get(key) if isinstance(node, dict) else None
    seen: list[str] = []
    while isinstance(found, dict) and "$ref" in found:
        reference = str(found["$ref"])
        if not reference.startswith("#/") or reference in seen:
            return {}
        seen.append(reference)
        found = whole
        for step in reference[2:].split("/"):
            found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
