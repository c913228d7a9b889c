"""Rules that a definition must satisfy beyond its form."""

from collections.abc import Collection

from swf_temporal.base.errors import Problem
from swf_temporal.languages.dsl.model.workflow import Workflow
from swf_temporal.languages.dsl.validation.expressions import check_expressions
from swf_temporal.languages.dsl.validation.references import check_references
from swf_temporal.languages.dsl.validation.values import check_values
from swf_temporal.languages.dsl.validation.walk import Report, Walk
from swf_temporal.text.origin import Source


def validate(workflow: Workflow, source: Source, missing: Collection[str] = ()) -> list[Problem]:
    """Return the problems of *workflow*; functions that are *missing* are reported already."""
    report, walk = Report(source), Walk(workflow)
    check_references(walk, report, missing)
    check_values(walk, report)
    check_expressions(walk, report)
    return report.problems
