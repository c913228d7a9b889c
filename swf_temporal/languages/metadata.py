"""Metadata of a definition about its instances: how many may run at once, and their search attributes.

`concurrency` is a number, or an object with a `limit` and a `key`. `searchAttributes` is an object that maps each name
to a value, or to an object with a `type` and a `value`. A key and a value are expressions over the input, or literals.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.languages.port import ATTRIBUTE_TYPES, MAX_ATTRIBUTES, MAX_PLACES, Concurrency

CONCURRENCY: Final = "concurrency"
SEARCH_ATTRIBUTES: Final = "searchAttributes"
"""The keys in the metadata."""

OfInput: TypeAlias = Callable[[JSON], Awaitable[JSON]]
"""A function that returns the value of a part of the metadata, as written, for the input. Raises WorkflowFault."""


def concurrency_of(metadata: Mapping[str, Any]) -> Concurrency | None:
    """Return the limit that *metadata* of a definition set; None if they set none or an invalid one."""
    asked = metadata.get(CONCURRENCY)
    limit, key = (asked.get("limit"), asked.get("key")) if isinstance(asked, dict) else (asked, None)
    number = limit_of(limit)
    if number is None or not (key is None or isinstance(key, str)):
        return None
    return Concurrency(number, key)


def limit_of(value: JSON) -> int | None:
    """Return *value*, which may be a text, as a number of instances; None if it is not a valid one."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value) <= len(str(MAX_PLACES)):
        # In the specification, metadata values are texts (section "Workflow Metadata").
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_PLACES:
        return value
    return None


async def concurrency_key(metadata: Mapping[str, Any], of_input: OfInput) -> JSON:
    """Return the value of the key of `concurrency`; null without a key. Raises WorkflowFault."""
    asked = concurrency_of(metadata)
    if asked is None or asked.key is None:
        return None
    try:
        return await of_input(asked.key)
    except WorkflowFault as fault:
        facts = {**fault.to_json(), "message": f"the key of metadata.concurrency: {fault.message}"}
        raise WorkflowFault.from_json(facts) from None


class Attribute(NamedTuple):
    type: str
    value: JSON
    """The value as written."""


def attributes_of(metadata: Mapping[str, Any]) -> dict[str, Attribute]:
    """Return the search attributes in *metadata* of a definition, without invalid ones."""
    asked = metadata.get(SEARCH_ATTRIBUTES)
    if not isinstance(asked, dict):
        return {}
    read = {name: _attribute(one) for name, one in list(asked.items())[:MAX_ATTRIBUTES]}
    return {name: one for name, one in read.items() if one.type in ATTRIBUTE_TYPES}


def _attribute(asked: JSON) -> Attribute:
    if isinstance(asked, dict):
        return Attribute(str(asked.get("type", ATTRIBUTE_TYPES[0])), asked.get("value"))
    return Attribute(ATTRIBUTE_TYPES[0], asked)


async def attribute_values(metadata: Mapping[str, Any], of_input: OfInput) -> dict[str, JSON | WorkflowFault]:
    """Return the values of the search attributes, or the fault of each that failed."""
    found: dict[str, JSON | WorkflowFault] = {}
    for name, one in attributes_of(metadata).items():
        try:
            found[name] = await of_input(one.value)
        except WorkflowFault as fault:
            found[name] = fault
    return found


def people_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an `EventUse` that *metadata* has for people: its `roles` and `assignee`."""
    roles, assignee = metadata.get("roles"), metadata.get("assignee")
    attribute = assignee.get("attribute") if isinstance(assignee, Mapping) else None
    return {
        "roles": tuple(str(one) for one in ([roles] if isinstance(roles, str) else roles or ())),
        "assignee": assignee if isinstance(assignee, str) else None,
        "assignee_attribute": attribute if isinstance(attribute, str) else None,
    }
