"""Search attributes, by which the server finds instances: those of every instance, and those named by definitions.

Theory of operation. A namespace has registered attributes, each with its type. An upsert of an unregistered one would
fail the workflow task, again and again. So a worker that is to set them refuses to start if one that its definitions
need is missing; and since a run may bring a definition that no worker serves, it checks, by a local activity, which of
the attributes that its definition names are registered, and leaves the others out.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from temporalio import activity
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, TypedSearchAttributes
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.port import Definition
from swf_temporal.temporal.client_errors import NOT_PERMITTED, refused_by_server

VERSION: Final = SearchAttributeKey.for_keyword("SwfVersion")
STATE: Final = SearchAttributeKey.for_keyword("SwfState")
BUSINESS_KEY: Final = SearchAttributeKey.for_keyword("SwfBusinessKey")
ERROR_CODE: Final = SearchAttributeKey.for_keyword("SwfErrorCode")
ERROR_NAME: Final = SearchAttributeKey.for_keyword("SwfErrorName")
WAITS_FOR: Final = SearchAttributeKey.for_keyword_list("SwfWaitsFor")
SINCE: Final = SearchAttributeKey.for_datetime("SwfSince")
FACTS: Final = {
    "version": VERSION,
    "state": STATE,
    "businessKey": BUSINESS_KEY,
    "errorName": ERROR_NAME,
    "errorCode": ERROR_CODE,
}
"""The attributes of every instance that have one text, by our names. Its definition is the type of its workflow."""
OF_ALL: Final[tuple[SearchAttributeKey[Any], ...]] = (*FACTS.values(), WAITS_FOR, SINCE)
_TYPES: Final = {one.name: "Keyword" for one in FACTS.values()} | {
    WAITS_FOR.name: "KeywordList",
    SINCE.name: "Datetime",
}

LOOK: Final = "look search attributes up"
"""The local activity that returns which are registered."""

_MAX_UNITS: Final = 255
"""The length limit of a keyword, in UTF-16 units: databases limit characters, and the server the bytes of JSON."""

_REFUSED: Final = NOT_PERMITTED | {RPCStatusCode.UNIMPLEMENTED}
_BY_OTHERS: Final = "one who may change the namespace registers them; in Temporal Cloud, in its UI or with `tcld`"


class NotRegisteredError(UsageError):
    """A list filter uses a search attribute that the namespace lacks."""


Types = Mapping[str, str]
"""Types of search attributes, as Temporal calls them, by the names of the attributes."""


def keyword(text: str) -> str:
    """Return *text* as a keyword that every database accepts."""
    units = text.replace("\0", "").encode("utf-16-le", "ignore")[: 2 * _MAX_UNITS]
    return units.decode("utf-16-le", "ignore")


def keyword_in_list(text: str) -> str:
    """Return *text* as a keyword of a list that every database accepts and finds: SQLite fails at quotation marks."""
    return keyword(text.replace('"', "'"))


def needed_by(definitions: Iterable[Definition]) -> Types:
    """Return the search attributes that instances of *definitions* may have. Raises UsageError if types conflict."""
    found, named_by = dict(_TYPES), dict[str, str]()
    for definition in definitions:
        for name, kind in definition.search_attributes.items():
            if found.setdefault(name, kind) != kind:
                what = f"{found[name]} in {named_by[name]!r}, and {kind} in {definition.id!r}"
                raise UsageError(f"the search attribute {name!r} is {what}", "a namespace has one type for a name")
            named_by.setdefault(name, definition.id)
    return found


async def registered(client: Client) -> Types:
    """Return the search attributes of the client's namespace. Raises RPCError."""
    found = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return {name: _word(kind) for name, kind in found.custom_attributes.items()}


def _word(kind: int) -> str:
    """Return the name of a type in Temporal's commands, such as `KeywordList`."""
    name = IndexedValueType.Name(kind)  # type: ignore[arg-type]  # each is one
    return "".join(part.capitalize() for part in name.removeprefix("INDEXED_VALUE_TYPE_").split("_"))


class Setup(NamedTuple):
    """The needed search attributes: those that a namespace has, and those that it lacks."""

    there: Types
    missing: Types


async def compared(client: Client, needed: Types) -> Setup:
    """Compare what is *needed* with what the client's namespace has. Raises UsageError for one of another type."""
    try:
        known = await registered(client)
    except RPCError as error:
        what = f"the search attributes of the namespace {client.namespace!r} cannot be listed"
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
    """Raise UsageError if the client's namespace lacks a *needed* one."""
    missing = (await compared(client, needed)).missing
    if missing:
        raise UsageError(
            f"the namespace {client.namespace!r} lacks the search attributes {in_words(missing)}",
            "register them with `swf setup` and the same definitions, or leave `searchAttributes` of the worker out",
        )


async def set_up(client: Client, needed: Types) -> Setup:
    """Register the *needed* ones that are missing; return which existed, and which did not. Raises UsageError."""
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


def facts_in(known: TypedSearchAttributes) -> dict[str, JSON]:
    """Return the values of an instance's search attributes: by the names of `FACTS`, `waitsFor` and `since`."""
    found: dict[str, JSON] = {name: value for name, key in FACTS.items() if (value := known.get(key)) is not None}
    if names := known.get(WAITS_FOR):
        found["waitsFor"] = list(names)
    if (since := known.get(SINCE)) is not None:
        found["since"] = since.isoformat(timespec="milliseconds")
    return found


def filters_of(facts: Mapping[str, str | None]) -> list[str]:
    """Return Temporal list filters for the instances with these *facts*; None means any value."""
    return [f"{FACTS[name].name} = {quoted(keyword(text))}" for name, text in facts.items() if text is not None]


def quoted(text: str) -> str:
    """Return *text* as a literal of a list filter."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def why_unknown(error: RPCError, namespace: str) -> NotRegisteredError | None:
    """Return the error if the server refused a list filter because one of our attributes is missing; else None."""
    missing = [one.name for one in OF_ALL if one.name in error.message]
    if error.status is not RPCStatusCode.INVALID_ARGUMENT or not missing:
        return None
    return NotRegisteredError(
        f"the namespace {namespace!r} lacks the search attribute {missing[0]}",
        "`swf setup` registers it, and workers with `searchAttributes` set it",
    )


def in_words(types: Types) -> str:
    """Return names and types as text."""
    return ", ".join(f"{name} ({kind})" for name, kind in types.items())


class RegisteredAttributes:
    """The activity, on a worker."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: Types = {}

    @activity.defn(name=LOOK)
    async def look(self, needed: dict[str, str]) -> list[str]:
        """Return the names of those that are registered with the *needed* type."""
        if not needed.keys() <= self._known.keys():
            self._known = await registered(self._client)
        return [name for name, kind in needed.items() if self._known.get(name) == kind]
