"""Rules that a definition must satisfy beyond its form."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.dsl.model.workflow import Workflow
from swf_temporal.text.origin import Source


def validate(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield the problems of *workflow*."""
    yield from ()
