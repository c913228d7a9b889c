"""Actions: each gets what the one before gave, and puts its result where the next finds it."""

from typing import TYPE_CHECKING, Any, Final

from swf_temporal.languages.serverless_workflow.upgrading.may_2020.nested import with_sleeps
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.texts import braced, template
from swf_temporal.languages.serverless_workflow.upgrading.november_2019.pipeline import (
    DATA,
    filter_of,
    passed,
    selected,
)
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, children
from swf_temporal.text.round_trip import add, replace

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.upgrading.november_2019.upgrade import Rewriting

_ERRORS: Final = {
    "SYS.MatchAny": (),
    "SYS.Timeout": ("TimedOut", "408", "504"),
    "SYS.Permission": ("401", "403", "PERMISSION_DENIED", "UNAUTHENTICATED"),
    "SYS.InvalidParameter": ("400", "422", "INVALID_ARGUMENT"),
}
"""The words for errors that have codes in 0.8; any other word is compared with results, too."""


class Actions:
    """The actions of one state, at any depth: each result has a key of its own."""

    def __init__(self, definition: "Rewriting", state: Tree) -> None:
        self._definition = definition
        self._state = state
        self.made = 0
        """How many there are."""

    def rewrite(self, holder: Tree, mode: str, value: str = DATA) -> str:
        """Rewrite the actions of *holder*, which begin with *value*; return what they come to. Raises NotInJqError."""
        actions = list(children(holder, "actions"))
        self._timeouts(holder, actions)
        results = []
        for action in actions:
            found = self._action(action, value, len(actions))
            if mode == "PARALLEL" and len(actions) > 1:
                results.append(found)
            else:
                value = found
        if results:
            add(holder, "actionMode", "parallel", "type" if "type" in holder else "name")
        return f"[{', '.join(results)}]" if results else value

    def branch(self, branch: Tree, owner: str) -> str | None:
        """Make actions of the states of *branch*; return what they come to, None if they are not a sequence."""
        definition = self._definition
        states = list(children(branch, "states"))
        by_name = {state.get("id"): state for state in states} | {state.get("name"): state for state in states}
        at = by_name.get(branch.pop("startsAt", None))
        seen: list[Tree] = []
        actions: list[Any] = []
        value = DATA
        while at is not None:
            why = _why_not(at) if all(at is not one for one in seen) else "is run more than once"
            if why is not None:
                called = definition.report.called(at)
                definition.report.inexpressible(f"{owner}: {called} {why}: since 0.5 branches run actions", at)
                return None
            seen.append(at)
            value = self._nested(at, value, actions)
            at = None if at.get("end") else by_name.get(at.get("nextState"))
        replace(
            branch, "states", {"actions": with_sleeps(actions, self._nothing) or [{"functionRef": self._nothing()}]}
        )
        return value

    def _nested(self, state: Tree, before: str, actions: list[Any]) -> str:
        given = filter_of(state)
        entered = self._now(selected(before, given.get("inputPath"), "inputPath"), actions)
        result = entered
        if state.get("type") == "OPERATION":
            result = self.rewrite(state, "SEQUENTIAL", entered)
            actions += children(state, "actions")
        elif state.get("type") == "SUBFLOW":
            key = self._key()
            reference = {"workflowId": state.get("workflowId"), "onParentComplete": "continue"}
            keeping = {"fromStateData": braced(entered), "toStateData": braced(key)}
            actions.append({"subFlowRef": reference, "actionDataFilter": keeping})
            result = key
        else:
            actions.append(str(state.get("timeDelay")))
        return self._now(passed(given, result, before), actions)

    def _now(self, value: str, actions: list[Any]) -> str:
        """Return where *value* stands, which an action works out at once: a path that leads to nothing fails there."""
        if value == DATA or value.startswith(".output"):
            return value
        key = self._key()
        name = self._definition.expression(f"{self._state.get('name')} {key.removeprefix('.')}", value)
        actions.append({"functionRef": name, "actionDataFilter": {"toStateData": braced(key)}})
        return key

    def _key(self) -> str:
        self.made += 1
        return f".output{self.made}" if self.made > 1 else ".output"

    def _nothing(self) -> str:
        return self._definition.expression("nothing", "null")

    def _action(self, action: Tree, value: str, count: int) -> str:
        given, key = filter_of(action), self._key()
        function = action.get("function")
        if not isinstance(function, dict):
            raise NotInJqError("an action has no function")
        parameters = function.get("parameters")
        arguments: Any = braced(".") if parameters is None else template(parameters)
        self._retry(action, count)
        replace(action, "function", {"functionRef": {"refName": function.get("name"), "arguments": arguments}})
        keeping = {
            "fromStateData": braced(selected(value, given.get("inputPath"), "inputPath")),
            "toStateData": braced(key),
        }
        if "filter" in action:
            replace(action, "filter", {"actionDataFilter": keeping})
        else:
            add(action, "actionDataFilter", keeping, "functionRef")
        self._definition.report.reshaped("the function of an action is defined at the top, and referred to", action)
        return passed(given, key, value)

    def _retry(self, action: Tree, count: int) -> None:
        retries = list(children(action, "retry"))
        action.pop("retry", None)
        if not retries:
            return
        report, called = self._definition.report, self._definition.report.called(self._state)
        match = str(retries[0].get("match"))
        if len(retries) > 1 or match not in _ERRORS:
            report.inexpressible(
                f"an action of {called} is repeated where its result or an error matches {match!r}: since 0.5 errors"
                " alone are retried, by their codes",
                action,
            )
            return
        if "timeout" in action or (retries[0].get("nextState") is not None and (count > 1 or self._is_nested(action))):
            what = "its timeout is for each attempt" if "timeout" in action else "its retry has a nextState"
            report.inexpressible(f"an action of {called} is repeated, and {what}", action)
            return
        codes = [self._definition.error(code, code) for code in _ERRORS[match]]
        add(action, "retryRef", self._definition.retry(str(self._state.get("name")), retries[0]), "name")
        if codes:
            add(action, "retryableErrors", codes, "retryRef")
        following = retries[0].get("nextState")
        if following is not None:
            if filter_of(self._state).get("resultPath") is not None:
                report.inexpressible(
                    f"the error that a retry of {called} gives up with stands at the resultPath", action
                )
                return
            handlers = [{"errorRef": code, "transition": following} for code in codes or ["*"]]
            add(self._state, "onErrors", handlers, "type")
        report.reshaped("a retry of an action is defined at the top, and referred to", action)

    def _is_nested(self, action: Tree) -> bool:
        return all(action is not one for one in children(self._state, "actions"))

    def _timeouts(self, holder: Tree, actions: list[Tree]) -> None:
        times = {str(action.get("timeout")) for action in actions}
        if times <= {"None"}:
            return
        if len(times) > 1:
            called = self._definition.report.called(self._state)
            self._definition.report.inexpressible(
                f"actions of {called} have different timeouts: since 0.7 they share one", holder
            )
            return
        if any(action.get("retry") for action in actions):
            return  # which is told where the retry is
        for action in actions:
            time = action.pop("timeout")
        self._definition.set_timeout(holder, "actionExecTimeout", time)


def _why_not(state: Tree) -> str | None:
    kind = state.get("type")
    if kind not in ("OPERATION", "DELAY", "SUBFLOW"):
        return f"is of the type {kind!r}"
    if kind == "SUBFLOW" and not state.get("waitForCompletion"):
        return "runs a workflow that is not waited for"
    actions = list(children(state, "actions"))
    if state.get("actionMode") == "PARALLEL" and len(actions) > 1:
        return "runs its actions side by side"
    if any("timeout" in action for action in actions):
        return "has an action with a timeout"
    other = next((key for key in ("loop", "onError", "condition") if state.get(key)), None)
    return None if other is None else f"has {other}"
