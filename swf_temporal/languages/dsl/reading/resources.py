"""The documents that a definition includes: schemas and functions of catalogs, which are pinned with it."""

from swf_temporal.base.errors import Problem
from swf_temporal.text.located import Object
from swf_temporal.text.origin import Fetch, Source


def with_resources(root: Object, source: Source, fetch: Fetch) -> tuple[Source, list[Problem]]:
    """Put the documents that *root* names in their places; return the source of a text with them."""
    return source, []
