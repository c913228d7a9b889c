"""The rules that a definition keeps to beyond its form."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.direktiv.model.workflow import Workflow
from swf_temporal.languages.direktiv.validation import expressions, names, references, values
from swf_temporal.text.origin import Source


def validate(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield everything that is wrong with *workflow* beyond its form."""
    for rule in (names, references, values, expressions):
        yield from rule.check(workflow, source)
