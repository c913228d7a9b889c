"""A definition says which specification it follows, without a "v" (section "Workflow Definition Structure").

Which version it is read as is found out, and told, by `reading/versions/detection.py`.
"""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.reading import versions
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning if specVersion is written with the v that releases have."""
    stated = context.workflow.spec_version or ""
    plain = stated.removeprefix("v")
    if plain != stated and versions.numbered(plain) is not None:
        message = f"specVersion {stated!r} is read as {plain!r}"
        yield context.warning(
            "tolerated-spelling", message, context.workflow.where.value("specVersion"), f"write {plain!r}"
        )
