"""The rules of the draft of November 2019: each file has a `check(context)`, in the words of the draft."""

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.rules import (
    choices,
    flow,
    functions,
    properties,
    texts,
    triggers,
)
from swf_temporal.languages.serverless_workflow.drafts.november_2019.rules.context import Context


def problems_of(definition: model.Definition) -> list[Problem]:
    """Return everything that the rules have to say about *definition*."""
    context = Context(definition)
    checks = (properties.check, flow.check, triggers.check, functions.check, choices.check, texts.check)
    return [problem for check in checks for problem in check(context)]
