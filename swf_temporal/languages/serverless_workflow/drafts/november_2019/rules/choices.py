"""Choices compare data with values (section "Switch State: Choices")."""

from collections.abc import Iterator
from typing import Final

from swf_temporal.base.errors import Problem
from swf_temporal.expressions.comparing import NUMERIC_OPERATORS, number_in
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.lowering import rules_of
from swf_temporal.languages.serverless_workflow.drafts.november_2019.rules.context import Context

_WRITE_RULES: Final = "write 'single: [{path: $.age, operator: GTEQ, value: \"18\"}]'"
_WRITE_CHOICES: Final = "write a choice for each, one after the other: the first that matches is taken"
_WITHOUT_VALUE = ("Exists", "NotExists", "Null", "NotNull")


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each switch and choice that cannot choose."""
    for state, owner in context.each(model.SwitchState):
        if not state.choices:
            hint = "write at least one choice, with a rule and the nextState that it leads to"
            yield context.error("switch-conditions", f"{owner} has no choices", state.where.value("choices"), hint)
        if state.default is None:
            message = f"{owner} has no default: if no choice matches, the workflow fails"
            hint = "write 'default: ...' with the name of the state that follows otherwise"
            yield context.warning("switch-conditions", message, state.where.position, hint)
    for choice, owner in context.each(model.Choice):
        kinds = dict(rules_of(choice))
        if len(kinds) != 1:
            present = "no rules" if not kinds else " and ".join(map(repr, kinds))
            message = f"{owner} has {present}: its rules stand under one of 'single', 'and', 'or' and 'not'"
            hint = _WRITE_CHOICES if kinds else _WRITE_RULES
            yield context.error("switch-conditions", message, choice.where.position, hint)
        for key, rules in kinds.items():
            if not rules:
                hint = "write at least one rule, with a path, an operator and a value"
                yield context.error("empty-list", f"{owner}: {key} is empty", choice.where.value(key), hint)
    for rule, owner in context.each(model.Rule):
        yield from _value(context, rule, owner)


def _value(context: Context, rule: model.Rule, owner: str) -> Iterator[Problem]:
    if rule.value is None and rule.operator not in _WITHOUT_VALUE:
        hint = f"write what {rule.path} is compared with, as in 'value: \"18\"'"
        yield context.error("missing", f"{owner} has no value for {rule.operator}", rule.where.position, hint)
    elif rule.operator in NUMERIC_OPERATORS and number_in(rule.value) is None:
        message = f"{owner}: {rule.operator} compares numbers, and {rule.value!r} is not a number"
        hint = f"did you mean 'Str{rule.operator}'?"
        yield context.error("condition", message, rule.where.value("value"), hint)
