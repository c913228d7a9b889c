"""Rule: the limit of concurrent instances in a definition's metadata is valid (section "Workflow Metadata")."""

from collections.abc import Iterator
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Problem
from swf_temporal.languages.metadata import CONCURRENCY as METADATA
from swf_temporal.languages.metadata import limit_of
from swf_temporal.languages.port import MAX_PLACES
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import did_you_mean, nearest

_KEYS: Final = ("limit", "key")
_LIMIT: Final = f"a whole number from 1 to {MAX_PLACES:,}"
_FORMS: Final = "write 'concurrency: 3', or 'concurrency: {limit: 3, key: \"${ .customer }\"}'"


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each invalid part of `metadata.concurrency`."""
    metadata, where = context.workflow.metadata, context.workflow.where
    if METADATA not in metadata:
        if (meant := nearest(METADATA, metadata, 0.85)) is not None:
            message = f"the metadata key {meant!r} has no effect"
            hint = did_you_mean(meant, [METADATA])
            yield context.warning("concurrency", message, where.at("metadata", meant), hint)
        return
    asked = metadata[METADATA]
    if not isinstance(asked, dict):
        if limit_of(asked) is None:
            message = f"metadata.{METADATA} is {asked!r}, and must be {_LIMIT}, or an object with a limit"
            yield context.error("concurrency", message, where.at("metadata", METADATA), _FORMS)
        return
    for key in asked:
        if key not in _KEYS:
            message = f"metadata.{METADATA} has no {key!r}"
            hint = did_you_mean(key, _KEYS) or _FORMS
            yield context.error("concurrency", message, where.at("metadata", METADATA, key), hint)
    if "limit" not in asked:
        yield context.error("concurrency", f"metadata.{METADATA} has no limit", where.at("metadata", METADATA), _FORMS)
    elif limit_of(asked["limit"]) is None:
        message = f"the limit of metadata.{METADATA} is {asked['limit']!r}, and must be {_LIMIT}"
        yield context.error("concurrency", message, where.at("metadata", METADATA, "limit"))
    if "key" in asked:
        yield from _check_key(context, asked["key"])


def _check_key(context: Context, key: JSON) -> Iterator[Problem]:
    opening = "${" if context.compiler is None else context.compiler.opening
    if isinstance(key, str) and opening in key:
        return  # another rule reports whether it compiles
    message = f"the key of metadata.{METADATA} is {key!r}, and must be an expression over the input"
    hint = "such as '${ .customer }'; leave it out to limit all instances together"
    yield context.error("concurrency", message, context.workflow.where.at("metadata", METADATA, "key"), hint)
