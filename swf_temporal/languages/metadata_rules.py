"""Rules about what the metadata of a definition say of its instances."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Position, Problem
from swf_temporal.languages.metadata import CONCURRENCY, SEARCH_ATTRIBUTES, limit_of
from swf_temporal.languages.port import ATTRIBUTE_TYPES, MAX_ATTRIBUTES, MAX_PLACES
from swf_temporal.text.suggestions import did_you_mean, meant_or_known, nearest

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
