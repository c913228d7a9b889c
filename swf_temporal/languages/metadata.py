"""Metadata of a definition about its instances: how many may run at once, and their search attributes.

`concurrency` is a number, or an object with a `limit` and a `key`. `searchAttributes` is an object that maps each name
to a value, or to an object with a `type` and a `value`. A key and a value are expressions over the input, or literals.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Position, Problem, WorkflowFault
from swf_temporal.languages.port import ATTRIBUTE_TYPES, MAX_ATTRIBUTES, MAX_PLACES, Concurrency
from swf_temporal.text.suggestions import did_you_mean, meant_or_known, nearest

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


_CONCURRENCY_KEYS: Final = ("limit", "key")
_LIMIT: Final = f"a whole number from 1 to {MAX_PLACES:,}"
_CONCURRENCY_FORMS: Final = "write 'concurrency: 3', or 'concurrency: {limit: 3, key: \"${ .customer }\"}'"
_ATTRIBUTE_KEYS: Final = ("type", "value")
_ATTRIBUTE_FORMS: Final = "write 'Customer: \"${ .customer }\"', or 'Total: {type: Double, value: \"${ .total }\"}'"
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_RESERVED: Final = ("Temporal", "Swf")
_OF_TEMPORAL: Final = frozenset({
    "BatcherNamespace", "BatcherUser", "BinaryChecksums", "BuildIds", "CloseTime", "ExecutionDuration",
    "ExecutionStatus", "ExecutionTime", "HistoryLength", "HistorySizeBytes", "ParentRunId", "ParentWorkflowId",
    "RootRunId", "RootWorkflowId", "RunId", "StartTime", "StateTransitionCount", "TaskQueue", "WorkflowId",
    "WorkflowType",
})  # fmt: skip


class ProblemMaker(Protocol):
    """Makes the problems of one definition."""

    def error(self, code: str, message: str, position: Position, hint: str | None = None) -> Problem:
        """Return a problem that prevents the definition from running."""

    def warning(self, code: str, message: str, position: Position, hint: str | None = None) -> Problem:
        """Return a problem that does not."""


class MetadataRules:
    """The rules for the metadata of one definition, whose parts are *at* positions."""

    def __init__(
        self, metadata: Mapping[str, Any], at: Callable[..., Position], make: ProblemMaker, opening: str = "${"
    ) -> None:
        self._metadata = metadata
        self._at = at
        self._make = make
        self._opening = opening
        """The beginning of an expression."""

    def concurrency(self) -> Iterator[Problem]:
        """Yield a problem for each invalid part of `metadata.concurrency`."""
        metadata = self._metadata
        if CONCURRENCY not in metadata:
            if (meant := nearest(CONCURRENCY, metadata, 0.85)) is not None:
                message = f"the metadata key {meant!r} has no effect"
                hint = did_you_mean(meant, [CONCURRENCY])
                yield self._make.warning("concurrency", message, self._at(meant), hint)
            return
        asked = metadata[CONCURRENCY]
        if not isinstance(asked, dict):
            if limit_of(asked) is None:
                message = f"metadata.{CONCURRENCY} is {asked!r}, and must be {_LIMIT}, or an object with a limit"
                yield self._make.error("concurrency", message, self._at(CONCURRENCY), _CONCURRENCY_FORMS)
            return
        for key in asked:
            if key not in _CONCURRENCY_KEYS:
                message = f"metadata.{CONCURRENCY} has no {key!r}"
                hint = did_you_mean(key, _CONCURRENCY_KEYS) or _CONCURRENCY_FORMS
                yield self._make.error("concurrency", message, self._at(CONCURRENCY, key), hint)
        if "limit" not in asked:
            yield self._make.error(
                "concurrency", f"metadata.{CONCURRENCY} has no limit", self._at(CONCURRENCY), _CONCURRENCY_FORMS
            )
        elif limit_of(asked["limit"]) is None:
            message = f"the limit of metadata.{CONCURRENCY} is {asked['limit']!r}, and must be {_LIMIT}"
            yield self._make.error("concurrency", message, self._at(CONCURRENCY, "limit"))
        if "key" in asked:
            yield from self._check_key(asked["key"])

    def _check_key(self, key: JSON) -> Iterator[Problem]:
        opening = self._opening
        if isinstance(key, str) and opening in key:
            return  # another rule reports whether it compiles
        message = f"the key of metadata.{CONCURRENCY} is {key!r}, and must be an expression over the input"
        hint = "such as '${ .customer }'; leave it out to limit all instances together"
        yield self._make.error("concurrency", message, self._at(CONCURRENCY, "key"), hint)

    def search_attributes(self) -> Iterator[Problem]:
        """Yield a problem for each invalid part of `metadata.searchAttributes`."""
        metadata = self._metadata
        if SEARCH_ATTRIBUTES not in metadata:
            if (meant := nearest(SEARCH_ATTRIBUTES, metadata, 0.85)) is not None:
                message = f"the metadata key {meant!r} has no effect"
                yield self._make.warning(
                    "search-attributes", message, self._at(meant), did_you_mean(meant, [SEARCH_ATTRIBUTES])
                )
            return
        asked = metadata[SEARCH_ATTRIBUTES]
        if not isinstance(asked, dict):
            message = f"metadata.{SEARCH_ATTRIBUTES} is {asked!r}, and must be an object of names and values"
            yield self._make.error("search-attributes", message, self._at(SEARCH_ATTRIBUTES), _ATTRIBUTE_FORMS)
            return
        if len(asked) > MAX_ATTRIBUTES:
            message = (
                f"metadata.{SEARCH_ATTRIBUTES} names {len(asked)} search attributes; the maximum is {MAX_ATTRIBUTES}"
            )
            yield self._make.error("search-attributes", message, self._at(SEARCH_ATTRIBUTES))
        for name, one in asked.items():
            yield from self._check_name(name)
            yield from self._check_attribute(name, one)

    def _check_name(self, name: str) -> Iterator[Problem]:
        reason = None
        if not _NAME.fullmatch(name):
            reason = "must have up to 64 letters, digits and '_', with a letter first"
        elif name in _OF_TEMPORAL or name.startswith(_RESERVED):
            reason = "is one that every instance has, or a reserved name"
        if reason is not None:
            at = self._at(SEARCH_ATTRIBUTES, name)
            yield self._make.error("search-attributes", f"the name of the search attribute {name!r} {reason}", at)

    def _check_attribute(self, name: str, asked: Any) -> Iterator[Problem]:
        if not isinstance(asked, dict):
            yield from self._check_value(name, asked)
            return
        for key in asked:
            if key not in _ATTRIBUTE_KEYS:
                at = self._at(SEARCH_ATTRIBUTES, name, key)
                message = f"the search attribute {name!r} has no {key!r}"
                yield self._make.error(
                    "search-attributes", message, at, did_you_mean(key, _ATTRIBUTE_KEYS) or _ATTRIBUTE_FORMS
                )
        kind = asked.get("type", ATTRIBUTE_TYPES[0])
        if kind not in ATTRIBUTE_TYPES:
            message = f"the type of the search attribute {name!r} is not known: {kind!r}"
            hint = meant_or_known(str(kind), ATTRIBUTE_TYPES)
            yield self._make.error("search-attributes", message, self._at(SEARCH_ATTRIBUTES, name, "type"), hint)
        yield from self._check_value(name, asked.get("value"), *(["value"] if "value" in asked else []))

    def _check_value(self, name: str, value: JSON, *path: str) -> Iterator[Problem]:
        if not isinstance(value, str | int | float):
            said = "has no value" if value is None else f"is {value!r}, and must be an expression, or one value"
            at = self._at(SEARCH_ATTRIBUTES, name, *path)
            yield self._make.error("search-attributes", f"the search attribute {name!r} {said}", at, _ATTRIBUTE_FORMS)
