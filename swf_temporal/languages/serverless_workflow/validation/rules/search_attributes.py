"""Rule: the search attributes in a definition's metadata are valid (section "Workflow Metadata")."""

import re
from collections.abc import Iterator
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Problem
from swf_temporal.languages.metadata import SEARCH_ATTRIBUTES as METADATA
from swf_temporal.languages.port import ATTRIBUTE_TYPES, MAX_ATTRIBUTES
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import did_you_mean, meant_or_known, nearest

_KEYS: Final = ("type", "value")
_FORMS: Final = "write 'Customer: \"${ .customer }\"', or 'Total: {type: Double, value: \"${ .total }\"}'"
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_RESERVED: Final = ("Temporal", "Swf")
_OF_TEMPORAL: Final = frozenset({
    "BatcherNamespace", "BatcherUser", "BinaryChecksums", "BuildIds", "CloseTime", "ExecutionDuration",
    "ExecutionStatus", "ExecutionTime", "HistoryLength", "HistorySizeBytes", "ParentRunId", "ParentWorkflowId",
    "RootRunId", "RootWorkflowId", "RunId", "StartTime", "StateTransitionCount", "TaskQueue", "WorkflowId",
    "WorkflowType",
})  # fmt: skip


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each invalid part of `metadata.searchAttributes`."""
    metadata, where = context.workflow.metadata, context.workflow.where
    if METADATA not in metadata:
        if (meant := nearest(METADATA, metadata, 0.85)) is not None:
            message = f"the metadata key {meant!r} has no effect"
            yield context.warning(
                "search-attributes", message, where.at("metadata", meant), did_you_mean(meant, [METADATA])
            )
        return
    asked = metadata[METADATA]
    if not isinstance(asked, dict):
        message = f"metadata.{METADATA} is {asked!r}, and must be an object of names and values"
        yield context.error("search-attributes", message, where.at("metadata", METADATA), _FORMS)
        return
    if len(asked) > MAX_ATTRIBUTES:
        message = f"metadata.{METADATA} names {len(asked)} search attributes; the maximum is {MAX_ATTRIBUTES}"
        yield context.error("search-attributes", message, where.at("metadata", METADATA))
    for name, one in asked.items():
        yield from _check_name(context, name)
        yield from _check_attribute(context, name, one)


def _check_name(context: Context, name: str) -> Iterator[Problem]:
    reason = None
    if not _NAME.fullmatch(name):
        reason = "must have up to 64 letters, digits and '_', with a letter first"
    elif name in _OF_TEMPORAL or name.startswith(_RESERVED):
        reason = "is one that every instance has, or a reserved name"
    if reason is not None:
        at = context.workflow.where.at("metadata", METADATA, name)
        yield context.error("search-attributes", f"the name of the search attribute {name!r} {reason}", at)


def _check_attribute(context: Context, name: str, asked: Any) -> Iterator[Problem]:
    if not isinstance(asked, dict):
        yield from _check_value(context, name, asked)
        return
    where = context.workflow.where
    for key in asked:
        if key not in _KEYS:
            at = where.at("metadata", METADATA, name, key)
            message = f"the search attribute {name!r} has no {key!r}"
            yield context.error("search-attributes", message, at, did_you_mean(key, _KEYS) or _FORMS)
    kind = asked.get("type", ATTRIBUTE_TYPES[0])
    if kind not in ATTRIBUTE_TYPES:
        message = f"the type of the search attribute {name!r} is not known: {kind!r}"
        hint = meant_or_known(str(kind), ATTRIBUTE_TYPES)
        yield context.error("search-attributes", message, where.at("metadata", METADATA, name, "type"), hint)
    yield from _check_value(context, name, asked.get("value"), *(["value"] if "value" in asked else []))


def _check_value(context: Context, name: str, value: JSON, *path: str) -> Iterator[Problem]:
    if not isinstance(value, str | int | float):
        said = "has no value" if value is None else f"is {value!r}, and must be an expression, or one value"
        at = context.workflow.where.at("metadata", METADATA, name, *path)
        yield context.error("search-attributes", f"the search attribute {name!r} {said}", at, _FORMS)
