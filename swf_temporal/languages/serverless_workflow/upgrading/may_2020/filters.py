"""Filters: the value that a path selects is put under the last key on the path, which 0.8 needs explicitly.

If a path selects nothing, the draft takes the whole, and puts it at the path.
"""

from typing import Any

from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds, field, place
from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, braced, children, path
from swf_temporal.text.round_trip import replace

_FILTERS = "the value that a path selects is put under its last key, which expressions do explicitly now"


def state_filter(state: Tree, report: UpgradeReport, *, leads_on: bool, by_keys: bool) -> None:
    """Rewrite the filter of *state*, whose output another state sees if it *leads_on*.

    *by_keys* is True if everything that it adds to its data goes under keys.
    """
    given = state.get("stateDataFilter")
    if not isinstance(given, dict):
        return
    if "input" in given:
        finds = path(given["input"])
        selected = finds.or_all
        if finds.last_key is not None and by_keys:
            # Additions are put beside the selected value, which needs a key for that.
            selected += f' | if type == "object" then . else {{{field(finds.last_key)}: .}} end'
        given["input"] = braced(selected)
    if "output" in given:
        given["output"] = braced(output(given["output"], leads_on=leads_on))
    report.reshaped(_FILTERS, given)


def adds_by_keys(state: Tree) -> bool:
    """Return True if everything that *state*, whose filters are still paths, adds to its data goes under keys."""
    entries = list(children(state, "onEvents"))
    actions = [action for holder in (state, *entries) for action in children(holder, "actions", "action")]
    filters = [next(children(one, "actionDataFilter"), {}).get("results") for one in actions]
    consuming = [*entries, *children(state, "eventConditions"), *([state] if state.get("type") == "callback" else [])]
    filters += [next(children(one, "eventDataFilter"), {}).get("data") for one in consuming]
    return bool(filters) and all(isinstance(one, str) and path(one).last_key for one in filters)


def output(text: Any, *, leads_on: bool) -> str:
    """Return the expression of a state's output: for the next state, a non-object is put under the path's last key."""
    finds = path(text)
    if not leads_on or finds.last_key is None:
        return finds.or_all
    return f'{finds.or_all} | if type == "object" then . else {{{field(finds.last_key)}: .}} end'


def action_filter(action: Tree, report: UpgradeReport) -> None:
    given = action.get("actionDataFilter")
    if not isinstance(given, dict):
        return
    if "fromStateData" in given:
        given["fromStateData"] = braced(path(given["fromStateData"]).or_all)
    if "results" in given:
        replace(given, "results", _kept("results", path(given["results"])))
    if given.keys() <= {"@unknown"}:
        del action["actionDataFilter"]
    report.reshaped(_FILTERS, given)


def _kept(key: str, finds: JqFinds) -> dict[str, str]:
    """Return the filter that selects the value of *finds* from a result, and its path."""
    selected = alone(finds, finds.or_all)
    if finds.last_key is None:
        return {key: braced(selected)}
    if goes_one_way(finds):
        return {key: braced(selected), "toStateData": braced(place([finds.last_key]))}
    return {key: braced(keyed(finds, f"[{finds.found}]", "."))}


def goes_one_way(finds: JqFinds) -> bool:
    """Return True if the found value and, in its absence, the whole go to the same path."""
    return not _names_each_step(finds) or len(finds.steps or ()) == 1


def keyed(finds: JqFinds, found: str, whole: str) -> str:
    """Return an object with the value in *found*, an array of at most one, under the last key, or else the *whole*."""
    nested = f"({whole} | values)"
    for step in reversed(finds.steps or ()):
        nested = f"{{{field(str(step))}: {nested}}}"
    one = f"{{{field(finds.last_key or '')}: ($found[0] | values)}}"
    return f"{found} as $found | if $found == [] then {nested} else {one} end"


def alone(finds: JqFinds, value: str) -> str:
    """Return *value*, or its only element if a path that may find several has found one."""
    return value if finds.is_singular else f'{value} | if type == "array" and length == 1 then .[0] else . end'


def _names_each_step(finds: JqFinds) -> bool:
    return bool(finds.steps) and all(isinstance(step, str) for step in finds.steps or ())
