"""Rule: `specVersion` is written without a "v" (section "Workflow Definition Structure").

The version as which it is read is detected, and reported, by `reading/versions/detection.py`.
"""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.reading import versions
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning if specVersion is written with a "v", like releases."""
    stated = context.workflow.spec_version or ""
    plain = stated.removeprefix("v")
    if plain != stated and versions.numbered(plain) is not None:
        message = f"specVersion {stated!r} is read as {plain!r}"
        yield context.warning(
            "tolerated-spelling", message, context.workflow.where.value("specVersion"), f"write {plain!r}"
        )
