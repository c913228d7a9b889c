"""Rule: the search attributes in a definition's metadata are valid (section "Workflow Metadata")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each invalid part of `metadata.searchAttributes`."""
    yield from context.metadata.search_attributes()
