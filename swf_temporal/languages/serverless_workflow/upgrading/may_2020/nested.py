"""Branches and iterations: in the draft they contain states, and since 0.5 only actions.

A sequence of states without a choice becomes actions: calls, a delay as the sleep of an action, and injected data as an
expression function. Anything else cannot be expressed.

What the path of a filter selects is put under the last key on the path, which 0.8 needs explicitly. If a path selects
nothing, the draft takes the whole, and puts it at the path.
"""

from collections.abc import Iterator
from typing import Any

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds, field, place
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import place as place_in
from swf_temporal.languages.serverless_workflow.upgrading.lowered import Lowered, left
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    UpgradeReport,
    braced,
    children,
    path,
    template,
    value,
)
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


def rewrite(data: Any, steps: tuple[str, ...] = ()) -> Any:
    """Return *data*, which are injected at *steps*, in the form of 0.8; objects are changed in place."""
    if isinstance(data, dict) and data:
        for key in data:
            data[key] = rewrite(data[key], (*steps, str(key)))
        return data
    if isinstance(data, str) or data is None or (data == {} and steps):
        return braced(_jq(data, steps))
    if data in ({}, None):
        # Data that is not an object would be replaced by an empty one.
        return braced('if type == "object" then {} else . end')
    return _literals(data)


def as_object(data: Any) -> str | None:
    """Return the expression for the additions of *data* to the state's data; None if there are none."""
    return None if data in ({}, None) else _jq(data, ())


def _jq(data: Any, steps: tuple[str, ...]) -> str:
    if isinstance(data, dict) and data:
        return f"{{{', '.join(f'{field(str(key))}: ({_jq(item, (*steps, str(key)))})' for key, item in data.items())}}}"
    finds = JqFinds("$" + "".join(f"['{step}']" for step in steps)) if all("'" not in step for step in steps) else None
    literal = show_json(data)
    if finds is None:
        return literal
    if isinstance(data, str):
        return f'(({finds.loose} | strings) // "") + {literal}'
    if data is None or data == {}:
        return f"first(({finds.found}), {literal})"
    return literal


def _literals(data: Any) -> Any:
    if isinstance(data, list):
        data[:] = [_literals(item) for item in data]
    elif isinstance(data, dict):
        for key in data:
            data[key] = _literals(data[key])
    elif isinstance(data, str) and "${" in data:
        return braced(show_json(data))
    return data


_KNOWN = {"name", "id", "type", "transition", "end", "metadata", "@unknown", "@writtenType", "@goesOnWhenLate"}
_OWN = {"operation": {"actions", "actionMode"}, "sleep": {"duration"}, "inject": {"data"}}


class Nested:
    """Converts states inside of other states to actions."""

    def __init__(self, definition: Lowered) -> None:
        self._definition = definition
        self._report = definition.report

    def rewrite(self, state: Tree) -> None:
        """Rewrite the branches, or the iteration, of *state*. Raises NotInJqError."""
        for branch in children(state, "branches"):
            owner = f"branch {branch.get('name')!r} of {self._report.called(state)}"
            found = self._sequence(branch["@scope"], owner)
            if found is None:
                del branch["actions"]
            else:
                self._put(branch, [action for one in found for action in self._actions(one)])
        if state["type"] == "foreach":
            self._foreach(state)

    def _put(self, holder: Tree, actions: list[Any]) -> None:
        left(holder, "@scope", "actions")
        holder["actions"] = self._definition.with_sleeps(actions)
        self._report.reshaped("branches and iterations run actions instead of states", holder)

    def _foreach(self, state: Tree) -> None:
        owner = self._report.called(state)
        has_output = "outputCollection" in state
        found = self._sequence(state["@scope"], owner, may_filter=has_output)
        place = path(state["iterationParam"]).steps or []
        if len(place) != 1 or "@pause" in state:
            what = "timeDelay between the iterations" if "@pause" in state else "inputParameter"
            self._report.inexpressible(f"the {what} of {owner}", state)
            return
        if found is None:
            return
        actions = [action for one in found for action in self._actions(one)]
        if has_output:
            text = found[-1].get("stateDataFilter", {}).get("output")
            jq = "." if text is None else output(text, leads_on=False)
            actions.append({"functionRef": self._definition.expression(f"output of {state.get('name')}", jq)})
            state["outputCollection"] = braced(place_in(path(state["outputCollection"]).steps or []))
        self._put(state, actions)
        state["inputCollection"] = value(state["inputCollection"])
        state["iterationParam"] = place[0]

    def _sequence(self, scope: Tree, owner: str, *, may_filter: bool = False) -> list[Tree] | None:
        """Return the states of *scope* in the order in which they run; report, and return None, if they cannot be."""

        def why_not(state: Tree) -> str | None:
            kind = state["type"]
            if kind not in _OWN:
                return f"is of the type {state.get('@writtenType', kind)!r}"
            allowed = _KNOWN | _OWN[kind]
            if may_filter and "transition" not in state and "input" not in state.get("stateDataFilter", {}):
                allowed = allowed | {"stateDataFilter"}
            other = next((key for key in state if key not in allowed), None)
            if other is not None:
                return f"has {self._report.written(state, other)}"
            if "window" in scope and state["name"] == scope["start"]:
                return "has a schedule"
            if state.get("end", {}).get("terminate"):
                return "terminates the workflow"
            return None

        return self._definition.sequence(scope, owner, why_not)

    def _actions(self, state: Tree) -> Iterator[Any]:
        if state["type"] == "operation":
            for action in children(state, "actions"):
                rewrite_action(action, self._definition)
                yield action
        elif state["type"] == "sleep":
            yield state["duration"]
        else:
            data = as_object(state["data"])
            if data is not None:
                yield {"functionRef": self._definition.expression(state["name"], data)}
        for way in children(state, "transition", "end"):
            for produced in children(way, "produceEvents"):
                yield {"eventRef": _produced(produced)}


def rewrite_action(action: Tree, definition: Lowered) -> None:
    """Rewrite the call of *action*, and its filter. Raises NotInJqError."""
    for reference in children(action, "functionRef"):
        if "arguments" in reference:
            reference["arguments"] = template(reference["arguments"])
    definition.sub_workflow(action)
    action_filter(action, definition.report)


def _produced(produced: Tree) -> dict[str, Any]:
    made: dict[str, Any] = {"triggerEventRef": produced["eventRef"]}
    if "data" in produced:
        given = produced["data"]
        made["data"] = value(given) if isinstance(given, str) else template(given)
    return made
