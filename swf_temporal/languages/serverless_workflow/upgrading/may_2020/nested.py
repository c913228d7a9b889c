"""Branches and iterations: in the draft they contain states, and since 0.5 only actions.

A sequence of states without a choice becomes actions: calls, a delay as the sleep of an action, and injected data as an
expression function. Anything else cannot be expressed.
"""

from collections.abc import Iterator
from typing import Any

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds, field
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import place as place_in
from swf_temporal.languages.serverless_workflow.upgrading.lowered import Lowered, left
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.filters import action_filter, output
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, braced, children, path, template, value


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
