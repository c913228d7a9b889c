"""Asks every rule about a workflow."""

from swf_temporal.errors import Problem
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.rules import RULES


def validate(workflow: Workflow, expressions: Expressions | None) -> list[Problem]:
    """Return everything that the rules have to say about *workflow*, errors and warnings, rule by rule.

    *expressions* compiles its expressions, and keeps what it compiled; None if their language is not supported.
    """
    context = Context(workflow, expressions)
    return [problem for rule in RULES for problem in rule(context)]
