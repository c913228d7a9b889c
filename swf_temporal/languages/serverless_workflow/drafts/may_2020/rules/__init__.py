"""The rules of the draft of May 2020: each file has a `check(context)`, in the words of the draft."""

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.drafts.may_2020.rules import flow, properties, references, tasks, texts
from swf_temporal.languages.serverless_workflow.drafts.may_2020.rules.context import Context


def problems_of(draft: model.DraftWorkflow) -> list[Problem]:
    """Return everything that the rules have to say about *draft*."""
    context = Context(draft)
    checks = (properties.check, flow.check, references.check, tasks.check, texts.check)
    return [problem for check in checks for problem in check(context)]
