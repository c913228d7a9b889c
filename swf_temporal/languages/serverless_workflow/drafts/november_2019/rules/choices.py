"""Choices compare data with values (section "Switch State: Choices")."""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.expressions.comparing import NUMERIC_OPERATORS, number_in
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.lowering import rules_of
from swf_temporal.languages.serverless_workflow.drafts.november_2019.rules.context import Context

_WITHOUT_VALUE = ("Exists", "NotExists", "Null", "NotNull")


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each switch and choice that cannot choose."""
    for state, owner in context.each(model.SwitchState):
        if not state.choices:
            yield context.error("switch-conditions", f"{owner} has no choices", state.where.value("choices"))
        if state.default is None:
            message = f"{owner} has no default: if no choice matches, the workflow fails"
            yield context.warning("switch-conditions", message, state.where.position)
    for choice, owner in context.each(model.Choice):
        kinds = dict(rules_of(choice))
        if len(kinds) != 1:
            present = "no rules" if not kinds else " and ".join(map(repr, kinds))
            message = f"{owner} has {present}: its rules stand under one of 'single', 'and', 'or' and 'not'"
            yield context.error("switch-conditions", message, choice.where.position)
        for key, rules in kinds.items():
            if not rules:
                yield context.error("empty-list", f"{owner}: {key} is empty", choice.where.value(key))
    for rule, owner in context.each(model.Rule):
        yield from _value(context, rule, owner)


def _value(context: Context, rule: model.Rule, owner: str) -> Iterator[Problem]:
    if rule.value is None and rule.operator not in _WITHOUT_VALUE:
        yield context.error("missing", f"{owner} has no value for {rule.operator}", rule.where.position)
    elif rule.operator in NUMERIC_OPERATORS and number_in(rule.value) is None:
        message = f"{owner}: {rule.operator} compares numbers, and {rule.value!r} is none"
        hint = f"did you mean 'Str{rule.operator}'?"
        yield context.error("condition", message, rule.where.value("value"), hint)
