"""Which rules does a workflow break?"""

from swf_temporal.errors import Problem
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.rules import RULES


def validate(workflow: Workflow) -> list[Problem]:
    """Return everything that the rules have to say about *workflow*, errors and warnings, rule by rule."""
    context = Context(workflow)
    return [problem for rule in RULES for problem in rule(context)]
