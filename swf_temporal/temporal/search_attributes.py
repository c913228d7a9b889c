"""Search attributes: by which the server finds instances, those that all have and those that definitions name.

Theory of operation. A namespace has those that were registered, each with its type. An upsert of another would fail the
workflow task, again and again. So a worker that is to set them refuses to start where one is missing that its
definitions need; and since a run may bring a definition along that no worker serves, it asks, by a local activity,
which of those that its definition names are registered, and leaves the others out.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from temporalio import activity
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, TypedSearchAttributes
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.errors import UsageError
from swf_temporal.languages.port import Definition
from swf_temporal.temporal.client_errors import NOT_PERMITTED, refused_by_server

VERSION: Final = SearchAttributeKey.for_keyword("SwfVersion")
STATE: Final = SearchAttributeKey.for_keyword("SwfState")
BUSINESS_KEY: Final = SearchAttributeKey.for_keyword("SwfBusinessKey")
ERROR_CODE: Final = SearchAttributeKey.for_keyword("SwfErrorCode")
FACTS: Final = {"version": VERSION, "state": STATE, "businessKey": BUSINESS_KEY, "errorCode": ERROR_CODE}
"""Those that every instance may have, by what we call each. Its definition is the type of its workflow."""
OF_ALL: Final = tuple(FACTS.values())

LOOK: Final = "look search attributes up"
"""The local activity that says which are registered."""

_MAX_UNITS: Final = 255
"""The length limit of a keyword, in units of UTF-16: databases bound characters, and the server the bytes of JSON."""

_REFUSED: Final = NOT_PERMITTED | {RPCStatusCode.UNIMPLEMENTED}
_BY_OTHERS: Final = "one who may change the namespace registers them; in Temporal Cloud, in its UI or with `tcld`"


class NotRegisteredError(UsageError):
    """A list filter has a search attribute that the namespace lacks."""


Types = Mapping[str, str]
"""Types of search attributes, as Temporal calls them, by the names of the attributes."""


def keyword(text: str) -> str:
    """Return *text* as a keyword that every database takes."""
    units = text.replace("\0", "").encode("utf-16-le", "ignore")[: 2 * _MAX_UNITS]
    return units.decode("utf-16-le", "ignore")


def needed_by(definitions: Iterable[Definition]) -> Types:
    """Return the search attributes that instances of *definitions* may have. Raises UsageError for one of two types."""
    found, named_by = {one.name: "Keyword" for one in OF_ALL}, dict[str, str]()
    for definition in definitions:
        for name, kind in definition.search_attributes.items():
            if found.setdefault(name, kind) != kind:
                what = f"{found[name]} in {named_by[name]!r}, and {kind} in {definition.id!r}"
                raise UsageError(f"the search attribute {name!r} is {what}", "a namespace has one type for a name")
            named_by.setdefault(name, definition.id)
    return found


async def registered(client: Client) -> Types:
    """Return those that the client's namespace has. Raises RPCError."""
    found = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return {name: _word(kind) for name, kind in found.custom_attributes.items()}


def _word(kind: int) -> str:
    """Return what Temporal's commands call a type, such as `KeywordList`."""
    name = IndexedValueType.Name(kind)  # type: ignore[arg-type]  # each is one
    return "".join(part.capitalize() for part in name.removeprefix("INDEXED_VALUE_TYPE_").split("_"))


class Setup(NamedTuple):
    """Search attributes that are needed: those that a namespace has, and those that it has not."""

    there: Types
    missing: Types


async def compared(client: Client, needed: Types) -> Setup:
    """Compare what is *needed* with what the client's namespace has. Raises UsageError for one of another type."""
    try:
        known = await registered(client)
    except RPCError as error:
        what = f"the search attributes of the namespace {client.namespace!r} are not to be had"
        raise refused_by_server(error, what) from None
    for name, kind in needed.items():
        if known.get(name, kind) != kind:
            raise UsageError(
                f"the search attribute {name!r} has the type {known[name]} in the namespace {client.namespace!r}, "
                f"and {kind} is needed",
                "use another name, or remove it: temporal operator search-attribute remove",
            )
    there = {name: kind for name, kind in needed.items() if name in known}
    return Setup(there, {name: kind for name, kind in needed.items() if name not in known})


async def check_registered(client: Client, needed: Types) -> None:
    """Raise UsageError if the client's namespace lacks one that is *needed*."""
    missing = (await compared(client, needed)).missing
    if missing:
        raise UsageError(
            f"the namespace {client.namespace!r} lacks the search attributes {in_words(missing)}",
            "register them with `swf setup` and the same definitions, or leave `searchAttributes` of the worker out",
        )


async def set_up(client: Client, needed: Types) -> Setup:
    """Register what is *needed* and missing; return what was there, and what was not. Raises UsageError."""
    found = await compared(client, needed)
    if found.missing:
        await _register(client, found.missing)
    return found


async def _register(client: Client, missing: Types) -> None:
    kinds: dict[str, Any] = {_word(kind): kind for kind in IndexedValueType.values()}
    request = AddSearchAttributesRequest(namespace=client.namespace)
    for name, kind in missing.items():
        request.search_attributes[name] = kinds[kind]
    try:
        await client.operator_service.add_search_attributes(request)
    except RPCError as error:
        what = f"the search attributes {in_words(missing)} cannot be registered: {error.message}"
        raise UsageError(what, _BY_OTHERS if error.status in _REFUSED else None) from None


def facts_in(known: TypedSearchAttributes) -> dict[str, str]:
    """Return what the search attributes of an instance say, by the names of `FACTS`."""
    return {name: value for name, key in FACTS.items() if (value := known.get(key)) is not None}


def filters_of(facts: Mapping[str, str | None]) -> list[str]:
    """Return list filters of Temporal that find the instances with these *facts*; None says nothing."""
    return [f"{FACTS[name].name} = {quoted(keyword(text))}" for name, text in facts.items() if text is not None]


def quoted(text: str) -> str:
    """Return *text* as a literal of a list filter."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def why_unknown(error: RPCError, namespace: str) -> NotRegisteredError | None:
    """Return why the server refused a list filter with one that every instance may have; None if that is not why."""
    missing = [one.name for one in OF_ALL if one.name in error.message]
    if error.status is not RPCStatusCode.INVALID_ARGUMENT or not missing:
        return None
    return NotRegisteredError(
        f"the namespace {namespace!r} lacks the search attribute {missing[0]}",
        "`swf setup` registers it, and workers with `searchAttributes` set it",
    )


def in_words(types: Types) -> str:
    """Return names and types for a sentence."""
    return ", ".join(f"{name} ({kind})" for name, kind in types.items())


class RegisteredAttributes:
    """The activity, on a worker."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: Types = {}

    @activity.defn(name=LOOK)
    async def look(self, needed: dict[str, str]) -> list[str]:
        """Return the names of those that are registered and of the type that is *needed*."""
        if not needed.keys() <= self._known.keys():
            self._known = await registered(self._client)
        return [name for name, kind in needed.items() if self._known.get(name) == kind]
