"""Branches and iterations: the draft has states in them, and since 0.5 they have actions alone.

States that follow each other without a choice become actions: what they call, a wait as the sleep of an action, and
data that are put in as a function that is an expression. What else they do cannot be expressed.
"""

from collections.abc import Iterator
from typing import Any

from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import place as place_in
from swf_temporal.languages.serverless_workflow.upgrading.may_2020 import injecting
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.filters import action_filter, output
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.texts import braced, path, template, value
from swf_temporal.languages.serverless_workflow.upgrading.report import Report
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, children, renamed
from swf_temporal.text.round_trip import add, replace

_KNOWN = {"name", "id", "type", "start", "end", "transition", "metadata"}
_OWN = {
    "operation": {"actions", "actionMode"},
    "delay": {"timeDelay"},
    "inject": {"data"},
    "subflow": {"workflowId", "waitForCompletion"},
}


class Nested:
    """Makes actions of states that are held by others."""

    def __init__(self, root: Tree, report: Report) -> None:
        self._root = root
        self._report = report

    def rewrite(self, state: Tree) -> None:
        """Rewrite the branches, or the iteration, of *state*. Raises NotInJqError."""
        if state.get("type") == "parallel":
            for branch in children(state, "branches"):
                self._holder(branch, f"branch {branch.get('name')!r} of {self._report.called(state)}")
        elif state.get("type") == "foreach":
            self._foreach(state)

    def _holder(self, holder: Tree, owner: str) -> None:
        found = self._sequence(holder, owner)
        if found is not None:
            self._put(holder, [action for state in found for action in self._actions(state)])

    def _put(self, holder: Tree, actions: list[Any]) -> None:
        replace(holder, "states", {"actions": with_sleeps(actions, self._nothing)})
        self._report.reshaped("branches and iterations run actions in place of states", holder)

    def _foreach(self, state: Tree) -> None:
        owner = self._report.called(state)
        found = self._sequence(state, owner, may_filter=True)
        place = path(state.get("inputParameter", "$.item")).steps or []
        if len(place) != 1 or "timeDelay" in state:
            what = "the timeDelay between the iterations" if "timeDelay" in state else "the inputParameter"
            self._report.inexpressible(f"{what} of {owner}", state)
            return
        if found is None:
            return
        actions = [action for one in found for action in self._actions(one)]
        if "outputCollection" in state:
            given = found[-1].get("stateDataFilter")
            text = given.get("dataOutputPath") if isinstance(given, dict) else None
            jq = "." if text is None else output(text, leads_on=False)
            actions.append({"functionRef": self._expression(f"output of {state.get('name')}", jq)})
            state["outputCollection"] = braced(place_in(path(state["outputCollection"]).steps or []))
        self._put(state, actions)
        state["inputCollection"] = value(state.get("inputCollection", "$"))
        if "inputParameter" in state:
            state["inputParameter"] = place[0]
        if not state.get("max", 1):
            del state["max"]
        names = {"inputParameter": "iterationParam", "max": "batchSize"}
        for old in renamed(state, names):
            self._report.respelled(f"{old} is {names[old]}", state)

    def _sequence(self, holder: Tree, owner: str, *, may_filter: bool = False) -> list[Tree] | None:
        """Return the states of *holder* in the order in which they run; None, and tell, if they are not a sequence."""
        states = list(children(holder, "states"))
        by_name = {state.get("id"): state for state in states} | {state.get("name"): state for state in states}
        at = next((state for state in states if "start" in state), states[0] if states else None)
        found: list[Tree] = []
        while at is not None:
            why = self._why_not(at, may_filter=may_filter and "outputCollection" in holder and "transition" not in at)
            if why is None and any(at is one for one in found):
                why = "is run more than once"
            if why is not None:
                self._report.inexpressible(
                    f"{owner}: {self._report.called(at)} {why}: since 0.5 branches and iterations run actions", at
                )
                return None
            found.append(at)
            way = at.get("transition")
            at = by_name.get(way.get("nextState")) if isinstance(way, dict) else None
        if not found:
            self._report.inexpressible(f"{owner} has no states", holder)
            return None
        return found

    def _why_not(self, state: Tree, *, may_filter: bool) -> str | None:
        kind = state.get("type")
        if kind not in _OWN:
            return f"is of the type {kind!r}"
        allowed = _KNOWN | _OWN[str(kind)]
        given = state.get("stateDataFilter")
        if may_filter and isinstance(given, dict) and "dataInputPath" not in given:
            allowed = allowed | {"stateDataFilter"}
        other = next((key for key in state if key not in allowed), None)
        if other is not None:
            return f"has {other}"
        if state.get("actionMode") == "parallel" and len(list(children(state, "actions"))) > 1:
            return "runs its actions side by side"
        if any("timeout" in action for action in children(state, "actions")):
            return "has an action with a timeout"
        if any("schedule" in start for start in children(state, "start")):
            return "has a schedule"
        if any(end.get("kind") == "terminate" for end in children(state, "end")):
            return "terminates the workflow"
        return (
            "leads on by an expression" if any("expression" in one for one in children(state, "transition")) else None
        )

    def _actions(self, state: Tree) -> Iterator[Any]:
        kind = state.get("type")
        if kind == "operation":
            for action in children(state, "actions"):
                rewrite_action(action, self._report)
                yield action
        elif kind == "delay":
            yield str(state.get("timeDelay"))
        elif kind == "inject":
            data = injecting.as_object(state.get("data"))
            if data is not None:
                yield {"functionRef": self._expression(str(state.get("name")), data)}
        else:
            yield sub_flow(state)
        for way in children(state, "transition", "end"):
            for produced in children(way, "produceEvent"):
                yield {"eventRef": _produced(produced)}

    def _expression(self, name: str, jq: str) -> str:
        """Define a function that is the expression *jq*, and return its name."""
        if "functions" not in self._root:
            add(self._root, "functions", [], "version" if "version" in self._root else "id")
        functions = self._root["functions"]
        taken = {one.get("name"): one for one in children(self._root, "functions")}
        number, free = 1, name
        while free in taken and taken[free].get("operation") != braced(jq):
            number += 1
            free = f"{name} {number}"
        if free not in taken:
            functions.append({"name": free, "type": "expression", "operation": braced(jq)})
        return free

    def _nothing(self) -> str:
        """Define a function that does nothing, for an action that only sleeps, and return its name."""
        return self._expression("nothing", "null")


def rewrite_action(action: Tree, report: Report) -> None:
    """Rewrite what *action* calls, and its filter. Raises NotInJqError."""
    for reference in children(action, "functionRef"):
        if "parameters" in reference:
            reference["parameters"] = template(reference["parameters"])
        for _ in renamed(reference, {"parameters": "arguments"}):
            report.respelled("parameters are arguments", reference)
    action_filter(action, report)


def sub_flow(state: Tree) -> dict[str, Any]:
    """Return the action that runs the workflow which *state* names."""
    name = state.get("workflowId")
    if state.get("waitForCompletion") is True:
        return {"subFlowRef": name}
    return {"subFlowRef": {"workflowId": name, "invoke": "async", "onParentComplete": "continue"}}


def with_sleeps(found: list[Any], nothing: Any) -> list[Any]:
    """Return actions with the times that stand between them as the sleep of the one that follows."""
    actions: list[Any] = []
    waits: list[str] = []
    for one in found:
        if isinstance(one, str):
            waits.append(one)
            continue
        if waits and "functionRef" in one:
            add(one, "sleep", {"before": waits.pop()}, next((key for key in ("functionRef",) if key in one), None))
        actions += [{"functionRef": nothing(), "sleep": {"before": wait}} for wait in waits]
        waits = []
        actions.append(one)
    return actions + [{"functionRef": nothing(), "sleep": {"before": wait}} for wait in waits]


def _produced(produced: Tree) -> dict[str, Any]:
    made: dict[str, Any] = {"triggerEventRef": produced.get("eventRef")}
    if "data" in produced:
        given = produced["data"]
        made["data"] = value(given) if isinstance(given, str) else template(given)
    return made
