"""Transitions with conditions, ends with kinds, and the events that both produce."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from swf_temporal.languages.serverless_workflow.upgrading.may_2020.texts import braced, condition, template, value
from swf_temporal.languages.serverless_workflow.upgrading.report import Report
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, children
from swf_temporal.text.round_trip import rename, replace

Insert = Callable[[str, dict[str, Any]], str]
"""Puts a state with the name that begins so, and the rest as given, behind the present one; returns its name."""


def rewrite(holder: Tree, name: str, insert: Insert, report: Report) -> None:
    """Rewrite the transition or the end of *holder*, which is a state *name*, a condition or the like."""
    for end in children(holder, "end"):
        _end(holder, end, report)
    for transition in children(holder, "transition"):
        _transition(holder, transition, name, insert, report)


def _end(holder: Tree, end: Tree, report: Report) -> None:
    kind = end.pop("kind", "default")
    _produced(end)
    if kind == "terminate":
        end["terminate"] = True
    if not end:
        holder["end"] = True
    report.reshaped("ends have no kind", end)


def _transition(holder: Tree, transition: Tree, name: str, insert: Insert, report: Report) -> None:
    expression = transition.pop("expression", None)
    _produced(transition)
    made: Any = transition["nextState"] if list(transition) == ["nextState"] else transition
    if expression is None:
        if made is not transition:
            holder["transition"] = made
            report.reshaped("transitions without more are the name of the next state", transition)
        return
    choice = {"condition": braced(condition(expression)), "transition": deepcopy(made)}
    holder["transition"] = insert(f"{name} may lead on", {"type": "switch", "dataConditions": [choice]})
    report.reshaped(
        "the expression of a transition is a switch without a default: a run that it stops fails with"
        " NoConditionMatched in place of TransitionRefused",
        transition,
    )


def _produced(node: Tree) -> None:
    for produced in children(node, "produceEvent"):
        if "data" in produced:
            given = produced["data"]
            produced["data"] = value(given) if isinstance(given, str) else template(given)
    if "produceEvent" in node:
        replace(node, "produceEvent", {"produceEvents": [node["produceEvent"]]})


def of_default(state: Tree, report: Report) -> None:
    """Make the default of a switch, which is a transition, one that has a transition."""
    if "default" in state:
        rename(state, "default", "defaultCondition")
        state["defaultCondition"] = {"transition": state["defaultCondition"]}
        report.reshaped("the default of a switch is its defaultCondition", state)
