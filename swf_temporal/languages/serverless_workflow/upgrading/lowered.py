"""Conversion of a lowered draft to a definition of 0.8: the parts that both drafts share.

Keys that begin with `@` hold what 0.8 cannot express. They are replaced by the closest equivalent, or
reported and kept.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, ClassVar, Final

from swf_temporal.languages.serverless_workflow.reading.versions.before_0_8 import LATER_TYPES
from swf_temporal.languages.serverless_workflow.upgrading.conditions_to_jq import in_spel
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    UpgradeReport,
    braced,
    called,
    children,
    free_name,
    renamed,
    states,
)
from swf_temporal.text.round_trip import add, rename, replace

_COMPLETIONS: dict[str, dict[str, Any]] = {
    "and": {"completionType": "allOf"},
    "xor": {"completionType": "atLeast", "numCompleted": 1},
    "n_of_m": {"completionType": "atLeast"},
}


def upgrade(root: Tree, report: UpgradeReport) -> None:
    """Replace these words in *root* by their names and locations since 0.7."""
    _exec_timeout(root, report)
    for state in states(root):
        for holder in (state, *children(state, "branches")):
            sub_workflow(holder, report)
        _state(state, report)
    for retry in children(root, "retries"):
        multiplier = retry.get("multiplier")
        if isinstance(multiplier, str) and multiplier.startswith("P") and "increment" not in retry:
            replace(retry, "multiplier", {"increment": multiplier})
            report.respelled("a multiplier that is a duration is the increment", retry)


def _exec_timeout(root: Tree, report: UpgradeReport) -> None:
    if "execTimeout" not in root:
        return
    timeout = root.pop("execTimeout")
    if isinstance(timeout, str):
        timeout = {"duration": timeout}
    if isinstance(timeout, dict):
        timeout.setdefault("interrupt", False)
    if "timeouts" not in root:
        add(root, "timeouts", {}, "start" if "start" in root else "id")
    root["timeouts"]["workflowExecTimeout"] = timeout
    report.reshaped("execTimeout is the workflowExecTimeout of timeouts, and does not interrupt by default")


def sub_workflow(node: Tree, report: UpgradeReport) -> None:
    """Convert the workflow that a state or branch runs to an action."""
    if "workflowId" in node and "actions" not in node:
        replace(node, "workflowId", {"actions": [{"subFlowRef": node["workflowId"]}]})
        report.reshaped("workflowId is an action with a subFlowRef", node)


def _state(state: Tree, report: UpgradeReport) -> None:
    kind = state.get("type")
    if isinstance(kind, str) and kind in LATER_TYPES:
        state["type"] = LATER_TYPES[kind]
        report.respelled(f"the state type {kind!r} is {LATER_TYPES[kind]!r}", state)
    names = {"default": "defaultCondition", "timeDelay": "duration", "n": "numCompleted", "max": "batchSize",
             "inputParameter": "iterationParam"}  # fmt: skip
    for old in renamed(state, names):
        report.respelled(f"{old} is {names[old]}", state)
    word = state.get("completionType")
    if isinstance(word, str) and word in _COMPLETIONS:
        more = {key: value for key, value in _COMPLETIONS[word].items() if key == "completionType" or key not in state}
        replace(state, "completionType", more)
        report.respelled(f"completionType {word!r} is {more['completionType']!r}", state)
    for old in ("eventTimeout", "timeout"):
        if old in state:
            set_timeout(state, "eventTimeout", state.pop(old))
            report.reshaped(f"{old} of {called(state)} is the eventTimeout of its timeouts", state)


def set_timeout(node: Tree, key: str, value: Any) -> None:
    if "timeouts" not in node:
        add(node, "timeouts", {}, "type" if "type" in node else "name")
    node["timeouts"][key] = value


ALL: Final = "*"
LATE: Final = "TimedOut"


class Lowered:
    """One definition, and the additions to it."""

    holders: ClassVar[str] = "branches and iterations"
    """The parts of the draft that contain states."""

    def __init__(self, root: Tree, report: UpgradeReport) -> None:
        self.root = root
        self.report = report
        self._names = {state.get("name") for state in children(root, "states")}
        self._inserted: list[dict[str, Any]] = []
        self._defined: dict[str, dict[str, dict[str, Any]]] = {"functions": {}, "retries": {}, "errors": {}}
        """The definitions to add, by top-level key and name."""
        root.pop("expressionLang", None)

    def rewrite_states(self, rewrite: Callable[[Tree], None]) -> None:
        """Rewrite each state by *rewrite*, and insert additional states after it."""
        listed = self.root["states"]
        for state in list(children(self.root, "states")):
            self._inserted = []
            try:
                rewrite(state)
            except NotInJqError as error:
                self.report.inexpressible(f"{self.report.called(state)}: {error}", state)
            at = next(index for index, one in enumerate(listed) if one is state)
            listed[at + 1 : at + 1] = self._inserted

    def define(self) -> None:
        """Add the definitions that states refer to at the top level."""
        for key, made in self._defined.items():
            if not made and not self.root.get(key):
                self.root.pop(key, None)
            elif made and key in self.root:
                self.root[key] = [*self.root[key], *made.values()]
            elif made:
                add(self.root, key, list(made.values()), "start")

    # Additions

    def free(self, name: str) -> str:
        """Return *name*, or a similar one that no state has, and reserve it."""
        found = free_name(name, self._names)
        self._names.add(found)
        return found

    def insert(self, name: str, rest: dict[str, Any]) -> str:
        """Insert a state after the present one, and return its name."""
        found = self.free(name)
        self._inserted.append({"name": found, **rest})
        return found

    def inserted(self) -> list[dict[str, Any]]:
        """Return the states that were inserted after the present one."""
        return list(self._inserted)

    def expression(self, name: str, jq: str) -> str:
        """Define a function with the expression *jq*, and return its name."""
        made = self._defined["functions"]
        known = {one["name"]: one for one in children(self.root, "functions")} | made
        found = free_name(name, {one for one, function in known.items() if function.get("operation") != braced(jq)})
        made[found] = {"name": found, "type": "expression", "operation": braced(jq)}
        return found

    def nothing(self) -> str:
        """Define a function that does nothing, and return its name."""
        return self.expression("nothing", "null")

    def error(self, name: str, code: str | None = None) -> str:
        code = LATE if name == LATE else code
        self._defined["errors"].setdefault(name, {"name": name, **({} if code is None else {"code": code})})
        return name

    def retry(self, name: str, delay: str | None, **more: Any) -> str:
        found = free_name(name, self._defined["retries"])
        self._defined["retries"][found] = {"name": found, "delay": delay or "PT0S", **more}
        return found

    # Parts of states and actions

    def leave(self, holder: Tree, name: str, seen: str = "") -> None:
        """Rewrite the transition or the end of *holder*, which is the state *name* or a part of it.

        *seen* is the expression, with a pipe, for the data that a condition of the transition sees.
        """
        for end in children(holder, "end"):
            if not _public(end):
                holder["end"] = True
            self.report.reshaped("ends have no kind", end)
        for transition in children(holder, "transition"):
            condition = transition.get("@condition")
            made: Any = transition["nextState"] if _public(transition) == ["nextState"] else transition
            if condition is None:
                holder["transition"] = made
                if made is not transition:
                    self.report.reshaped("plain transitions are the name of the next state", transition)
                continue
            word = self.report.written(transition, "@condition")
            del transition["@condition"]
            choice = {"condition": braced(f"{seen}{in_spel(condition)}"), "transition": deepcopy(made)}
            holder["transition"] = self.insert(f"{name} may lead on", {"type": "switch", "dataConditions": [choice]})
            self.report.reshaped(
                f"the {word} of a transition is a switch without a default: if it does not hold, the run fails with"
                " NoConditionMatched instead of TransitionRefused",
                transition,
            )

    def sub_workflow(self, action: Tree) -> None:
        """Shorten the reference of *action* to a workflow, if it has no other properties."""
        for reference in children(action, "subFlowRef"):
            if _public(reference) == ["workflowId"]:
                action["subFlowRef"] = reference["workflowId"]

    def shared_timeout(self, state: Tree, actions: Sequence[Tree]) -> str | None:
        """Return the timeout that all *actions* of *state* share, as in 0.8; None without one."""
        times = {str(action.get("@timeout")) for action in actions}
        if times <= {"None"}:
            return None
        if len(times) > 1:
            called = self.report.called(state)
            self.report.inexpressible(f"actions of {called} have different timeouts: since 0.7 they share one", state)
            return None
        return times.pop()

    def set_action_timeout(self, holder: Tree, actions: Sequence[Tree], time: str) -> None:
        """Set the timeout *time* of each of *actions* in *holder*."""
        for action in actions:
            del action["@timeout"]
        self.set_timeout(holder, "actionExecTimeout", time)
        self.report.reshaped("the timeout of an action is the actionExecTimeout of its state or branch", holder)

    def set_timeout(self, node: Tree, key: str, value: Any) -> None:
        set_timeout(node, key, value)

    # Branches and iterations

    def sequence(self, scope: Tree, owner: str, why_not: Callable[[Tree], str | None]) -> list[Tree] | None:
        """Return the states of *scope* in the order in which they run; None, with a report, if they cannot be actions.

        *why_not* returns the reason why a state cannot be converted to actions.
        """
        by_name = {state["name"]: state for state in children(scope, "states")}
        at: Tree | None = by_name.get(scope["start"])
        found: list[Tree] = []
        while at is not None:
            why = "is run more than once" if any(at is one for one in found) else why_not(at)
            if why is None and "@condition" in at.get("transition", {}):
                why = f"leads on by its {self.report.written(at['transition'], '@condition')}"
            if why is None and at.get("actionMode") == "parallel" and len(list(children(at, "actions"))) > 1:
                why = "runs its actions in parallel"
            if why is None and any("@timeout" in action for action in children(at, "actions")):
                why = "has an action with a timeout"
            if why is not None:
                called = self.report.called(at)
                self.report.inexpressible(f"{owner}: {called} {why}: since 0.5 {self.holders} run actions", at)
                return None
            found.append(at)
            way = at.get("transition")
            at = None if way is None else by_name.get(way["nextState"])
        return found

    def with_sleeps(self, found: Sequence[Any]) -> list[Any]:
        """Return the actions in *found*, with each duration between them as the sleep of the following one."""
        actions: list[Any] = []
        waits: list[str] = []
        for one in found:
            if isinstance(one, str):
                waits.append(one)
                continue
            if waits and "functionRef" in one:
                add(one, "sleep", {"before": waits.pop()}, "functionRef")
            actions += [self._pause(wait) for wait in waits]
            waits = []
            actions.append(one)
        return actions + [self._pause(wait) for wait in waits]

    def _pause(self, wait: str) -> dict[str, Any]:
        return {"functionRef": self.nothing(), "sleep": {"before": wait}}


def left(node: Tree, key: str, now: str) -> None:
    """Rename the *key* of *node* to *now*, replacing that; a name with @ marks a key that is left as it was."""
    if now in node:
        del node[now]
    rename(node, key, now)


def _public(node: Tree) -> list[str]:
    """Return the keys of *node* that exist in 0.8."""
    return [key for key in node if not key.startswith("@")]
