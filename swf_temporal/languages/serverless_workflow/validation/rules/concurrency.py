"""Rule: the limit of concurrent instances in a definition's metadata is valid (section "Workflow Metadata")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each invalid part of `metadata.concurrency`."""
    yield from context.metadata.concurrency()
