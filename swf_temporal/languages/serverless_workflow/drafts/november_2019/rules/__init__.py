"""The rules of the draft of November 2019: each file has a `check(context)`, in the words of the draft."""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from swf_temporal.errors import Problem
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

Rule: TypeAlias = Callable[[Context], Iterator[Problem]]

RULES: Final[tuple[Rule, ...]] = (
    properties.check,
    flow.check,
    triggers.check,
    functions.check,
    choices.check,
    texts.check,
)


def problems_of(definition: model.Definition) -> list[Problem]:
    """Return everything that the rules have to say about *definition*."""
    context = Context(definition)
    return [problem for rule in RULES for problem in rule(context)]
